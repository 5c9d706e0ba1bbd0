"""Two arms on the same questions (cases N04, N05)."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import UnknownNameError
from cheatsheet.evaluation.metrics import bootstrap
from cheatsheet.evaluation.metrics.paired import against, compare, compare_runs
from cheatsheet.evaluation.metrics.pairing import Failure
from cheatsheet.evaluation.metrics.significance import mcnemar, sign_flip
from cheatsheet.evaluation.runs.rows import Row
from tests.evaluation.streams import named, rows_of, run_of

PRICED = {"model_calls": 1, "cost_usd": 0.01, "prompt_tokens": 100, "completion_tokens": 10, "seconds": 1.0}
DEARER = {"model_calls": 2, "cost_usd": 0.04, "prompt_tokens": 400, "completion_tokens": 10, "seconds": 3.0}


def exact(b: int, c: int) -> float:
    """McNemar's exact p: twice the lighter tail of a fair coin, at most 1."""
    n = b + c
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(min(b, c) + 1)) / (1 << n))


def flipped(gains: Sequence[int]) -> float:
    """Of all ways to swap the arms, the share with a sum as far from 0."""
    sums = [sum(map(int.__mul__, gains, signs)) for signs in itertools.product((1, -1), repeat=len(gains))]
    return sum(abs(other) >= abs(sum(gains)) for other in sums) / len(sums)


def test_a_failed_call_is_no_wrong_answer_of_a_comparison() -> None:
    """N05: 15 clean against 11 clean and 4 failures are compared on 11, and the 4 are listed."""
    found = compare(rows_of("+" * 15), rows_of("+" * 11 + "!" * 4), names=("a", "b"))
    assert (found.pairs, found.difference, found.only_arm) == (11, 0.0, 0)
    assert found.failures == tuple(
        Failure(run=0, question=str(place), arm="b", error="ModelError: no") for place in range(11, 15)
    )


def test_a_failure_on_both_sides_is_listed_for_both() -> None:
    found = compare(rows_of("+!"), rows_of("-!"), names=("a", "b"))
    assert [failure.arm for failure in found.failures] == ["a", "b"]
    assert (found.pairs, found.difference) == (1, 1.0)


def test_a_table_of_two_arms() -> None:
    """Both right, the arm alone, the baseline alone, neither."""
    found = compare(rows_of("++++" + "++" + "-" + "---"), rows_of("++++" + "--" + "+" + "---"))
    assert (found.pairs, found.only_arm, found.only_baseline) == (10, 2, 1)
    assert found.difference == pytest.approx(0.1)
    assert (found.p, found.test) == (exact(2, 1), "mcnemar")
    assert (found.low, found.high) == bootstrap([0, 0, 0, 0, 1, 1, -1, 0, 0, 0])
    assert found.points == pytest.approx(10)
    assert (found.unpaired, found.cheaper) == (0, 0)


def test_answers_in_a_cheaper_mode_are_left_out_and_counted() -> None:
    found = compare(rows_of("+~+-"), rows_of("--~-"))
    assert (found.pairs, found.cheaper, found.difference) == (2, 2, 0.5)


def test_questions_of_one_side_are_left_out_and_counted() -> None:
    found = compare(named(rows_of("++-"), "abc"), named(rows_of("-++-"), "bcde"))
    assert (found.pairs, found.unpaired) == (2, 3)
    assert (found.only_arm, found.only_baseline) == (1, 1)


def test_without_a_pair_there_is_no_difference() -> None:
    found = compare(rows_of("!!"), rows_of("++"))
    assert found.difference is found.low is found.p is found.points is None
    assert (found.extra_cost_usd, found.extra_tokens, found.tokens_per_point) == (None, 0, None)
    assert len(found.failures) == 2


def test_partly_right_answers_differ_by_their_scores() -> None:
    """Of two arms that are right alike, one may still have the better scores."""
    scores = (0.5, 0.75, 1.0, 0.25, 0.0, 1.0)
    arm = [row.model_copy(update={"score": score}) for row, score in zip(rows_of("+++--+"), scores, strict=True)]
    baseline = [row.model_copy(update={"score": 0.5 * row.score}) for row in rows_of("+++--+")]
    found = compare(arm, baseline)
    assert (found.difference, found.low, found.p) == (0.0, None, 1.0)
    assert found.score_difference == pytest.approx((0 + 0.25 + 0.5 + 0.25 + 0 + 0.5) / 6)
    low, middle, high = found.score_low or 0.0, found.score_difference or 0.0, found.score_high or 0.0
    assert 0 < low < middle < high < 0.5


