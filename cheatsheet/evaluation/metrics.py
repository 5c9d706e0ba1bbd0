"""What a run came to, in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cheatsheet.evaluation.rows import Row
from cheatsheet.evaluation.runner import ArmResult
from cheatsheet.llm.model import Usage

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSummary:
    """One arm in numbers.

    Attributes:
        mode: the arm's name, which is its mode's name unless it was given another.
        n: questions that have a row. Failed calls are among them, and count as wrong.
        correct: how many of them were right.
        errors: how many calls did not come back.
        accuracy: correct / n; None where no question was answered.
        accuracy_low, accuracy_high: its 95 % Wilson interval, taking the questions as independent.
        accuracy_second_half: accuracy on the rows from place ceil(n / 2) on, counted from 0 in the order of the
            stream: what the memory is worth once it holds something. None for fewer than two rows.
        n_second_half: how many rows that is.
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
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    accuracy_second_half: float | None
    n_second_half: int
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
        return self.prompt_tokens / self.n if self.n else None

    @property
    def completion_tokens_per_question(self) -> float | None:
        """Mean over all n questions."""
        return self.completion_tokens / self.n if self.n else None

    @property
    def cached_share(self) -> float | None:
        """Cached tokens / prompt tokens, from 0 to 1."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return asdict(self) | {
            "prompt_tokens_per_question": self.prompt_tokens_per_question,
            "completion_tokens_per_question": self.completion_tokens_per_question,
            "cached_share": self.cached_share,
        }


def summarise(arm: ArmResult) -> ArmSummary:
    """The numbers of one arm."""
    return summarise_rows(arm.arm.name, arm.rows)


def summarise_rows(mode: str, rows: Sequence[Row]) -> ArmSummary:
    """The numbers of rows that are in the order of the stream."""
    answered = [row for row in rows if not row.error]
    second_half = rows[(len(rows) + 1) // 2 :]
    usage = sum((row.usage for row in rows), Usage())
    return ArmSummary(
        mode=mode,
        n=len(rows),
        correct=_correct(rows),
        errors=len(rows) - len(answered),
        **(_accuracy(rows, second_half) if answered else dict.fromkeys(_ACCURACIES)),
        n_second_half=len(second_half),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        model_calls=usage.calls,
        cost_usd=usage.cost_usd,
        cost_complete=usage.cost_complete,
        seconds=usage.seconds,
        context_tokens=sum(row.context_tokens for row in answered) / len(answered) if answered else None,
    )


def wilson(correct: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927); good for small n and at the ends, unlike p ± 2σ."""
    from scipy.stats import binomtest

    interval = binomtest(correct, n).proportion_ci(confidence_level=CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


_ACCURACIES = ("accuracy", "accuracy_low", "accuracy_high", "accuracy_second_half")


def _accuracy(rows: Sequence[Row], second_half: Sequence[Row]) -> Mapping[str, float | None]:
    low, high = wilson(_correct(rows), len(rows))
    second = _correct(second_half) / len(second_half) if second_half else None
    return dict(zip(_ACCURACIES, (_correct(rows) / len(rows), low, high, second), strict=True))


def _correct(rows: Sequence[Row]) -> int:
    return sum(row.correct for row in rows)
