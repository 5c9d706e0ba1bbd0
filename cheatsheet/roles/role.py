"""What the three roles take and give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol

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


class Generator(Protocol):
    """Answers a query with a compiled context."""

    def overhead(self, query: Query) -> str:
        """Everything but the context that will stand in the prompt, as one text, to be counted against the window."""
        ...

    def generate(self, query: Query, *, context: str, examples: tuple[ChatTurn, ...] = ()) -> Generation:
        """Ask the model.

        Args:
            query: what is asked; its `choices` bind the answer where the model can be bound.
            context: compiled text sections (may be empty).
            examples: compiled chat turns, in the order in which they are to be shown.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One answered question, as the Reflector sees it.

    Attributes:
        bullets: those that stood in the prompt.
        used: ids of those that the answerer named.
    """

    query: Query
    answer: str
    feedback: Feedback
    reasoning: str = ""
    bullets: tuple[Bullet, ...] = ()
    used: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """What is to be learnt from an attempt (ACE's Reflector, section 3 of the paper).

    Attributes:
        correct: whether the answer was right, as far as is known.
        restates: true when `key_insight` says no more than the question and its expected answer.
        tags: verdict for bullets that were in the prompt, by id.
        by: who reflected.
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
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


class Reflector(Protocol):
    """Says what an attempt teaches. Never raises on an unreadable reply."""

    def reflect(self, attempt: Attempt) -> Reflection: ...


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
    """Turns a reflection into operations. Never raises on an unreadable reply; changes nothing itself."""

    def curate(self, reflection: Reflection, attempt: Attempt, memory: MemoryView) -> Curation: ...
