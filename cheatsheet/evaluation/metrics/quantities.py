"""The quantities of which metrics are made, each with its one name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.llm.model import Usage
from modes.default import LEARNS_NOTHING
from modes.reflective import NO_ANSWER, NO_BULLET

_NOTHING_PROPOSED: Final = frozenset((LEARNS_NOTHING, NO_ANSWER, NO_BULLET))


class Mean(NamedTuple):
    """A mean or a share of rows, of which there is at least one."""

    meaning: str
    of: Callable[[Sequence[Row]], float | None]


class Total(NamedTuple):
    """What one row adds; None where it is not known.

    Attributes:
        taken: whether a run pays with it, so that it can be set against what it gains.
    """

    meaning: str
    of: Callable[[Row], float | None]
    taken: bool = False


def tokens_of(row: Row) -> float:
    """Prompt and completion tokens."""
    return row.prompt_tokens + row.completion_tokens


def cost_of(row: Row) -> float | None:
    """Money; None where a part of it is not known, nothing where no model was asked."""
    if not (row.model_calls or row.error):
        return row.cost_usd or 0.0
    return row.cost_usd if row.cost_complete else None


def refused_of(row: Row) -> int:
    """Proposals that were left out. That a mode learns nothing, or that there is no answer, is no proposal."""
    return sum(sentence not in _NOTHING_PROPOSED for sentence in row.skipped)


def hit_rate(rows: Sequence[Row]) -> float | None:
    """Share of the answered questions for which a bullet or an experience was shown; None without answers."""
    return mean_of_answered(lambda row: row.bullets + row.experiences > 0)(rows)


def _mean(measured: Callable[[Row], float]) -> Callable[[Sequence[Row]], float]:
    return lambda rows: sum(map(measured, rows)) / len(rows)


def mean_of_answered(measured: Callable[[Row], float]) -> Callable[[Sequence[Row]], float | None]:
    """The mean over the answered questions; None where there is none."""

    def mean(rows: Sequence[Row]) -> float | None:
        answered = [row for row in rows if not row.error]
        return sum(map(measured, answered)) / len(answered) if answered else None

    return mean


def _cached_share(rows: Sequence[Row]) -> float | None:
    usage = sum((row.usage for row in rows), Usage())
    return usage.cached_tokens / usage.prompt_tokens if usage.prompt_tokens else None


MEANS: Final[Mapping[str, Mean]] = {
    "accuracy": Mean("share of right answers; a failed call is a wrong one", _mean(lambda row: row.correct)),
    "score": Mean("mean score, from 0 to 1; a failed call has 0", _mean(lambda row: row.score)),
    "error_rate": Mean("share of calls that did not come back", _mean(lambda row: bool(row.error))),
    "cached_share": Mean("cached tokens / prompt tokens", _cached_share),
    "context_tokens": Mean(
        "mean of what the memory put into the prompt, over the answered", mean_of_answered(lambda r: r.context_tokens)
    ),
    "hit_rate": Mean("share of the answered for which the memory showed something", hit_rate),
}

TOTALS: Final[Mapping[str, Total]] = {
    "questions": Total("questions that have a row", lambda row: 1),
    "correct": Total("right answers", lambda row: row.correct),
    "errors": Total("calls that did not come back", lambda row: bool(row.error)),
    "cheaper": Total("questions asked in a cheaper mode, as a budget ran low", lambda row: bool(row.mode)),
    "operations": Total("changes of the memory", lambda row: row.operations),
    "refused": Total("proposals that the memory did not take in", refused_of),
    "prompt_tokens": Total("tokens read", lambda row: row.prompt_tokens, taken=True),
    "completion_tokens": Total("tokens written", lambda row: row.completion_tokens, taken=True),
    "cached_tokens": Total("tokens of prompts that the provider had read before", lambda row: row.cached_tokens),
    "tokens": Total("tokens read and written", tokens_of, taken=True),
    "model_calls": Total("calls of models", lambda row: row.model_calls, taken=True),
    "cost_usd": Total("money, in US dollars", cost_of, taken=True),
    "seconds": Total("time", lambda row: row.seconds, taken=True),
}

MEMORY_PREFIX: Final = "memory."

MEMORY: Final[Mapping[str, str]] = {
    "memory.bullets": "active bullets in the end",
    "memory.experiences": "active experiences in the end",
    "memory.made": "bullets that were ever added",
    "memory.growth": "active bullets in the end, for each question that was learnt from",
    "memory.archived": "bullets that are archived in the end",
    "memory.merges": "how often a bullet took in others, or a draft",
    "memory.used_share": "share of the bullets ever made that were shown",
    "memory.utility": "helpful / (helpful + harmful) over all tags",
    "memory.right_shown_rate": "share of the answered for which an experience with the right answer was shown",
}
"""Fields of `MemoryHealth` behind `memory.`, with what they mean."""
