"""What runs have shown: every number of every arm, gathered once for all reports."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cheatsheet.evaluation.metrics.health import MemoryCourse, read_course
from cheatsheet.evaluation.metrics.metric import Metric
from cheatsheet.evaluation.metrics.paired import Comparison, baseline_of, compare_streams, corrected, must_have
from cheatsheet.evaluation.metrics.pooled import Pooled, Stream, streams_of
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.results import ArmResult, RunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmAccount:
    """One arm of one task and one model, over all orders of the questions.

    Attributes:
        pooled: its numbers.
        comparison: with the baseline of its runs; None for the baseline itself.
        streams: its runs, in the order of `pooled.seeds`.
        courses: what its memory went through in each of them.
        baseline: the name of the baseline as it was asked for; None: as `paired.against` chooses.
    """

    pooled: Pooled
    comparison: Comparison | None
    streams: tuple[Stream, ...]
    courses: tuple[MemoryCourse, ...]
    baseline: str | None = None

    def mean_health(self, name: str) -> float | None:
        """The mean over the runs of a field of their `MemoryHealth`, of those that know it."""
        values = [value for course in self.courses if (value := getattr(course.health, name)) is not None]
        return statistics.fmean(values) if values else None

    def mean_metric(self, metric: Metric) -> float | None:
        """The mean of a metric over the runs that know it; None where none does."""
        found = (self.metric(metric, run=run) for run in range(len(self.streams)))
        values = [value for value in found if value is not None]
        return statistics.fmean(values) if values else None

    def metric(self, metric: Metric, *, run: int = 0) -> float | None:
        """A metric in one of the runs, by its place."""
        result, arm = self.streams[run]
        other = baseline_of(result, self.baseline)
        rows = () if other is None or other is arm else other.rows
        return metric.of(arm.rows, baseline=rows, health=self.courses[run].health)


def accounts_of(results: Sequence[RunResult], *, baseline: str | None = None) -> tuple[ArmAccount, ...]:
    """Every arm of the runs, in the order in which they first come; reads the memories of the runs.

    Args:
        baseline: against which arm the others are held; None: `default` where a run has it, else its first arm.

    Raises:
        UnknownNameError: no run has an arm of that name.
    """
    must_have(results, baseline)
    found = [_account(streams, baseline) for streams in streams_of(results).values()]
    corrections = iter(corrected([account.comparison for account in found if account.comparison is not None]))
    return tuple(
        account if account.comparison is None else replace(account, comparison=next(corrections)) for account in found
    )


def _account(streams: Sequence[Stream], baseline: str | None) -> ArmAccount:
    return ArmAccount(
        pooled=Pooled.of(streams),
        comparison=compare_streams(streams, baseline=baseline),
        streams=tuple(streams),
        courses=tuple(_course(*stream) for stream in streams),
        baseline=baseline,
    )


def _course(run: RunResult, arm: ArmResult) -> MemoryCourse:
    place = RunFolder(path=run.folder).arm(arm.arm)
    return read_course(place.memory, arm.arm.name, arm.rows)
