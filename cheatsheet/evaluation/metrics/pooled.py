"""Runs that differ in the order of their questions alone, taken together."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from cheatsheet.evaluation.metrics.intervals import bootstrap
from cheatsheet.evaluation.metrics.summary import ArmSummary, summarise
from cheatsheet.evaluation.runs.results import ArmResult, RunResult
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spec import ArmSpec

Stream = tuple[RunResult, ArmResult]
"""One arm in one of its runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """One arm over several orders of the same questions.

    Attributes:
        task, model, arm: names.
        seeds: of the orders, one a run; None is the file's own order.
        questions: different questions that have a row.
        n: rows, over all runs. Failed calls are among them, and count as wrong.
        errors: how many calls did not come back.
        accuracy: right answers / n, which is the mean over the runs where all asked as many questions; None where no
            question was answered.
        low, high: its 95 % interval. For one run with rows Wilson's; for several the bootstrap that draws whole
            questions, with their answers in all orders (`intervals.bootstrap`), which is None where all questions went
            alike.
        score, score_low, score_high: mean score of the n, from 0 to 1, and its bootstrap interval; differs from the
            accuracy where answers can be partly right.
        partly_right: how many answers have a score between 0 and 1.
        spread: standard deviation of the accuracy between the runs; None for fewer than two with a score.
        summaries: of the runs, in the order of `seeds`.
    """

    task: str
    model: str
    arm: str
    seeds: tuple[int | None, ...]
    questions: int
    n: int
    errors: int
    accuracy: float | None
    low: float | None
    high: float | None
    score: float | None
    score_low: float | None
    score_high: float | None
    partly_right: int
    spread: float | None
    summaries: tuple[ArmSummary, ...]

    @classmethod
    def of(cls, streams: Sequence[Stream]) -> Self:
        """One arm from one or more runs."""
        spec, arm = streams[0][0].spec, streams[0][1].arm
        rows = [row for _, stream in streams for row in stream.rows]
        summaries = tuple(summarise(stream) for _, stream in streams)
        accuracies = [summary.accuracy for summary in summaries if summary.accuracy is not None]
        low, high = _interval(rows, summaries)
        score_low, score_high = (around(rows, _score) if accuracies else None) or (None, None)
        return cls(
            task=spec.task.name,
            model=spec.model,
            arm=arm.name,
            seeds=tuple(run.spec.task.seed for run, _ in streams),
            questions=len({row.id for row in rows}),
            n=len(rows),
            errors=sum(summary.errors for summary in summaries),
            accuracy=sum(row.correct for row in rows) / len(rows) if accuracies else None,
            low=low,
            high=high,
            score=sum(map(_score, rows)) / len(rows) if accuracies else None,
            score_low=score_low,
            score_high=score_high,
            partly_right=sum(summary.partly_right for summary in summaries),
            spread=statistics.stdev(accuracies) if len(accuracies) > 1 else None,
            summaries=summaries,
        )

    @property
    def runs(self) -> int:
        """How many runs have a row."""
        return sum(summary.n > 0 for summary in self.summaries)

    def mean(self, name: str) -> float | None:
        """The mean over the runs of a number of their summaries, such as `prompt_tokens_per_question`."""
        values = [value for summary in self.summaries if (value := getattr(summary, name)) is not None]
        return statistics.fmean(values) if values else None

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON; a summary is that of `ArmSummary.as_dict`."""
        return asdict(self) | {
            "seeds": list(self.seeds),
            "summaries": [summary.as_dict() for summary in self.summaries],
        }


def pool(results: Sequence[RunResult]) -> tuple[Pooled, ...]:
    """Every arm of the runs, taken together over the orders, in the order in which they first come.

    Runs belong together when nothing but the order of their questions differs: not the data, not the model, not a
    setting of the arm, not the version of cheatsheet.
    """
    return tuple(Pooled.of(streams) for streams in streams_of(results).values())


def streams_of(results: Sequence[RunResult]) -> dict[str, list[Stream]]:
    """The streams of the runs by what they are, whatever their order."""
    alike: dict[str, list[Stream]] = defaultdict(list)
    for result in results:
        for arm in result.arms:
            alike[kind_of(result, arm.arm)].append((result, arm))
    return dict(alike)


def kind_of(result: RunResult, *arms: ArmSpec) -> str:
    """A fingerprint of all that changes the results of these arms, but for the order of the questions.

    Without arms, of all that changes those of any: runs of one kind may be compared.
    """
    unordered = result.spec.task.model_copy(update={"seed": None})
    return result.spec.model_copy(update={"task": unordered, "arms": arms}).fingerprint()


def _interval(rows: Sequence[Row], summaries: Sequence[ArmSummary]) -> tuple[float | None, float | None]:
    begun = [summary for summary in summaries if summary.n]
    if len(begun) == 1:
        return begun[0].accuracy_low, begun[0].accuracy_high
    answered = any(summary.accuracy is not None for summary in begun)
    return (around(rows) if answered else None) or (None, None)


def _correct(row: Row) -> float:
    return row.correct


def _score(row: Row) -> float:
    return row.score


def around(rows: Iterable[Row], measured: Callable[[Row], float] = _correct) -> tuple[float, float] | None:
    """The bootstrap interval of a mean over rows from several runs, with a question as the cluster.

    Args:
        measured: of each row; without it, whether it is right, so that the mean is the accuracy.
    """
    by_question: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_question[row.id].append(measured(row))
    clusters = [by_question[id] for id in sorted(by_question)]
    return bootstrap([sum(cluster) for cluster in clusters], [len(cluster) for cluster in clusters])
