"""Why a bullet is what it is: every change that it took, with what it took in and what it lives on in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from cheatsheet.errors import OperationError
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience, is_experience_id
from cheatsheet.memory.history.journal import Cause, JournalEntry
from cheatsheet.memory.history.past import History, Pair
from cheatsheet.memory.history.sheet import Replaying, Snapshot
from cheatsheet.memory.operations import Add, Merge, Operation
from cheatsheet.memory.store import MemoryStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """One change of one bullet.

    Attributes:
        bullet_id: of the bullet that changed: the one asked about, one that it took in, or the one that it lives on in.
        version, at, cause, turn_id, mode, model, notes: of the journal entry.
        operation: what was done.
        before: None where the bullet was made.
        experience_ids: of the turns that the change was learnt from.
        experiences: those turns, with what became known about their answers.
    """

    bullet_id: str
    version: int
    at: datetime
    cause: Cause
    turn_id: str
    mode: str
    model: str
    operation: Operation
    before: Bullet | None
    after: Bullet
    notes: tuple[str, ...] = ()
    experience_ids: tuple[str, ...] = ()
    experiences: tuple[Experience, ...] = ()

    @property
    def edits(self) -> dict[str, tuple[object, object]]:
        """Properties that changed, with their old and new value; empty where the bullet was made."""
        return {} if self.before is None else Pair(self.before, self.after).edits

    @property
    def merged_into(self) -> str:
        """The id of the bullet that took this one in with this change, or an empty string."""
        merged = self.after.status == "merged" and (self.before is None or self.before.status != "merged")
        return str(self.after.metadata.get("merged_into", "")) if merged else ""


def blame(store: MemoryStore, namespace: str, bullet_id: str) -> list[Touch]:
    """Every change of a bullet, of what it took in until then, and of what it lives on in since; oldest first.

    Raises:
        OperationError: there never was such a bullet, or its past was compacted.
    """
    history = History.of(store, namespace)
    touches = touches_of(history.journal, bullet_id, start=history.snapshot)
    wanted = dict.fromkeys(id for touch in touches for id in touch.experience_ids)
    found = {id: experience for id in wanted if (experience := store.experience(namespace, id)) is not None}
    return [
        replace(touch, experiences=tuple(found[id] for id in touch.experience_ids if id in found)) for touch in touches
    ]


def touches_of(journal: Iterable[JournalEntry], bullet_id: str, *, start: Snapshot | None = None) -> list[Touch]:
    """As `blame`, from the journal alone: without the experiences themselves.

    Args:
        journal: all entries of one namespace, oldest first.
        start: its snapshot; None where it was never compacted.
    """
    lines = _Lines(_steps(journal, start))
    if bullet_id not in lines.of:
        if start and bullet_id in start.sheet.bullets:
            raise OperationError(
                f"What made {bullet_id} is not known any more: it was out of service when the journal was compacted up "
                f"to version {start.version}. `cheatsheet show --status all` shows it as it is."
            )
        raise OperationError(
            f"There never was a bullet {bullet_id!r} in this memory. `cheatsheet show --status all` lists every one."
        )
    steps = {step.number: step.touch for span in lines.lineage(bullet_id) for step in lines.within(span)}
    return [steps[number] for number in sorted(steps)]


@dataclass(frozen=True, slots=True)
class _Step:
    """A touch and its place in the whole journal: of its operation, and of itself."""

    operation: int
    number: int
    touch: Touch


@dataclass(frozen=True, slots=True)
class _Span:
    """The changes of one bullet from one operation to another, both included; None: to the end."""

    bullet_id: str
    first: int
    last: int | None


class _Lines:
    """The changes of every bullet, and which bullets took in which."""

    def __init__(self, steps: Iterable[_Step]) -> None:
        self.of: dict[str, list[_Step]] = {}
        self._taken_in_by: dict[str, list[_Step]] = {}
        for step in steps:
            self.of.setdefault(step.touch.bullet_id, []).append(step)
            if step.touch.merged_into:
                self._taken_in_by.setdefault(step.touch.merged_into, []).append(step)

    def within(self, span: _Span) -> list[_Step]:
        return [step for step in self.of.get(span.bullet_id, []) if _between(step.operation, span)]

    def lineage(self, bullet_id: str) -> list[_Span]:
        """The bullet, what it took in and what that had taken in; and what took it in, for as long as it did."""
        return [*self._before(_Span(bullet_id, 0, None)), *self._since(_Span(bullet_id, 0, None))]

    def _before(self, whole: _Span) -> list[_Span]:
        spans = {whole.bullet_id: whole}
        waiting = [whole]
        while waiting:
            span = waiting.pop()
            for step in self._taken_in_by.get(span.bullet_id, []):
                known = spans.get(step.touch.bullet_id)
                new = _Span(step.touch.bullet_id, 0, step.operation)
                if _between(step.operation, span) and (known is None or not _between(step.operation, known)):
                    spans[new.bullet_id] = new
                    waiting.append(new)
        return list(spans.values())

    def _since(self, whole: _Span) -> list[_Span]:
        spans: set[_Span] = set()
        waiting = [whole]
        while waiting:
            own = self.within(span := waiting.pop())
            # What a bullet lives on in may not have changed, where the bullet was brought back as a merged one.
            for step, following in zip(own, [*own[1:], None], strict=False):
                if step.touch.merged_into:  # until the bullet changes again, as when it is brought back
                    last = span.last if following is None else following.operation - 1
                    new = _Span(step.touch.merged_into, step.operation, last)
                    waiting += [] if new in spans else [new]
                    spans.add(new)
        return list(spans)


def _between(operation: int, span: _Span) -> bool:
    return operation >= span.first and (span.last is None or operation <= span.last)


def _steps(journal: Iterable[JournalEntry], start: Snapshot | None) -> Iterator[_Step]:
    replaying, operations, numbers = Replaying(start), count(), count()
    for entry in journal:
        replaying.begin(entry)
        for operation in entry.operations:
            place = next(operations)
            for before, after in replaying.apply(operation, entry):
                if isinstance(after, Bullet):
                    was = before if isinstance(before, Bullet) else None
                    yield _Step(place, next(numbers), _touch(entry, operation, was, after))


def _touch(entry: JournalEntry, operation: Operation, before: Bullet | None, after: Bullet) -> Touch:
    draft = operation.draft if isinstance(operation, Add | Merge) else None
    named = tuple(filter(is_experience_id, draft.sources)) if draft else ()
    return Touch(
        bullet_id=after.id,
        version=entry.version,
        at=entry.at,
        cause=entry.cause,
        turn_id=entry.turn_id,
        mode=entry.mode,
        model=entry.model,
        operation=operation,
        before=before,
        after=after,
        notes=entry.notes,
        experience_ids=named or entry.experience_ids,
    )
