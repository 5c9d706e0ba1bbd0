"""Two arms on the same questions, question by question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeVar

from cheatsheet.errors import UnknownNameError
from cheatsheet.evaluation.metrics.intervals import bootstrap
from cheatsheet.evaluation.metrics.pairing import BASELINE as BASELINE
from cheatsheet.evaluation.metrics.pairing import Failure, Pair, extra, extra_per_point, pair_up
from cheatsheet.evaluation.metrics.pooled import Stream, streams_of
from cheatsheet.evaluation.metrics.quantities import cost_of, tokens_of
from cheatsheet.evaluation.metrics.significance import holm, mcnemar, sign_flip
from cheatsheet.evaluation.runs.results import ArmResult, RunResult
from cheatsheet.evaluation.runs.rows import Row

Test = Literal["mcnemar", "sign-flip"]
N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """An arm against a baseline, on questions that both answered in the same run.

    Attributes:
        task, model: names; empty where rows alone were compared.
        arm, baseline: names.
        runs: so many runs have a pair; 1 where rows alone were compared.
        questions: different questions among the pairs.
        pairs: (run, question) that both answered, in their own mode.
        only_arm: pairs that the arm alone got right; `b` of McNemar's table.
        only_baseline: pairs that the baseline alone got right; `c` of it.
        difference: accuracy of the arm minus that of the baseline, on the pairs; None without pairs.
        low, high: its 95 % interval by the paired bootstrap, for which whole questions are drawn again with their pairs
            in all runs. None where all questions went alike, since drawn again they can only say the same.
        score_difference, score_low, score_high: the same of the mean scores, which differ from the accuracies where
            answers can be partly right. There is no test of it: an interval without 0 is what speaks for it.
        p: two-sided, of the hypothesis that neither is better; None without pairs.
        test: what `p` is of. `mcnemar`: the exact test of McNemar (1947), where every question has one pair.
            `sign-flip`: the arms of a question are swapped in all its runs at once, since its pairs are not independent
            of each other; with one pair a question this is McNemar's test.
        p_holm: `p` corrected for the other comparisons of the same report (`significance.holm`).
        family: how many comparisons it is corrected for, with this one.
        failures: what is not compared because a call failed on either side.
        cheaper: pairs left out because one of them was asked in a cheaper mode than the arm's, as a budget ran low.
        unpaired: questions left out because one arm has no row of them.
        extra_tokens: prompt and completion tokens of the arm on the pairs minus those of the baseline, for one pass
            over the questions (the mean of the runs).
        extra_cost_usd: the same of money; None where a price is not known.
        extra_seconds: the same of time.
        cost_usd_per_point: `extra_cost_usd` per percentage point gained; None where nothing was gained or a price is
            not known. Negative where the arm is better and takes less.
        tokens_per_point: the same of tokens, which are known of local models too.
    """

    task: str = ""
    model: str = ""
    arm: str
    baseline: str
    runs: int
    questions: int
    pairs: int
    only_arm: int
    only_baseline: int
    difference: float | None
    low: float | None
    high: float | None
    score_difference: float | None
    score_low: float | None
    score_high: float | None
    p: float | None
    test: Test
    p_holm: float | None
    family: int
    failures: tuple[Failure, ...]
    cheaper: int
    unpaired: int
    extra_tokens: float
    extra_cost_usd: float | None
    extra_seconds: float
    cost_usd_per_point: float | None
    tokens_per_point: float | None

    @property
    def points(self) -> float | None:
        """The difference in percentage points."""
        return None if self.difference is None else 100 * self.difference

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return asdict(self) | {"points": self.points}


def compare(arm: Sequence[Row], baseline: Sequence[Row], *, names: tuple[str, str] = ("arm", BASELINE)) -> Comparison:
    """An arm against a baseline on the rows of one run."""
    return compare_runs([arm], [baseline], names=names)


def compare_runs(
    arm: Sequence[Sequence[Row]], baseline: Sequence[Sequence[Row]], *, names: tuple[str, str] = ("arm", BASELINE)
) -> Comparison:
    """An arm against a baseline over several runs of the same questions in other orders.

    Args:
        arm, baseline: the rows of each run; the runs of both in the same order.
        names: of the arm and the baseline.

    Raises:
        ValueError: one has more runs than the other.
    """
    paired = pair_up(arm, baseline, names=names)
    pairs = paired.pairs
    gains = _by_question(pairs, lambda pair: pair.gain)
    scores = _by_question(pairs, lambda pair: pair.arm.score - pair.baseline.score)
    low, high = _around(gains)
    score_low, score_high = _around(scores)
    test, p = _tested(gains)
    return Comparison(
        arm=names[0],
        baseline=names[1],
        runs=len({pair.run for pair in pairs}),
        questions=len(gains),
        pairs=len(pairs),
        only_arm=sum(pair.gain > 0 for pair in pairs),
        only_baseline=sum(pair.gain < 0 for pair in pairs),
        difference=sum(pair.gain for pair in pairs) / len(pairs) if pairs else None,
        low=low,
        high=high,
        score_difference=sum(map(sum, scores)) / len(pairs) if pairs else None,
        score_low=score_low,
        score_high=score_high,
        p=p,
        test=test,
        p_holm=p,
        family=1,
        failures=paired.failures,
        cheaper=paired.cheaper,
        unpaired=paired.unpaired,
        extra_tokens=extra(pairs, tokens_of) or 0.0,
        extra_cost_usd=extra(pairs, cost_of),
        extra_seconds=extra(pairs, lambda row: row.seconds) or 0.0,
        cost_usd_per_point=extra_per_point(pairs, cost_of),
        tokens_per_point=extra_per_point(pairs, tokens_of),
    )


def against(results: Sequence[RunResult], *, baseline: str | None = None) -> tuple[Comparison, ...]:
    """Every arm of the runs against the baseline of its runs, in the order in which the arms first come.

    Runs that differ in the order of their questions alone are compared as one. All comparisons are one family of tests.

    Args:
        baseline: an arm's name; None: `default` where a run has it, else its first arm.

    Raises:
        UnknownNameError: no run has an arm of that name.
    """
    must_have(results, baseline)
    found = [compare_streams(streams, baseline=baseline) for streams in streams_of(results).values()]
    return corrected([comparison for comparison in found if comparison is not None])


def must_have(results: Sequence[RunResult], baseline: str | None) -> None:
    """Make sure that a baseline that was named is an arm of a run; raises UnknownNameError where it is not."""
    names = dict.fromkeys(arm.arm.name for result in results for arm in result.arms)
    if baseline is not None and baseline not in names:
        raise UnknownNameError("baseline", baseline, names)


def compare_streams(streams: Sequence[Stream], *, baseline: str | None = None) -> Comparison | None:
    """One arm over its runs against their baseline; None for the baseline itself, and where its runs have none."""
    met = [(arm, other) for run, arm in streams if (other := baseline_of(run, baseline)) and other is not arm]
    if not met:
        return None
    names = (met[0][0].arm.name, met[0][1].arm.name)
    spec = streams[0][0].spec
    alike = [(arm.rows, other.rows) for arm, other in met if other.arm.name == names[1]]
    found = compare_runs([arm for arm, _ in alike], [other for _, other in alike], names=names)
    return replace(found, task=spec.task.name, model=spec.model)


def baseline_of(run: RunResult, name: str | None = None) -> ArmResult | None:
    """The arm of a run against which its others are held; see `against`."""
    arms = {arm.arm.name: arm for arm in run.arms}
    return arms.get(BASELINE, next(iter(arms.values()), None)) if name is None else arms.get(name)


def corrected(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The comparisons with their p values corrected as one family (`significance.holm`)."""
    tested = [comparison.p for comparison in comparisons if comparison.p is not None]
    corrections = iter(holm(tested))
    return tuple(
        replace(comparison, family=len(tested), p_holm=None if comparison.p is None else next(corrections))
        for comparison in comparisons
    )


def _by_question(pairs: Iterable[Pair], gain: Callable[[Pair], N]) -> list[list[N]]:
    """The gains of each question, in the order of the ids, so that the order of the rows does not count."""
    gains: dict[str, list[N]] = defaultdict(list)
    for pair in pairs:
        gains[pair.arm.id].append(gain(pair))
    return [gains[id] for id in sorted(gains)]


def _around(gains: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """The bootstrap interval of the mean gain of a pair, with a question as the cluster."""
    return bootstrap([sum(gain) for gain in gains], [len(gain) for gain in gains]) or (None, None)


def _tested(gains: Sequence[Sequence[int]]) -> tuple[Test, float | None]:
    """The test that suits the gains of the questions, and its p value."""
    if all(len(gain) == 1 for gain in gains):
        return "mcnemar", mcnemar([gain[0] for gain in gains]) if gains else None
    return "sign-flip", sign_flip([sum(gain) for gain in gains])
