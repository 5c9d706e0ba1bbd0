"""What the engine returns: Recall, Turn, Lesson."""

from __future__ import annotations

from dataclasses import dataclass, field

from cheatsheet.context.compiler import CompiledContext, LedgerEntry
from cheatsheet.llm.model import Message, Outcome, Usage
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience, Feedback, Query
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.view import Scored
from cheatsheet.roles.role import Generation, Reflection


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What the memory has to say before a question is answered.

    Attributes:
        context: the compiled context; `text`, `tokens` and `ledger` are short cuts into it.
        bullets, experiences: those that stand in the context, in the order shown, with their cosine to the query.
        searched: whether they were found by their similarity to the query.
        version: of the memory that was read.
        cached: whether it was made before, for the same query and version.
        notes: what the user should know.
    """

    query: Query
    context: CompiledContext
    mode: str
    version: int
    bullets: tuple[Scored[Bullet], ...] = ()
    experiences: tuple[Scored[Experience], ...] = ()
    searched: bool = False
    cached: bool = False
    operations: tuple[Operation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The whole context as one text."""
        return self.context.text

    @property
    def tokens(self) -> int:
        """How many tokens the context takes, never more than the budget."""
        return self.context.tokens

    @property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """For every section what it wanted, what it got, and why."""
        return self.context.ledger

    def messages(self) -> list[Message]:
        """The context and the question as chat messages, ready for any chat API."""
        return self.context.messages_for(self.query.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What a turn taught the memory.

    Attributes:
        operations: what changed, with the ids of new bullets.
            Where several turns were learnt together, they stand in the lesson of the last one.
        archived: what refine took out of service after it, in the same transaction.
        skipped: one sentence for each thing that was left out, with its reason.
        version: of the memory afterwards.
    """

    operations: tuple[Operation, ...] = ()
    archived: tuple[Operation, ...] = ()
    experience_id: str = ""
    reflection: Reflection | None = None
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One lived turn.

    Attributes:
        feedback: what became known about the answer.
        usage: tokens, calls, money and seconds of all model calls of the turn. What the learning of a batch took is
            counted with its last turn.
        seconds: of the whole turn.
    """

    recall: Recall
    generation: Generation
    feedback: Feedback
    lesson: Lesson
    usage: Usage
    seconds: float

    @property
    def answer(self) -> str:
        return self.generation.answer

    @property
    def correct(self) -> bool | None:
        """Whether the answer was right, as far as is known."""
        return self.feedback.verdict

    @property
    def outcome(self) -> Outcome:
        return self.generation.outcome

    @property
    def reply_text(self) -> str:
        """The model's whole reply."""
        return self.generation.text

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.recall.notes, *self.generation.notes, *self.lesson.notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """The size of a memory."""

    bullets: int
    archived: int
    merged: int
    experiences: int
    version: int
