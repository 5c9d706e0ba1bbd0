"""The journal: every change that a memory ever took, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from cheatsheet.memory.experience import Experience
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.values import Moment

Cause = Literal["turn", "recall", "refine", "user", "agent", "import", "rollback"]
"""What made the change: a turn that was learnt, a recall that synthesises, a refinement, a person, an agent that edits
bullets, an import, the wish to have the memory back as it was."""


class Change(BaseModel):
    """A change that is proposed to a store.

    Attributes:
        at: when it happened, in UTC.
        turn_id: a name of the caller's for the turn; a second change with the same name is refused.
        experiences: the turns themselves, without ids, where they are to be kept; several where a batch was learnt.
        record: anything of the caller's that has to be stored in the same transaction (JSON).
        notes: what was skipped or went wrong on the way, one sentence each.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: Moment
    cause: Cause
    turn_id: str = ""
    mode: str = ""
    model: str = ""
    operations: tuple[Operation, ...] = ()
    experiences: tuple[Experience, ...] = ()
    record: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()


class JournalEntry(BaseModel):
    """A change as it was stored.

    Attributes:
        version: its number, growing over the whole file; the namespace's newest one is the memory's version.
        operations: those that took effect, with the ids of new bullets.
        experience_ids: ids of the experiences that were stored with it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    at: Moment
    cause: Cause
    turn_id: str = ""
    mode: str = ""
    model: str = ""
    operations: tuple[Operation, ...] = ()
    experience_ids: tuple[str, ...] = ()
    record: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """The outcome of a commit.

    Attributes:
        skipped: one sentence for each operation that was left out.
        followed: those of the entry's operations that were made inside the transaction, such as a refinement.
        beside: other entries of the same transaction, which stand before it.
        notes: one sentence for each thing that was changed because of what others had written meanwhile.
    """

    entry: JournalEntry
    skipped: tuple[str, ...] = ()
    followed: tuple[Operation, ...] = ()
    beside: tuple[JournalEntry, ...] = ()
    notes: tuple[str, ...] = ()
