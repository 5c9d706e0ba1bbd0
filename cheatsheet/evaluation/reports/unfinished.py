"""Runs that are not finished: how many answers are missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from cheatsheet.evaluation.metrics.pooled import kind_of
from cheatsheet.evaluation.runs.results import RunResult


def unfinished(results: Sequence[RunResult]) -> str:
    """A sentence on the answers that are missing; empty where none is known to be, and where nothing was asked at all.

    What differs in its order and its arms alone has the same number of questions in each arm. So an arm is not finished
    where another one has more answers; where all have stopped at the same question, this cannot be told.
    """
    alike: dict[str, list[int]] = defaultdict(list)
    for result in results:
        alike[kind_of(result)] += [len(arm.rows) for arm in result.arms]
    found = sum(map(sum, alike.values()))
    wanted = sum(max(counts) * len(counts) for counts in alike.values())
    unasked = any(max(counts) == 0 for counts in alike.values())
    if not found or (found == wanted and not unasked):
        return ""
    least = "more than" if unasked else "at least"
    return f"Not finished: {found:,} of {least} {wanted:,} answers are there, so that all of this may still change."
