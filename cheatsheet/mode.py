"""What a memory mode is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

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
        operations: changes that recalling itself makes, where a mode makes some (synthesis).
        notes: what the user should know, e.g. that the memory is empty.
    """

    sections: tuple[Section, ...] = ()
    bullets: tuple[Scored[Bullet], ...] = ()
    experiences: tuple[Scored[Experience], ...] = ()
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
