"""Learning curves."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.evaluation.metrics import bootstrap, wilson
from cheatsheet.evaluation.metrics.curve import learning_curve, mean_curve
from tests.evaluation.streams import named, rows_of


def test_a_curve_in_blocks() -> None:
    first, second = learning_curve(rows_of("+---" + "+++!"), blocks=2)
    assert (first.first, first.last, first.n, first.accuracy, first.cumulative) == (1, 4, 4, 0.25, 0.25)
    assert (second.first, second.last, second.n, second.accuracy, second.cumulative) == (5, 8, 4, 0.75, 0.5)
    assert (second.low, second.high) == wilson(3, 4)
    assert (second.cumulative_low, second.cumulative_high) == wilson(4, 8)


@settings(max_examples=50)
@given(st.text("+-!", max_size=40), st.integers(1, 15))
def test_the_blocks_are_the_stream(marks: str, blocks: int) -> None:
    points = learning_curve(rows_of(marks), blocks=blocks)
    assert len(points) == min(blocks, len(marks))
    assert sum(point.n for point in points) == len(marks)
    assert sum(point.correct for point in points) == marks.count("+")
    assert len({point.n for point in points}) <= 2
    assert all(before.last + 1 == after.first for before, after in itertools.pairwise(points))
    assert not points or points[-1].cumulative == marks.count("+") / len(marks)


def test_a_stream_that_was_stopped_has_the_curve_of_what_it_has() -> None:
    whole = rows_of("+-+-+-")
    assert learning_curve(whole[:4], blocks=2) == learning_curve(rows_of("+-+-"), blocks=2)


def test_questions_that_are_missing_make_no_point() -> None:
    rows = rows_of("++++++")
    assert [point.first for point in learning_curve([*rows[:2], *rows[4:]], blocks=3)] == [1, 5]


def test_orders_are_averaged_place_by_place() -> None:
    """The same four questions, forwards and backwards."""
    runs = [named(rows_of("--++"), "abcd"), named(rows_of("-+++"), "dcba")]
    first, second = mean_curve(runs, blocks=2)
    assert (first.n, first.accuracy, second.n, second.accuracy) == (4, 0.25, 4, 1.0)
    assert (first.low, first.high) == wilson(1, 4)
    assert second.cumulative == 0.625
    # By now both orders hold the same questions: a 0 + 1, b 0 + 1, c 1 + 1, d 1 + 0.
    assert (second.cumulative_low, second.cumulative_high) == bootstrap([1, 1, 2, 1], [2, 2, 2, 2])


def test_where_all_orders_went_alike_the_mean_has_no_interval() -> None:
    (point,) = mean_curve([rows_of("++"), rows_of("++")], blocks=1)
    assert (point.cumulative, point.cumulative_low) == (1.0, None)


def test_no_rows_have_no_curve() -> None:
    assert mean_curve([]) == learning_curve([]) == ()


def test_a_curve_needs_a_block() -> None:
    with pytest.raises(ValueError, match="ask for 1 or more"):
        learning_curve(rows_of("+"), blocks=0)
