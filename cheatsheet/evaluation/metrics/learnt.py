"""What each question of a stream changed in the memory, read from the memory's journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.history.sheet import Replaying, Value
from cheatsheet.memory.operations import Merge, Operation, Remove, Tag

OperationType = Literal["add", "update", "tag", "merge", "remove", "restore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """One change of the memory, as a reader is told of it.

    Attributes:
        type: of the operation (`cheatsheet.memory.operations`).
        id: of the bullet or experience that changed.
        section: of the bullet; empty for an experience.
        content: of the bullet afterwards; of an experience, its question.
        before: the content before, where the words changed; else empty.
        helpful, harmful: by how much a tag counted.
        absorbed: ids of the bullets that a merge took in.
        taken_in: the words that a merge took in without their ever being a bullet; else empty.
        reason: why something was archived, as far as is known.
    """

    type: OperationType
    id: str
    section: str = ""
    content: str = ""
    before: str = ""
    helpful: int = 0
    harmful: int = 0
    absorbed: tuple[str, ...] = ()
    taken_in: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseStep:
    """The memory after one question.

    Attributes:
        question: its id.
        position: in the stream, from 0.
        version: of the memory afterwards.
        bullets: active bullets afterwards.
        experiences: active experiences afterwards.
        operations: what changed since the step before, in order: while the memory was asked, from the lesson, and by
            the refinement after it. That a bullet or experience was shown is no change and is left out.
        remembered: ids of the experiences that were stored.
    """

    question: str
    position: int
    version: int
    bullets: int
    experiences: int
    operations: tuple[Learnt, ...]
    remembered: tuple[str, ...]


def steps_of(
    journal: Sequence[JournalEntry], arm: str, rows: Sequence[Row], experiences: Mapping[str, Experience]
) -> tuple[CourseStep, ...]:
    """A step for each question that the memory learnt from, in the order in which it did.

    What an entry without a turn changed, such as a refinement between two questions, belongs to the next step.

    Args:
        journal: all entries of one namespace, oldest first.
        arm: its name, with which the ids of its turns begin.
        experiences: by id.

    Raises:
        StoreCorruptError: an entry holds an operation that cannot have taken effect.
    """
    asked = {f"{arm}:{row.id}": row for row in rows}
    memory, waiting = _Memory(), _Waiting([], [])
    steps = []
    for entry in journal:
        waiting.operations += _changes(memory, entry, experiences)
        waiting.remembered += entry.experience_ids
        if entry.turn_id in asked:
            steps.append(_step(asked[entry.turn_id], entry.version, memory, waiting))
            waiting = _Waiting([], [])
    return tuple(steps)


@dataclass(slots=True)
class _Memory:
    """A memory on its way through its journal, and how many bullets and experiences it serves."""

    replaying: Replaying = field(default_factory=Replaying)
    bullets: int = 0
    experiences: int = 0

    def begin(self, entry: JournalEntry) -> None:
        self.replaying.begin(entry)
        self.experiences += len(entry.experience_ids)

    def apply(self, operation: Operation, entry: JournalEntry) -> tuple[Value | None, Value]:
        """What the operation is about, before and after."""
        changed = self.replaying.apply(operation, entry)
        for before, after in changed:
            more = (after.status == "active") - (before is not None and before.status == "active")
            if isinstance(after, Bullet):
                self.bullets += more
            else:
                self.experiences += more
        return changed[0]


@dataclass(slots=True)
class _Waiting:
    """What was read since the last step."""

    operations: list[Learnt]
    remembered: list[str]


def _step(row: Row, version: int, memory: _Memory, waiting: _Waiting) -> CourseStep:
    return CourseStep(
        question=row.id,
        position=row.position,
        version=version,
        bullets=memory.bullets,
        experiences=memory.experiences,
        operations=tuple(waiting.operations),
        remembered=tuple(waiting.remembered),
    )


def _changes(memory: _Memory, entry: JournalEntry, experiences: Mapping[str, Experience]) -> Iterator[Learnt]:
    """The changes of an entry, which is taken in on the way."""
    memory.begin(entry)
    for operation in entry.operations:
        before, after = memory.apply(operation, entry)
        if not (isinstance(operation, Tag) and not operation.helpful and not operation.harmful):
            yield _learnt(operation, before, after, experiences)


def _learnt(operation: Operation, before: Value | None, after: Value, experiences: Mapping[str, Experience]) -> Learnt:
    content = _words(after, experiences)
    was = content if before is None else _words(before, experiences)
    tag = operation if isinstance(operation, Tag) else None
    merge = operation if isinstance(operation, Merge) else None
    return Learnt(
        type=operation.type,
        id=after.id,
        section=after.section if isinstance(after, Bullet) else "",
        content=content,
        before="" if was == content else was,
        helpful=tag.helpful if tag else 0,
        harmful=tag.harmful if tag else 0,
        absorbed=merge.absorbed if merge else (),
        taken_in=merge.draft.content if merge and merge.draft else "",
        reason=operation.reason if isinstance(operation, Remove) else "",
    )


def _words(value: Value, experiences: Mapping[str, Experience]) -> str:
    if isinstance(value, Bullet):
        return value.content
    return experiences[value.id].query if value.id in experiences else ""
