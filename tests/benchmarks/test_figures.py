"""What the benchmarks share: it is counted and told as it says."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.perf import figures

TIMES = st.lists(st.floats(0.001, 1e6), min_size=1, max_size=30)


@dataclass(frozen=True)
class Row:
    name: str
    ms: float


def test_sides_are_called_in_turn_and_the_first_calls_do_not_count() -> None:
    calls: list[tuple[str, int]] = []
    sides = {name: lambda round, name=name: calls.append((name, round)) for name in ("a", "b")}
    times = figures.in_turn(sides, 2, uncounted=1)
    assert calls == [("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2), ("b", 2)]
    assert {name: len(each) for name, each in times.items()} == {"a": 2, "b": 2}


def test_times_are_milliseconds_of_the_clock() -> None:
    ticks = iter([1.0, 1.25])
    assert figures.timed(lambda: None, lambda: next(ticks)) == 250


@given(TIMES)
def test_percentiles_stand_in_order_between_the_ends(values: list[float]) -> None:
    found = figures.summary(values)
    least, most = (figures.rounded(end) for end in (min(values), max(values)))
    assert found.n == len(values)
    assert least <= found.p50 <= found.p90 <= found.p99 <= most


@given(TIMES, st.integers(1, 1_000))
def test_a_ratio_is_that_of_each_round(values: list[float], times: int) -> None:
    """A side that is always so many times slower has that ratio without spread, however much the rounds differ."""
    found = figures.ratio([times * value for value in values], values)
    assert (found.n, found.median, found.low, found.high) == (len(values), times, times, times)


def test_a_ratio_needs_both_sides_of_every_round() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        figures.ratio([1.0, 2.0, 3.0], [1.0, 2.0])


@pytest.mark.parametrize("power", [0, 1, 2])
def test_growth_is_the_exponent(power: int) -> None:
    ns = [100, 1_000, 10_000]
    assert figures.growth(ns, [3.0 * n**power for n in ns]) == power
    assert figures.growth([100], [1.0]) is None
    assert figures.growth([100, 100], [1.0, 2.0]) is None


def test_numbers_as_people_read_them() -> None:
    told = [figures.number(value) for value in (0.0421, 3.14, 99.96, 250.4, 12_400)]
    assert told == ["0.042", "3.1", "100.0", "250", "12,400"]
    assert str(figures.Ratio(5, 120.4, 99.5, 130)) == "120 (99.5 to 130, n = 5)"


def test_what_was_found_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    found = [Row("a", 1.5), Row("b", 2.5)]
    figures.show(found, lambda rows: figures.table(["name", "ms"], [(row.name, row.ms) for row in rows]), as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "| name |  ms |",
        "| ---- | --: |",
        "| a    | 1.5 |",
        "| b    | 2.5 |",
    ]
    figures.show(found, lambda rows: "", as_json=True)
    assert json.loads(capsys.readouterr().out) == [{"name": "a", "ms": 1.5}, {"name": "b", "ms": 2.5}]


def test_a_table_ends_with_its_footnotes() -> None:
    assert figures.table(["n"], [[1]], "Medians.").splitlines()[-2:] == ["", "Medians."]
