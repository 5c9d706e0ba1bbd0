"""One arm of one run in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from cheatsheet.evaluation.metrics.intervals import bootstrap, wilson
from cheatsheet.evaluation.runs.results import ArmResult
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.llm.model import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSummary:
    """One arm in numbers.

    Attributes:
        mode: the arm's name, which is its mode's name unless it was given another.
        n: questions that have a row. Failed calls are among them, and count as wrong.
        correct: how many of them were right.
        errors: how many calls did not come back.
        cheaper: how many were asked in a cheaper mode than the arm's, because a budget ran low.
        accuracy: correct / n; None where no question was answered.
        accuracy_low, accuracy_high: its 95 % Wilson interval, taking the questions as independent.
        bootstrap_low, bootstrap_high: its 95 % bootstrap interval (`intervals.bootstrap`); None where all are alike.
        accuracy_second_half: accuracy on the rows from place ceil(n / 2) on, counted from 0 in the order of the
            stream: what the memory is worth once it holds something. None for fewer than two rows.
        n_second_half: how many rows that is.
        partly_right: how many answers have a score between 0 and 1.
        score: mean score, from 0 to 1, of all n; differs from the accuracy where answers can be partly right.
        score_low, score_high: its 95 % bootstrap interval.
        prompt_tokens, completion_tokens, cached_tokens, model_calls: totals. Cached tokens are prompt tokens that the
            provider did not have to read again.
        cost_usd: None where no price is known.
        cost_complete: false where a part of the cost is not known, so that `cost_usd` is too low.
        seconds: total.
        context_tokens: mean per answered question of what the memory put into the prompt; None without answers.
    """

    mode: str
    n: int
    correct: int
    errors: int
    cheaper: int
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    bootstrap_low: float | None
    bootstrap_high: float | None
    accuracy_second_half: float | None
    n_second_half: int
    partly_right: int
    score: float | None
    score_low: float | None
    score_high: float | None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    model_calls: int
    cost_usd: float | None
    cost_complete: bool
    seconds: float
    context_tokens: float | None

    @property
    def prompt_tokens_per_question(self) -> float | None:
        """Mean over all n questions."""
        return self._per_question(self.prompt_tokens)

    @property
    def completion_tokens_per_question(self) -> float | None:
        """Mean over all n questions."""
        return self._per_question(self.completion_tokens)

    @property
    def cached_tokens_per_question(self) -> float | None:
        """Mean over all n questions."""
        return self._per_question(self.cached_tokens)

    @property
    def model_calls_per_question(self) -> float | None:
        """Mean over all n questions."""
        return self._per_question(self.model_calls)

    @property
    def cost_usd_per_question(self) -> float | None:
        """Mean over all n questions; None where no price is known, too low where `cost_complete` is false."""
        return None if self.cost_usd is None else self._per_question(self.cost_usd)

    @property
    def seconds_per_question(self) -> float | None:
        """Mean over all n questions."""
        return self._per_question(self.seconds)

    @property
    def cached_share(self) -> float | None:
        """Cached tokens / prompt tokens, from 0 to 1."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return asdict(self) | {name: getattr(self, name) for name in _DERIVED}

    def _per_question(self, total: float) -> float | None:
        return total / self.n if self.n else None


_DERIVED = (
    "prompt_tokens_per_question",
    "completion_tokens_per_question",
    "cached_tokens_per_question",
    "model_calls_per_question",
    "cost_usd_per_question",
    "seconds_per_question",
    "cached_share",
)


def summarise(arm: ArmResult) -> ArmSummary:
    """The numbers of one arm."""
    return summarise_rows(arm.arm.name, arm.rows)


def summarise_rows(mode: str, rows: Sequence[Row]) -> ArmSummary:
    """The numbers of rows that are in the order of the stream."""
    answered = [row for row in rows if not row.error]
    usage = sum((row.usage for row in rows), Usage())
    return ArmSummary(
        mode=mode,
        n=len(rows),
        correct=_correct(rows),
        errors=len(rows) - len(answered),
        cheaper=sum(bool(row.mode) for row in rows),
        **(_scored(rows) if answered else _NO_SCORE)._asdict(),
        n_second_half=len(second_half(rows)),
        partly_right=sum(0 < row.score < 1 for row in rows),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        model_calls=usage.calls,
        cost_usd=usage.cost_usd,
        cost_complete=usage.cost_complete,
        seconds=usage.seconds,
        context_tokens=sum(row.context_tokens for row in answered) / len(answered) if answered else None,
    )


def second_half(rows: Sequence[Row]) -> Sequence[Row]:
    """The later half of a stream; of an odd number of rows, the smaller part."""
    return rows[(len(rows) + 1) // 2 :]


class _Scored(NamedTuple):
    """The fields of a summary that are None where no question was answered."""

    accuracy: float | None = None
    accuracy_low: float | None = None
    accuracy_high: float | None = None
    bootstrap_low: float | None = None
    bootstrap_high: float | None = None
    accuracy_second_half: float | None = None
    score: float | None = None
    score_low: float | None = None
    score_high: float | None = None


_NO_SCORE = _Scored()


def _scored(rows: Sequence[Row]) -> _Scored:
    correct, late = _correct(rows), second_half(rows)
    verdicts, scores = [float(row.correct) for row in rows], [row.score for row in rows]
    low, high = wilson(correct, len(rows))
    around = bootstrap(verdicts) or (None, None)
    around_score = around if scores == verdicts else bootstrap(scores) or (None, None)
    return _Scored(
        accuracy=correct / len(rows),
        accuracy_low=low,
        accuracy_high=high,
        bootstrap_low=around[0],
        bootstrap_high=around[1],
        accuracy_second_half=_correct(late) / len(late) if late else None,
        score=sum(scores) / len(scores),
        score_low=around_score[0],
        score_high=around_score[1],
    )


def _correct(rows: Sequence[Row]) -> int:
    return sum(row.correct for row in rows)
