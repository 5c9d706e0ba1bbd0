"""Numbers of a run (cases N04, N05, N06)."""

from __future__ import annotations

import json
import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.evaluation.metrics import bootstrap, summarise_rows, wilson
from cheatsheet.evaluation.metrics.pooled import pool
from cheatsheet.evaluation.metrics.significance import holm
from tests.evaluation.streams import rows_of, run_of


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


def test_what_a_question_took() -> None:
    taken = {"prompt_tokens": 100, "cached_tokens": 60, "model_calls": 2, "cost_usd": 0.5, "seconds": 3.0}
    summary = summarise_rows("retrieval", rows_of("+-++", **taken))
    assert (summary.cached_tokens_per_question, summary.model_calls_per_question) == (60, 2)
    assert (summary.cost_usd_per_question, summary.seconds_per_question) == (0.5, 3.0)
    assert summarise_rows("retrieval", rows_of("++", prompt_tokens=1)).cost_usd_per_question is None


def test_an_answer_can_be_partly_right() -> None:
    rows = [
        row.model_copy(update={"score": score}) for row, score in zip(rows_of("++-!"), (1, 0.5, 0.25, 0), strict=True)
    ]
    summary = summarise_rows("retrieval", rows)
    assert (summary.accuracy, summary.score, summary.partly_right) == (0.5, 0.4375, 2)
    assert summary.score_low is not None
    assert summary.score_high is not None
    assert 0 <= summary.score_low < 0.4375 < summary.score_high <= 1


def test_answers_in_a_cheaper_mode_are_counted() -> None:
    assert summarise_rows("retrieval", rows_of("+~~-")).cheaper == 2


def test_a_summary_is_plain_values() -> None:
    summary = summarise_rows("retrieval", rows_of("+-", prompt_tokens=10)).as_dict()
    assert json.loads(json.dumps(summary)) == summary
    named = "mode n accuracy accuracy_low accuracy_high accuracy_second_half prompt_tokens completion_tokens"
    assert {
        *named.split(),
        "cached_tokens",
        "model_calls",
        "cost_usd",
        "seconds",
        "errors",
        "bootstrap_low",
    } <= summary.keys()


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


def by_hand(values: list[float], *, draws: int = 4000) -> tuple[float, float]:
    """The percentile bootstrap of a mean, without any library."""
    rng = random.Random(7)
    means = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(draws))
    return means[round(0.025 * draws)], means[round(0.975 * draws)]


@pytest.mark.parametrize(("right", "n"), [(50, 100), (60, 80)])
def test_the_bootstrap_is_that_of_a_plain_one(right: int, n: int) -> None:
    """BCa and the percentiles agree where nothing is skewed, but for one answer more or less."""
    values = [1.0] * right + [0.0] * (n - right)
    assert bootstrap(values) == pytest.approx(by_hand(values), abs=1.5 / n)


def test_the_bootstrap_covers_the_truth() -> None:
    """Of intervals of 95 %, about so many hold the accuracy that the answers were drawn with."""
    rng = random.Random(3)
    found = [bootstrap([float(rng.random() < 0.7) for _ in range(40)]) for _ in range(150)]
    assert 0.88 < statistics.fmean(low <= 0.7 <= high for low, high in filter(None, found)) <= 1


def test_answers_to_one_question_are_not_new_evidence() -> None:
    """Each question three times, answered alike: the interval is that of asking once, and not a narrower one."""
    once = [1.0] * 20 + [0.0] * 12
    thrice = bootstrap([3 * value for value in once], [3] * len(once))
    as_rows = bootstrap(once * 3)
    assert thrice == bootstrap(once)
    assert thrice is not None
    assert as_rows is not None
    assert as_rows[1] - as_rows[0] < 0.7 * (thrice[1] - thrice[0])


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 9, [0.0, 0.0]])
def test_what_is_all_alike_has_no_bootstrap_interval(values: list[float]) -> None:
    """Neither a warning nor a number that is none; Wilson's interval is there."""
    assert bootstrap(values) is None
    summary = summarise_rows("retrieval", rows_of("+" * len(values)))
    assert summary.bootstrap_low is summary.bootstrap_high is None
    assert (summary.accuracy_low is None) == (not values)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 3), st.just(3)), min_size=2, max_size=12))
