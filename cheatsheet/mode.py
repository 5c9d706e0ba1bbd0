"""What a memory mode is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from cheatsheet.context.section import Section
from cheatsheet.llm.model import Usage
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience, Query
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.view import MemoryView, Scored
from cheatsheet.roles.role import Attempt, Reflection


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What a mode wants to show.

    Attributes:
        sections: to be compiled into the context.
        bullets, experiences: what the sections were made of, in the order shown, with the cosine to the query
            (0 where the mode did not search).
        searched: whether they were found by their similarity to the query, so that being shown counts as a use of an
            experience.
        operations: changes that recalling itself makes, where a mode makes some (synthesis).
        notes: what the user should know, e.g. that the memory is empty.
    """

    sections: tuple[Section, ...] = ()
    bullets: tuple[Scored[Bullet], ...] = ()
    experiences: tuple[Scored[Experience], ...] = ()
    searched: bool = False
    operations: tuple[Operation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What a mode wants to keep of a turn.

    Attributes:
        operations: changes of the bullets, before grow-and-refine.
        remember: whether the turn itself is kept as an experience.
        skipped: one sentence for each thing that was left out, with its reason.
    """

    operations: tuple[Operation, ...] = ()
    remember: bool = False
    reflection: Reflection | None = None
    skipped: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedBatch:
    """What a mode wants to keep of several turns that are learnt together.

    Attributes:
        operations: changes of the bullets, from one curation, before grow-and-refine.
        remember: for each attempt, in their order, whether it is kept as an experience.
        reflections: for each attempt, in their order, what it teaches (None where it was not reflected); empty where
            none was.
    """

    operations: tuple[Operation, ...] = ()
    remember: tuple[bool, ...] = ()
    reflections: tuple[Reflection | None, ...] = ()
    skipped: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, learned: Learned) -> LearnedBatch:
        """A batch of one."""
        return cls(
            operations=learned.operations,
            remember=(learned.remember,),
            reflections=(learned.reflection,),
            skipped=learned.skipped,
            usage=learned.usage,
            notes=learned.notes,
        )

    def single(self) -> Learned:
        """The same as a result of one turn; for a batch of one."""
        return Learned(
            operations=self.operations,
            remember=self.remember[0],
            reflection=self.reflections[0] if self.reflections else None,
            skipped=self.skipped,
            usage=self.usage,
            notes=self.notes,
        )


class MemoryMode(Protocol):
    """A way of remembering around one generation.

    M1  `recall` and `learn` return values and change nothing; the engine alone writes.
    M2  The same memory, query and model replies give the same result.
    M3  `recall` names only bullets and experiences that are in the memory.
    M4  `learn` on an empty or unreadable reply returns no operations, and says so.
    M5  A reply that cannot be read is one failed turn with its reason, never an exception.
    """

    @property
    def name(self) -> str: ...

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        """What to show before the query is answered."""
        ...

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        """What to keep after it was answered."""
        ...


@runtime_checkable
class BatchMode(MemoryMode, Protocol):
    """A mode that can learn several turns at once: each is reflected, and one curation serves them all.

    M6  A batch of one is learnt as `learn` learns it.
    """

    def learn_batch(self, attempts: Sequence[Attempt], memory: MemoryView) -> LearnedBatch:
        """What to keep of several answered queries.

        Args:
            attempts: at least one, in the order in which they were answered.
        """
        ...
