"""Metrics by name."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import UnknownNameError
from cheatsheet.evaluation.metrics import summarise_rows
from cheatsheet.evaluation.metrics.health import MemoryHealth
from cheatsheet.evaluation.metrics.metric import QUANTITIES, STANDARD, Metric, divisors_of, forms_of
from cheatsheet.evaluation.metrics.paired import compare
from cheatsheet.evaluation.metrics.quantities import MEMORY, MEMORY_PREFIX
from tests.evaluation.streams import rows_of

COUNTED = st.builds("{}-{}".format, st.sampled_from(["first", "last"]), st.integers(1, 10**9 - 1))
PARTS = st.one_of(st.sampled_from(["", "first-half", "second-half"]), COUNTED)
TAKEN = {"prompt_tokens": 90, "completion_tokens": 10, "model_calls": 1, "cost_usd": 0.02, "seconds": 2.0}


@st.composite
def metrics(draw: st.DrawFn) -> Metric:
    quantity = draw(st.sampled_from(sorted(QUANTITIES)))
    part = "" if quantity in MEMORY else draw(PARTS)
    return Metric(quantity, part, draw(st.sampled_from(divisors_of(quantity))))


@given(metrics())
def test_the_name_of_a_metric_parses_back(metric: Metric) -> None:
    assert Metric.parse(str(metric)) == metric
    assert Metric.parse(f" {metric}\n") == metric


@given(st.text(max_size=30) | st.from_regex(r"[a-z_.]{0,12}(@[a-z0-9-]{0,12})?(/[a-z-]{0,12})?", fullmatch=True))
def test_any_text_is_a_name_or_is_refused(text: str) -> None:
    with contextlib.suppress(UnknownNameError):
        assert str(Metric.parse(text)) == text.strip()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("acuracy", "Unknown metric 'acuracy'. Did you mean 'accuracy'?"),
        ("acuracy@second-half", "Unknown metric 'acuracy'. Did you mean 'accuracy'?"),
        ("accuracy@secondhalf", "Did you mean 'accuracy@second-half'?"),
        ("accuracy@last-0", "'accuracy@last-N'"),
        ("accuracy@last-N", "Unknown metric 'accuracy@last-N'"),
        ("accuracy@", "Unknown metric 'accuracy@'"),
        ("accuracy/question", "Choose one of 'accuracy', 'accuracy@first-half'"),
        ("cost_usd/questions", "Did you mean 'cost_usd/question'?"),
        ("correct/gained-point", "'correct/question'"),
        ("memory.bullets@first-half", "Choose one of 'memory.bullets'."),
        ("a/b/c", "Unknown metric 'a/b/c'"),
        ("", "Unknown metric ''"),
    ],
)
def test_a_mistake_is_told_with_what_was_probably_meant(name: str, told: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        Metric.parse(name)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accuracy", 0.5),
        ("accuracy@first-half", 2 / 3),
        ("accuracy@second-half", 1 / 3),
        ("accuracy@last-2", 0.0),
        ("accuracy@first-100", 0.5),
        ("error_rate", 1 / 6),
        ("questions", 6),
        ("errors@last-1", 1),
        ("correct/question", 0.5),
        ("tokens", 500),
        ("tokens@last-2/question", 50),
        ("model_calls/question", 5 / 6),
        ("seconds/question", 10 / 6),
        ("cached_share", 0.0),
    ],
)
def test_metrics_of_a_stream(name: str, value: float) -> None:
    assert Metric.parse(name).of(rows_of("++-+-!", **TAKEN)) == pytest.approx(value)


def test_metrics_are_those_of_the_summary() -> None:
    rows = rows_of("+-++!", **TAKEN, cached_tokens=45, context_tokens=30)
    summary = summarise_rows("retrieval", rows)
    assert Metric.parse("accuracy").of(rows) == summary.accuracy
    assert Metric.parse("accuracy@second-half").of(rows) == summary.accuracy_second_half
    assert Metric.parse("prompt_tokens/question").of(rows) == summary.prompt_tokens_per_question
    assert Metric.parse("cached_share").of(rows) == summary.cached_share
    assert Metric.parse("context_tokens").of(rows) == summary.context_tokens


def test_a_price_that_is_known_in_part_is_not_known() -> None:
    """A failed call may have cost something, so that the sum would be too low."""
    cost = Metric.parse("cost_usd/question")
    assert cost.of(rows_of("+-", **TAKEN)) == pytest.approx(0.02)
    assert cost.of(rows_of("+-!", **TAKEN)) is None
    assert cost.of(rows_of("+-", model_calls=1)) is None


def test_what_a_point_takes_is_that_of_the_comparison() -> None:
    arm, baseline = rows_of("+++-!", **TAKEN | {"prompt_tokens": 390, "cost_usd": 0.05}), rows_of("+--+-", **TAKEN)
    found = compare(arm, baseline)
    assert Metric.parse("tokens/gained-point").of(arm, baseline=baseline) == found.tokens_per_point == pytest.approx(48)
    assert Metric.parse("cost_usd/gained-point").of(arm, baseline=baseline) == found.cost_usd_per_point
    assert Metric.parse("tokens/gained-point").of(arm) is None
    assert Metric.parse("tokens/gained-point").of(baseline, baseline=arm) is None


def test_a_part_is_set_against_the_same_questions_of_the_baseline() -> None:
    arm, baseline = rows_of("-+", **TAKEN | {"prompt_tokens": 190}), rows_of("+-", **TAKEN)
    assert Metric.parse("tokens/gained-point").of(arm, baseline=baseline) is None
    assert Metric.parse("tokens@last-1/gained-point").of(arm, baseline=baseline) == pytest.approx(1)


def test_without_an_answer_there_is_no_score() -> None:
    """N06."""
    for rows in (rows_of(""), rows_of("!!")):
        assert Metric.parse("accuracy").of(rows) is Metric.parse("score@last-1").of(rows) is None
        assert Metric.parse("errors").of(rows) == len(rows)
    assert Metric.parse("tokens/question").of([]) is None


def test_metrics_of_a_memory() -> None:
    health = MemoryHealth(bullets=7, utility=0.75, refused=0, hit_rate=None)
    assert Metric.parse("memory.bullets").of([], health=health) == 7
    assert Metric.parse("memory.utility").of([], health=health) == 0.75
    assert Metric.parse("memory.merges").of([], health=health) is None
    assert Metric.parse("memory.bullets").of(rows_of("+")) is None


def test_every_quantity_of_a_memory_is_a_field_of_its_health() -> None:
    assert {name.removeprefix(MEMORY_PREFIX) for name in MEMORY} <= set(MemoryHealth.__dataclass_fields__)


@pytest.mark.parametrize("quantity", sorted(QUANTITIES))
def test_every_metric_can_be_taken(quantity: str) -> None:
    health = MemoryHealth(
        bullets=1, experiences=1, made=1, growth=1.0, archived=1, merges=1, used_share=1.0, utility=1.0, refused=1,
        hit_rate=1.0, right_shown_rate=1.0,
    )  # fmt: skip
    rows, baseline = rows_of("++", **TAKEN, bullets=1), rows_of("--", **TAKEN | {"cost_usd": 0.01})
    for name in forms_of(quantity):
        assert Metric.parse(name.replace("-N", "-2")).of(rows, baseline=baseline, health=health) is not None, name


def test_the_standard_metrics_are_few_and_different() -> None:
    assert len({str(metric) for metric in STANDARD}) == len(STANDARD) == 10
