"""What the three roles take and give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from cheatsheet.context.section import ChatTurn
from cheatsheet.llm.model import Message, Outcome, Usage
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.view import MemoryView

By = Literal["model", "rules"]
TagName = Literal["helpful", "harmful", "neutral"]


class ErrorKind(StrEnum):
    """What was wrong with an answer."""

    NONE = "none"
    CALCULATION = "calculation"
    CONCEPT = "concept"
    FORMAT = "format"
    OMISSION = "omission"
    UNIT = "unit"
    WRONG_CHOICE = "wrong-choice"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """An answer.

    Attributes:
        answer: what counts as the answer, without its wrapping.
        used: ids of bullets that the model named as used, of those that were in the prompt.
        text: the whole reply.
        outcome: how the call ended; `answer` is empty unless it can be read.
        prompt: the messages as sent, or the one text for a continuation (as a single user message).
    """

    answer: str
    text: str
    outcome: Outcome
    reasoning: str = ""
    used: tuple[str, ...] = ()
    prompt: tuple[Message, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierAnswer:
    """An answer that was given to the same question before, shown so that the next one can be better.

    Attributes:
        remark: what a reflection said about it; empty where nobody judged it.
    """

    answer: str
    remark: str = ""


class Generator(Protocol):
    """Answers a query with a compiled context."""

    def overhead(self, query: Query) -> str:
        """Everything but the context that will stand in the prompt, as one text, to be counted against the window."""
        ...

    def generate(
        self,
        query: Query,
        *,
        context: str,
        examples: tuple[ChatTurn, ...] = (),
        earlier: tuple[EarlierAnswer, ...] = (),
    ) -> Generation:
        """Ask the model.

        Args:
            query: what is asked; its `choices` bind the answer where the model can be bound.
            context: compiled text sections (may be empty).
            examples: compiled chat turns, in the order in which they are to be shown.
            earlier: answers that were given to the same question before, oldest first.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One answered question, as the Reflector sees it.

    Attributes:
        bullets: those that stood in the prompt.
        used: ids of those that the answerer named.
        trajectory: the whole exchange as chat messages in OpenAI's form, where the turn was more than one question and
            one answer.
        earlier: wrong answers that were given to the same question before this one, oldest first.
        again: answers the same question once more, with a reflection shown; None where nobody can be asked again.
        usage: what this answer cost. That of a turn's answer is booked with the turn, that of answers which `again`
            gave with the reflection.
    """

    query: Query
    answer: str
    feedback: Feedback
    reasoning: str = ""
    bullets: tuple[Bullet, ...] = ()
    used: tuple[str, ...] = ()
    trajectory: tuple[dict[str, Any], ...] = ()
    earlier: tuple[EarlierAnswer, ...] = ()
    again: Callable[[Reflection], Attempt] | None = field(default=None, compare=False, repr=False)
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """What is to be learnt from an attempt (ACE's Reflector, section 3 of the paper).

    Attributes:
        correct: whether the answer was right, as far as is known.
        restates: true when `key_insight` says no more than the question and its expected answer.
        tags: verdict for bullets that were in the prompt, by id.
        by: who reflected.
        rounds: how often was reflected: 1, or more where the question was answered again (`reflect_in_rounds`).
        became_right: a later round's answer was right, though the first was wrong.
        notes: what went wrong on the way, e.g. that a model's reply could not be read and rules took over.
    """

    correct: bool | None
    difference: str = ""
    error: ErrorKind = ErrorKind.NONE
    root_cause: str = ""
    correct_approach: str = ""
    key_insight: str = ""
    restates: bool = False
    tags: Mapping[str, TagName] = field(default_factory=dict)
    by: By = "rules"
    rounds: int = 1
    became_right: bool = False
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


class Reflector(Protocol):
    """Says what an attempt teaches. Never raises on an unreadable reply."""

    def reflect(self, attempt: Attempt) -> Reflection: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflected:
    """An attempt and what it teaches."""

    attempt: Attempt
    reflection: Reflection


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """Operations that a Curator proposes.

    Attributes:
        skipped: one sentence for each proposal that was left out, with its reason.
    """

    operations: tuple[Operation, ...] = ()
    skipped: tuple[str, ...] = ()
    by: By = "rules"
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


class Curator(Protocol):
    """Turns reflections into operations. Never raises on an unreadable reply; changes nothing itself."""

    def curate(self, reflected: Sequence[Reflected], memory: MemoryView) -> Curation:
        """What one attempt, or a batch of them, changes in the memory.

        Args:
            reflected: at least one.
        """
        ...