def test_where_all_went_alike_there_is_no_interval() -> None:
    """Drawn again, pairs that agree can only agree: a width of 0 would pass for certainty."""
    found = compare(rows_of("++--"), rows_of("++--"))
    assert (found.difference, found.low, found.high, found.p) == (0.0, None, None, 1.0)


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_is_the_sum_of_binomials(b: int, c: int) -> None:
    assert mcnemar([1] * b + [-1] * c + [0]) == pytest.approx(exact(b, c))


@settings(max_examples=40)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_the_sign_flip_test_counts_all_flips(gains: list[int]) -> None:
    assert sign_flip(gains) == pytest.approx(flipped(gains))


@settings(max_examples=40)
@given(st.lists(st.sampled_from([-1, 0, 1]), max_size=10))
def test_with_one_pair_a_question_the_sign_flip_test_is_mcnemar_s(gains: list[int]) -> None:
    assert sign_flip(gains) == pytest.approx(mcnemar(gains))


def test_many_questions_are_flipped_by_draws() -> None:
    """Beyond what can be counted out, the draws come near to the exact p."""
    assert sign_flip([1] * 30 + [-1] * 15) == pytest.approx(exact(30, 15), abs=0.01)


def test_the_same_answers_in_three_orders_are_no_more_evidence() -> None:
    """Taken as 60 independent pairs, 6 against 1 would become 18 against 3, with a far smaller p."""
    arm, baseline = "++++++-" + "+" * 13, "------+" + "+" * 13
    once = compare(rows_of(arm), rows_of(baseline))
    thrice = compare_runs([rows_of(arm)] * 3, [rows_of(baseline)] * 3)
    assert (thrice.runs, thrice.pairs, thrice.questions, thrice.test) == (3, 60, 20, "sign-flip")
    assert (thrice.only_arm, thrice.only_baseline) == (18, 3)
    assert thrice.difference == once.difference
    assert (thrice.low, thrice.high) == (once.low, once.high)
    assert thrice.p == pytest.approx(once.p)
    assert thrice.p is not None
    assert thrice.p > 10 * exact(18, 3)


def test_every_question_once_over_several_runs_is_mcnemar_s() -> None:
    runs = [named(rows_of("++"), "ab"), named(rows_of("+-"), "cd")]
    found = compare_runs(runs, [named(rows_of("--"), "ab"), named(rows_of("--"), "cd")])
    assert (found.test, found.p) == ("mcnemar", exact(3, 0))


def test_the_order_of_the_rows_does_not_count() -> None:
    arm, baseline = rows_of("+-++-+-++-"), rows_of("--+--+-+++")
    mixed = random.Random(5).sample(arm, len(arm))
    assert compare(mixed, baseline) == compare(arm, baseline)


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["++", "+-", "-+", "--", "!+", "+!"]), min_size=1, max_size=12))
def test_the_other_way_round_is_the_opposite(pairs: list[str]) -> None:
    arm, baseline = (rows_of("".join(marks)) for marks in zip(*pairs, strict=True))
    one, other = compare(arm, baseline), compare(baseline, arm)
    assert (one.only_arm, one.only_baseline, one.p) == (other.only_baseline, other.only_arm, other.p)
    assert (one.pairs, len(one.failures)) == (other.pairs, len(other.failures))
    assert one.difference is None or one.difference == -(other.difference or 0.0)


def priced(marks: str, price: dict[str, float]) -> list[Row]:
    return rows_of(marks, **price)


def test_the_price_of_a_point() -> None:
    """20 points more for 10 x $0.03 and 10 x 300 tokens."""
    found = compare(priced("++++++----", DEARER), priced("++++------", PRICED))
    assert found.extra_cost_usd == pytest.approx(0.3)
    assert (found.extra_tokens, found.extra_seconds) == (3000, 20)
    assert found.cost_usd_per_point == pytest.approx(0.3 / 20)
    assert found.tokens_per_point == pytest.approx(150)


