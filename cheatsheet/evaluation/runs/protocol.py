"""What a run needs of a memory. `cheatsheet.engine` gives it; the tests give a memory of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from cheatsheet.context.ledger import LedgerEntry
from cheatsheet.evaluation.runs.spec import ArmSpec
from cheatsheet.llm.model import Outcome, Usage
from cheatsheet.memory.experience import Feedback, Query


class RecallView(Protocol):
    """What was shown before the answer."""

    @property
    def text(self) -> str: ...
    @property
    def tokens(self) -> int: ...
    @property
    def ledger(self) -> Sequence[LedgerEntry]: ...
    @property
    def bullets(self) -> Sequence[object]: ...
    @property
    def experiences(self) -> Sequence[object]: ...


class LessonView(Protocol):
    """What was learnt after it."""

    @property
    def operations(self) -> Sequence[object]: ...
    @property
    def skipped(self) -> Sequence[str]: ...


class TurnView(Protocol):
    """One question, lived through."""

    @property
    def answer(self) -> str: ...
    @property
    def reply_text(self) -> str: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def feedback(self) -> Feedback: ...
    @property
    def usage(self) -> Usage: ...
    @property
    def recall(self) -> RecallView: ...
    @property
    def lesson(self) -> LessonView: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def seconds(self) -> float: ...


class MemoryStats(Protocol):
    """How much is in a memory; `version` is the number of its newest journal entry."""

    @property
    def bullets(self) -> int: ...
    @property
    def archived(self) -> int: ...
    @property
    def experiences(self) -> int: ...
    @property
    def version(self) -> int: ...


class Memory(Protocol):
    """The memory of one arm, in one file.

    R1  `solve` recalls, asks, judges and learns in one transaction: it is in the memory whole, or not at all.
    R2  What `record` returns is kept with the turn in that transaction, in every mode, also in one that learns nothing.
    R3  `learnt` and `recorded` tell of committed turns only, and of all of them, also after a crash.
    R4  A call that does not come back raises a `ModelError` and leaves the memory as it was.
    """

    def solve(
        self,
        query: Query,
        *,
        judge: Callable[[str], Feedback],
        turn_id: str,
        record: Callable[[TurnView], dict[str, Any]],
    ) -> TurnView: ...

    def learnt(self, turn_id: str) -> bool:
        """Whether a turn of this id is in the journal."""
        ...

    def recorded(self, turn_id: str) -> dict[str, Any] | None:
        """What `record` returned for it; None where there is no such turn, or nothing was recorded."""
        ...

    def stats(self) -> MemoryStats: ...

    def close(self) -> None: ...


class EntryView(Protocol):
    """One entry of a memory's journal."""

    @property
    def version(self) -> int: ...
    @property
    def cause(self) -> str: ...
    @property
    def turn_id(self) -> str: ...


class Learner(Memory, Protocol):
    """A memory that can be adapted to a training file.

    R5  `solve_batch` answers all queries with the same memory and learns from all answers in one transaction; each is
        then known under its own turn id. A call that does not come back leaves nothing of the batch in the memory.
    R6  `answer` recalls, asks and judges; it leaves the memory as it is.
    R7  `rollback` makes the memory what it was at a version, by one new entry of the cause "rollback". The entries
        before it stay, so that their turns are still known.
    """

    def solve_batch(
        self,
        queries: Sequence[Query],
        *,
        judges: Sequence[Callable[[str], Feedback]],
        turn_ids: Sequence[str],
        records: Sequence[Callable[[TurnView], dict[str, Any]]],
    ) -> Sequence[TurnView]: ...

    def answer(self, query: Query, *, judge: Callable[[str], Feedback]) -> TurnView: ...

    def rollback(self, to: int) -> object: ...

    def history(self, *, after: int = 0) -> Sequence[EntryView]:
        """The journal's entries above a version, newest first."""
        ...


OpenMemory = Callable[[ArmSpec, Path], Memory]
"""Opens the memory of an arm in the file given, which is made when it does not exist."""