def test_a_bootstrap_interval_is_within_what_was_seen(clusters: list[tuple[int, int]]) -> None:
    totals, sizes = [total for total, _ in clusters], [size for _, size in clusters]
    if (found := bootstrap(totals, sizes)) is not None:
        assert min(totals) / 3 - 1e-9 <= found[0] <= found[1] <= max(totals) / 3 + 1e-9
        assert found == bootstrap(totals, sizes)


def test_p_values_are_corrected_as_holm_does() -> None:
    """Three tests, by hand: 3 x 0.01, 2 x 0.03, and 0.04, which may not come before 0.06."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.9]) == (1.0, 1.0)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), max_size=8))
def test_a_correction_keeps_the_order_and_never_helps(p_values: list[float]) -> None:
    found = holm(p_values)
    assert all(p <= corrected <= 1 for p, corrected in zip(p_values, found, strict=True))
    in_order = [corrected for _, corrected in sorted(zip(p_values, found, strict=True))]
    assert in_order == sorted(in_order)


def test_orders_of_the_same_questions_are_pooled() -> None:
    runs = [
        run_of({"default": rows_of(marks), "b": rows_of("++++")}, seed=seed)
        for seed, marks in ((1, "+---"), (2, "++-!"))
    ]
    default, other = pool(runs)
    assert (default.arm, default.seeds, default.n, default.questions, default.errors) == ("default", (1, 2), 8, 4, 1)
    assert default.accuracy == 0.375
    assert default.spread == pytest.approx(statistics.stdev([0.25, 0.5]))
    assert [summary.correct for summary in default.summaries] == [1, 2]
    assert default.low is not None
    assert default.high is not None
    assert default.low < 0.375 < default.high
    assert (other.accuracy, other.spread, other.low) == (1.0, 0.0, None)


def test_the_pooled_interval_draws_whole_questions() -> None:
    """Two orders, answered alike, say no more than one."""
    runs = [run_of({"a": rows_of("++-+-++-+-")}, seed=seed) for seed in (1, 2)]
    assert (pool(runs)[0].low, pool(runs)[0].high) == bootstrap([1, 1, 0, 1, 0, 1, 1, 0, 1, 0])


def test_one_run_is_pooled_with_wilson_s_interval() -> None:
    (alone,) = pool([run_of({"a": rows_of("+++-")})])
    assert (alone.low, alone.high) == wilson(3, 4)
    assert alone.spread is None


def test_what_differs_in_more_than_its_order_is_not_pooled() -> None:
    rows = rows_of("+-")
    runs = [run_of({"a": rows}), run_of({"a": rows}, seed=1), run_of({"a": rows}, model="other/model")]
    assert [(one.model, len(one.seeds)) for one in pool([*runs, run_of({"a": rows}, scorer="number")])] == [
        ("fake/model", 2),
        ("other/model", 1),
        ("fake/model", 1),
    ]


def test_a_pool_without_an_answer_has_no_score() -> None:
    """N06."""
    (found,) = pool([run_of({"a": rows_of("!!")}, seed=1), run_of({"a": rows_of("!!")}, seed=2)])
    assert found.accuracy is found.low is found.spread is None
    assert json.loads(json.dumps(found.as_dict()))["errors"] == 4


def test_a_pool_tells_means_of_its_runs() -> None:
    runs = [run_of({"a": rows_of("+-", prompt_tokens=tokens)}, seed=tokens) for tokens in (10, 30)]
    (found,) = pool(runs)
    assert (found.mean("prompt_tokens_per_question"), found.mean("cost_usd")) == (20, None)
