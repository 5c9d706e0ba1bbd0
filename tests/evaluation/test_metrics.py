"""Numbers of a run (cases N04, N05, N06)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.evaluation.metrics import summarise_rows, wilson
from cheatsheet.evaluation.rows import Row


def rows_of(marks: str, **fields: float) -> list[Row]:
    """One row a mark: + right, - wrong, ! failed."""
    return [
        Row.model_validate(
            {"id": str(place), "position": place, "target": "x", "correct": mark == "+"}
            | ({"error": "ModelError: no", "cost_complete": False} if mark == "!" else fields)
        )
        for place, mark in enumerate(marks)
    ]


def test_failed_calls_stay_in_the_denominator() -> None:
    """N04: 30 of 50 is 60 %, with 8 errors told apart; not 30 of 42."""
    summary = summarise_rows("retrieval", rows_of("+" * 30 + "-" * 12 + "!" * 8))
    assert (summary.accuracy, summary.n, summary.errors) == (0.6, 50, 8)


def test_without_an_answer_there_is_no_accuracy() -> None:
    """N06."""
    for marks in ("", "!!!"):
        summary = summarise_rows("default", rows_of(marks))
        assert summary.accuracy is summary.accuracy_low is summary.accuracy_high is None
        assert summary.accuracy_second_half is summary.context_tokens is None
        assert summary.errors == summary.n == len(marks)


@pytest.mark.parametrize(
    ("marks", "accuracy", "n"),
    [("+", None, 0), ("+-", 0.0, 1), ("--+", 1.0, 1), ("--++", 1.0, 2), ("+++-+", 0.5, 2), ("++!+!", 0.5, 2)],
)
def test_the_second_half_begins_at_half_of_n_rounded_up(marks: str, accuracy: float | None, n: int) -> None:
    summary = summarise_rows("retrieval", rows_of(marks))
    assert (summary.accuracy_second_half, summary.n_second_half) == (accuracy, n)


def test_totals_and_shares() -> None:
    counts = {"prompt_tokens": 100, "completion_tokens": 8, "cached_tokens": 60, "model_calls": 2, "context_tokens": 40}
    rows = rows_of("+-+!", **counts, seconds=0.5, cost_usd=0.25)
    summary = summarise_rows("retrieval", rows)
    assert (summary.prompt_tokens, summary.completion_tokens, summary.cached_tokens) == (300, 24, 180)
    assert (summary.prompt_tokens_per_question, summary.completion_tokens_per_question) == (75, 6)
    assert summary.cached_share == pytest.approx(0.6)
    assert (summary.model_calls, summary.seconds, summary.context_tokens) == (6, 1.5, 40)
    assert (summary.cost_usd, summary.cost_complete) == (0.75, False)


def test_an_unknown_price_is_not_a_price_of_nothing() -> None:
    assert summarise_rows("default", rows_of("++")).cost_usd is None
    assert summarise_rows("default", rows_of("++", cost_usd=0.0)).cost_usd == 0.0
    assert summarise_rows("default", rows_of("++", cost_usd=0.0)).cost_complete


def test_a_summary_is_plain_values() -> None:
    summary = summarise_rows("retrieval", rows_of("+-", prompt_tokens=10)).as_dict()
    assert json.loads(json.dumps(summary)) == summary
    named = "mode n accuracy accuracy_low accuracy_high accuracy_second_half prompt_tokens completion_tokens"
    assert {*named.split(), "cached_tokens", "model_calls", "cost_usd", "seconds", "errors"} <= summary.keys()


def test_the_interval_is_wilson_s() -> None:
    """Brown, Cai and DasGupta (2001) give the formula; 10 of 20 worked out by hand."""
    low, high = wilson(10, 20)
    assert (low, high) == pytest.approx((0.2993, 0.7007), abs=5e-5)
    assert wilson(0, 20)[0] == pytest.approx(0, abs=1e-12)
    assert wilson(20, 20)[1] == pytest.approx(1)


@given(st.integers(1, 300), st.data())
def test_an_interval_holds_its_accuracy(n: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, n))
    low, high = wilson(correct, n)
    assert -1e-9 <= low <= correct / n + 1e-9
    assert correct / n - 1e-9 <= high <= 1 + 1e-9
