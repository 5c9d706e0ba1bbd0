"""Experiences: turns that were lived, as they are kept, and how each stands in the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cheatsheet.memory.values import Moment, Text

ExperienceStatus = Literal["active", "archived"]
"""`active` experiences are served; `archived` ones can be restored."""

SLUG = "exp"
"""What the ids of experiences begin with, and those of bullets never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked.

    Attributes:
        text: the question.
        choices: the only answers allowed; empty when the answer is free.
        metadata: whatever the caller wants to keep with the turn.
    """

    text: str
    choices: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Feedback(BaseModel):
    """What is known about an answer after it was given; every part is optional.

    Attributes:
        correct: whether it was right.
        score: 0 (worst) to 1 (best).
        expected: the right answer.
        comment: anything said about it in words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    correct: bool | None = None
    score: float | None = Field(default=None, ge=0, le=1)
    expected: Text | None = None
    comment: Text = ""

    @property
    def given(self) -> bool:
        """True when anything at all is known."""
        return self.verdict is not None or self.expected is not None or bool(self.comment)

    @property
    def verdict(self) -> bool | None:
        """Right or wrong, from `correct` or else from `score` (right from 0.5 on); None when neither is known."""
        if self.correct is not None:
            return self.correct
        return None if self.score is None else self.score >= 0.5


class Experience(BaseModel):
    """One lived turn. Never changed once it is stored.

    Attributes:
        id: `exp-00012`, unique in its namespace, never reused; empty before it is stored.
        query: the question.
        answer: what was answered.
        choices: the only answers that were allowed, if any.
        reasoning: what the answerer said beside its answer.
        trajectory: the whole exchange as chat messages, where the turn was more than one question and one answer.
        feedback: what became known afterwards.
        bullets: ids of the bullets that stood in the prompt.
        used: ids of the bullets that the answerer named as used.
        mode, model: what produced the answer; empty when unknown.
        prompt_tokens, completion_tokens, cost_usd: what the turn cost; None when unknown.
        created_at: when it was learnt, in UTC.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = ""
    query: Text
    answer: Text
    choices: tuple[Text, ...] = ()
    reasoning: Text = ""
    trajectory: tuple[dict[str, Any], ...] = ()
    feedback: Feedback = Feedback()
    bullets: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    mode: str = ""
    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    created_at: Moment
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def known_answer(self) -> str | None:
        """The answer worth showing as an example: the expected one, else the given one unless it is known wrong."""
        if self.feedback.expected is not None:
            return self.feedback.expected
        return None if self.feedback.verdict is False else self.answer


class Standing(BaseModel):
    """What the memory knows about an experience beside the experience itself, which never changes.

    Attributes:
        id: of the experience.
        uses, last_used_at: how often, and when last, it stood in the prompt of a turn that was learnt from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    status: ExperienceStatus = "active"
    uses: int = Field(default=0, ge=0)
    last_used_at: Moment | None = None


def experience_id(number: int) -> str:
    """The id of the experience with this number: `exp-00012`."""
    return f"{SLUG}-{number:05d}"


def is_experience_id(id: str) -> bool:
    """Whether an id has the form of an experience's."""
    slug, dash, digits = id.partition("-")
    return slug == SLUG and bool(dash) and digits.isascii() and digits.isdecimal()
