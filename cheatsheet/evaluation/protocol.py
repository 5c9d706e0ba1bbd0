"""What a run needs of a memory. `cheatsheet.engine` gives it; the tests give a memory of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from cheatsheet.evaluation.spec import ArmSpec
from cheatsheet.llm.model import Outcome, Usage
from cheatsheet.memory.experience import Feedback, Query


class RecallView(Protocol):
    """What was shown before the answer."""

    @property
    def tokens(self) -> int: ...
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


OpenMemory = Callable[[ArmSpec, Path], Memory]
"""Opens the memory of an arm in the file given, which is made when it does not exist."""
