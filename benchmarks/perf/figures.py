"""What the benchmarks share: sides timed in turn, percentiles, ratios with their spread, growth, tables and JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from cheatsheet.evaluation.table import Table, as_markdown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Found = TypeVar("Found", bound="DataclassInstance")

Clock = Callable[[], float]
"""Seconds: `time.perf_counter` of the wall, or `time.process_time` of the processor."""

UNCOUNTED: Final = 3
"""First calls of each side, which find cold caches and do not count."""

_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Times:
    """So many times of one thing, in the unit of the values."""

    n: int
    p50: float
    p90: float
    p99: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as long one side takes as the other, in each of `n` rounds: the median and the quartiles."""

    n: int
    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{number(self.median)} ({number(self.low)} to {number(self.high)}, n = {self.n})"


def sizes(text: str) -> list[int]:
    """Numbers separated by commas, for `argparse`."""
    return [int(part) for part in text.split(",")]


def notice(text: str) -> None:
    """How far it has come, on stderr."""
    print(text, file=sys.stderr, flush=True)


def timed(call: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """Milliseconds of one call."""
    started = clock()
    call()
    return 1_000 * (clock() - started)


def in_turn(
    sides: Mapping[str, Callable[[int], object]],
    rounds: int,
    *,
    uncounted: int = UNCOUNTED,
    clock: Clock = time.perf_counter,
) -> dict[str, list[float]]:
    """Milliseconds of every side in every round.

    In a round each side is called once, with the number of the round, so that what else the machine does meets all
    alike; every other round goes through them backwards, so that none is always the one that comes after another.
    """
    times: dict[str, list[float]] = {name: [] for name in sides}
    for place in range(uncounted + rounds):
        for name in list(sides)[:: 1 if place % 2 == 0 else -1]:
            took = timed(partial(sides[name], place), clock)
            if place >= uncounted:
                times[name].append(took)
    return times


def summary(values: Sequence[float]) -> Times:
    """Percentiles of one or more values."""
    return Times(len(values), *(rounded(float(value)) for value in np.percentile(values, (50, 90, 99))))


def ratio(slower: Sequence[float], faster: Sequence[float]) -> Ratio:
    """One side over the other, round by round; both have a value for each."""
    each = np.asarray(slower, dtype=float) / np.asarray(faster, dtype=float)
    middle, low, high = (rounded(float(value)) for value in np.percentile(each, (50, 25, 75)))
    return Ratio(len(each), middle, low, high)


def growth(ns: Sequence[int], values: Sequence[float]) -> float | None:
    """The exponent b of values ~ n^b, fitted on logarithms; 1 grows as n does. None with fewer than two sizes."""
    if len(set(ns)) < 2:
        return None
    slope, _ = np.polyfit(np.log(ns), np.log(values), 1)
    return round(float(slope), 2)


def rounded(value: float) -> float:
    """Four digits that count."""
    return float(f"{value:.{_DIGITS}g}")


def number(value: float) -> str:
    """A number as people read it: 0.042, 3.1, 250, 12,400."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}" if abs(value) < 1 else f"{value:.1f}"


def table(titles: Sequence[str], rows: Sequence[Sequence[object]], *footnotes: str) -> str:
    """A Markdown table."""
    cells = (tuple(titles), *(tuple(map(str, row)) for row in rows))
    return as_markdown(Table(cells, footnotes)).rstrip("\n")


def show(found: Sequence[Found], as_table: Callable[[Sequence[Found]], str], *, as_json: bool) -> None:
    """Print what was found: a list of objects for programs, or a table."""
    if as_json:
        print_json(list(found))
    else:
        print(as_table(found))


def print_json(value: Any) -> None:
    """Print a value that may hold dataclasses, as one document."""
    print(json.dumps(value, indent=2, default=asdict))
