"""What runs have shown, as plain values for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from cheatsheet.evaluation.metrics.curve import learning_curve
from cheatsheet.evaluation.metrics.metric import STANDARD
from cheatsheet.evaluation.reports.accounts import ArmAccount, accounts_of
from cheatsheet.evaluation.runs.results import RunResult


def as_json(results: Sequence[RunResult], *, baseline: str | None = None) -> list[dict[str, Any]] | dict[str, Any]:
    """All numbers of the runs.

    Of one run: a list with an object for each arm, which is `ArmSummary.as_dict` and besides

    - `metrics`: values by the names of `Metric`,
    - `curve`: the learning curve, a list of `CurvePoint`,
    - `memory`: `MemoryHealth`, and under `problem` why the memory cannot be read, if so,
    - `against`: the `Comparison` with the baseline; null for the baseline itself.

    Of several: an object with `runs`, a list of `{task, model, seed, folder, arms}`, whose `arms` are such lists
    without `against`; `pooled`, a list of `Pooled`; and `comparisons`, a list of `Comparison`.

    Args:
        results, baseline: as for `report.tables_of`.

    Raises:
        UnknownNameError: no run has an arm of that name.
    """
    accounts = accounts_of(results, baseline=baseline)
    compared = [account.comparison.as_dict() for account in accounts if account.comparison is not None]
    if len(results) == 1:
        against = [None if account.comparison is None else account.comparison.as_dict() for account in accounts]
        return [_stream(account, 0) | {"against": other} for account, other in zip(accounts, against, strict=True)]
    return {
        "runs": [_run(result, accounts) for result in results],
        "pooled": [account.pooled.as_dict() for account in accounts],
        "comparisons": compared,
    }


def _run(result: RunResult, accounts: Sequence[ArmAccount]) -> dict[str, Any]:
    task = result.spec.task
    streams = [
        _stream(account, place)
        for account in accounts
        for place, (run, _) in enumerate(account.streams)
        if run is result
    ]
    head = {"task": task.name, "model": result.spec.model, "seed": task.seed, "folder": str(result.folder)}
    return head | {"arms": streams}


def _stream(account: ArmAccount, place: int) -> dict[str, Any]:
    """One arm in one of its runs."""
    course = account.courses[place]
    return account.pooled.summaries[place].as_dict() | {
        "metrics": {str(metric): account.metric(metric, run=place) for metric in STANDARD},
        "curve": [asdict(point) for point in learning_curve(account.streams[place][1].rows)],
        "memory": course.health.as_dict() | {"problem": course.problem},
    }
