"""Scoring lists of tags: one point each, place by place, as ACE scores FiNER."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Sample

FINER = Path(__file__).parents[4] / "shared" / "data" / "ace_finance" / "finer_test_subset.jsonl.gz"
TARGET = "Revenues,Goodwill,Depreciation,Goodwill"

names = st.text(alphabet="abcdefghijklmnopqrstuvwxyzABCDEFGHIJ1", min_size=1, max_size=8)


def score(answer: str, target: str = TARGET) -> float:
    return scorer_for("tags").score(answer, Sample(id="t1", input="q", target=target))


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        (TARGET, 4),
        ("revenues, GOODWILL ,depreciation,goodwill.", 4),
        ("Revenues\nGoodwill\n\nDepreciation\nGoodwill", 4),
        ("Revenues,\nGoodwill,\nDepreciation,\nGoodwill\n", 4),
        ("1. Revenues\n2. Goodwill\n3. Depreciation\n4. Goodwill", 4),
        ("Output US GAAP tags: Revenues, Goodwill, Depreciation, Goodwill", 4),
        ("Here they are:\nRevenues, Goodwill, Depreciation, Goodwill", 4),
        ("us-gaap:Revenues, us-gaap:Goodwill, us-gaap:Depreciation, us-gaap:Goodwill", 4),
        ("`Revenues`, **Goodwill**, 'Depreciation', \"Goodwill\"", 4),
        (r"I think \boxed{\text{Revenues,Goodwill,Depreciation,Goodwill}}", 4),
        ("Revenues,Goodwill,Depreciation,Goodwill,SharePrice", 4),  # what comes after the last place does not count
        ("Revenues,Goodwill,Depreciation", 3),
        ("Revenues,,Depreciation,Goodwill", 3),
        ("Goodwill,Revenues,Depreciation,Goodwill", 2),
        ("SharePrice,Revenues,Goodwill,Depreciation", 0),  # one place off
        ("Revenue,Good will,Depreciations,Goodwills", 0),
        ("", 0),
        (",,,", 0),
    ],
)
def test_one_point_for_each_tag_in_its_place(answer: str, points: int) -> None:
    assert score(answer) == points / 4


def test_half_of_the_tags_count_as_right_in_the_memorys_feedback() -> None:
    sample = Sample(id="t1", input="q", target=TARGET)
    verdict = scorer_for("tags").judge("Revenues,Goodwill", sample)
    assert (verdict.correct, verdict.score) == (True, 0.5)


@given(st.lists(names, min_size=1, max_size=6), st.data())
def test_each_wrong_place_costs_its_point(tags: list[str], data: st.DataObject) -> None:
    wrong = data.draw(st.sets(st.integers(0, len(tags) - 1)))
    answer = ", ".join(f"{tag}x" if place in wrong else tag.upper() for place, tag in enumerate(tags))
    assert score(answer, ",".join(tags)) == (len(tags) - len(wrong)) / len(tags)


@given(st.text(max_size=100))
def test_no_text_is_an_error(text: str) -> None:
    assert 0 <= score(text) <= 1


@pytest.mark.timeout(30)
@pytest.mark.parametrize("unit", [",", "\n", " ", "a,", "1. ", ":", "\\boxed{"])
def test_runaway_replies_are_read(unit: str) -> None:
    """A search that is quadratic in the length would not come back in the time limit."""
    assert score(unit * 50_000) == 0


def test_every_target_of_finer_can_be_met() -> None:
    if not FINER.exists():
        pytest.skip("the finance tasks (../shared/data/ace_finance) are not here")
    rows = [json.loads(line) for line in gzip.decompress(FINER.read_bytes()).decode().splitlines()]
    assert len(rows) == 441
    scorer_for("tags").check(Sample(id="f", input=row["context"], target=row["target"]) for row in rows)