def test_the_price_of_a_point_is_that_of_one_pass() -> None:
    arm, baseline = priced("++++++----", DEARER), priced("++++------", PRICED)
    found = compare_runs([arm, arm], [baseline, baseline])
    assert found.cost_usd_per_point == pytest.approx(0.3 / 20)


@pytest.mark.parametrize("marks", ["++--------", "++++------"])
def test_where_nothing_is_gained_a_point_has_no_price(marks: str) -> None:
    found = compare(priced(marks, DEARER), priced("++++------", PRICED))
    assert found.cost_usd_per_point is found.tokens_per_point is None
    assert found.extra_tokens == 3000


def test_what_is_better_and_cheaper_has_a_negative_price() -> None:
    found = compare(priced("++", PRICED), priced("+-", DEARER))
    assert found.cost_usd_per_point == pytest.approx(-0.06 / 50)


@pytest.mark.parametrize("unknown", [{"cost_usd": None}, {"cost_complete": False}])
def test_an_unknown_price_gives_no_price_of_a_point(unknown: dict[str, float | None]) -> None:
    found = compare(rows_of("++", **DEARER | unknown), rows_of("+-", **PRICED))
    assert (found.extra_cost_usd, found.cost_usd_per_point) == (None, None)
    assert found.tokens_per_point == pytest.approx(600 / 50)


def test_what_asks_no_model_costs_nothing() -> None:
    found = compare(rows_of("++"), rows_of("+-", **PRICED))
    assert found.extra_cost_usd == pytest.approx(-0.02)


def test_all_comparisons_of_a_report_are_one_family() -> None:
    run = run_of({"default": rows_of("-" * 12), "a": rows_of("+" * 7 + "-" * 5), "b": rows_of("+" * 6 + "-" * 6)})
    first, second = against([run])
    assert (first.arm, first.baseline, second.arm) == ("a", "default", "b")
    assert (first.p, second.p) == (exact(7, 0), exact(6, 0))
    assert (first.p_holm, second.p_holm) == (2 * exact(7, 0), exact(6, 0))
    assert (first.family, second.family) == (2, 2)
    assert (first.task, first.model) == ("letters", "fake/model")


def test_runs_in_other_orders_are_compared_as_one() -> None:
    runs = [
        run_of({"default": rows_of("--+"), "a": rows_of(marks)}, seed=seed) for seed, marks in ((1, "+++"), (2, "--!"))
    ]
    (found,) = against(runs)
    assert (found.runs, found.pairs, found.only_arm) == (2, 5, 2)
    assert found.failures == (Failure(run=1, question="2", arm="a", error="ModelError: no"),)


def test_without_a_default_the_first_arm_is_the_baseline() -> None:
    arms = {"a": rows_of("+-"), "b": rows_of("++"), "c": rows_of("--")}
    assert [(one.arm, one.baseline) for one in against([run_of(arms)])] == [("b", "a"), ("c", "a")]
    assert [(one.arm, one.baseline) for one in against([run_of(arms)], baseline="c")] == [("a", "c"), ("b", "c")]


def test_two_baselines_are_never_mixed() -> None:
    """Where no run has a `default`, the first arm may be another one in each."""
    a, b, c = rows_of("+-"), rows_of("++"), rows_of("--")
    runs = [run_of({"a": a, "c": c}, seed=1), run_of({"b": b, "c": c}, seed=2)]
    (found,) = against(runs)
    assert (found.arm, found.baseline, found.runs, found.pairs) == ("c", "a", 1, 2)


def test_one_arm_is_compared_with_nothing() -> None:
    assert against([run_of({"a": rows_of("+-")})]) == ()
    assert against([]) == ()


def test_a_baseline_that_no_run_has_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown baseline 'defualt'\. Did you mean 'default'"):
        against([run_of({"default": rows_of("+"), "a": rows_of("+")})], baseline="defualt")


def test_a_comparison_is_plain_values() -> None:
    found = compare(rows_of("+!"), rows_of("--")).as_dict()
    assert json.loads(json.dumps(found))["points"] == 100
    assert found["failures"][0]["question"] == "1"
