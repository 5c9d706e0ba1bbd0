"""A sheet: all bullets of one namespace, and how its experiences stand, as one value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from cheatsheet.errors import StoreCorruptError
from cheatsheet.memory.apply import Limits, apply_operations
from cheatsheet.memory.bullet import Bullet, Status, number_of
from cheatsheet.memory.experience import Standing
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.view import BulletOrder

T = TypeVar("T")

Value = Bullet | Standing


@dataclass(frozen=True)
class Sheet:
    """Bullets and standings of experiences by id, each in the order of their numbers; a change makes a new sheet.

    The sheet is what a store's tables are judged by: `replay(journal)` equals what the store holds.
    """

    bullets: Mapping[str, Bullet] = field(default_factory=dict)
    next_number: int = 1
    standings: Mapping[str, Standing] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Bullet]:
        return iter(self.bullets.values())

    def __len__(self) -> int:
        return len(self.bullets)

    def listed(
        self,
        *,
        status: Status | None = "active",
        section: str | None = None,
        order: BulletOrder = "id",
        limit: int | None = None,
        harmful_weight: float = 1.0,
    ) -> list[Bullet]:
        """Bullets in one of the orders of a view (`MemoryView.bullets`)."""
        found = [b for b in self if status in (None, b.status) and section in (None, "", b.section)]
        # Sorting leaves ties in place, and the sheet is in the order of the numbers.
        if order == "expiring":
            found = sorted((b for b in found if b.expires_at), key=lambda b: b.expires_at or b.created_at)
        elif order == "recent":
            found.sort(key=lambda b: b.updated_at, reverse=True)
        elif order in ("utility", "worst"):
            found.sort(key=lambda b: b.last_used_at or b.created_at, reverse=True)
            found.sort(key=lambda b: b.utility(harmful_weight), reverse=True)
        return (found[::-1] if order == "worst" else found)[:limit]

    def apply(self, operations: Iterable[Operation], *, at: datetime, limits: Limits | None = None) -> Sheet:
        """The sheet after these operations; those that cannot be applied change nothing."""
        applied = apply_operations(
            operations, self.bullets.get, self.standings.get, next_number=self.next_number, at=at, limits=limits
        )
        bullets = {**self.bullets, **applied.bullets}
        standings = {**self.standings, **applied.standings}
        return Sheet(_ordered(bullets), applied.next_number, _ordered(standings))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """From where a journal is replayed, once it was compacted: what its entries no longer tell.

    Attributes:
        version: up to which the journal was compacted; the memory is known as it was then and ever since. 0: it never
            was, and all is known.
        sheet: bullets whose past is forgotten, as they were at that version, and how all experiences stood then. What
            the entries up to that version still tell is not among it.
    """

    version: int = 0
    sheet: Sheet = field(default_factory=Sheet)


def replay(journal: Iterable[JournalEntry], *, start: Snapshot | None = None, until: int | None = None) -> Sheet:
    """The sheet that a journal leads to.

    The rules of the day on which an entry was written are not asked again: what was stored is stored.

    Args:
        journal: all entries of one namespace, oldest first.
        start: its snapshot; None where it was never compacted.
        until: the version after which to stop, not below that of the snapshot; None for the newest.

    Raises:
        StoreCorruptError: an entry holds an operation that cannot have taken effect.
    """
    replaying = Replaying(start)
    for entry in journal:
        if until is not None and entry.version > until:
            break
        replaying.step(entry)
    return replaying.sheet()


class Replaying:
    """A sheet on its way through a journal, changed in place: each step costs what its entry does."""

    def __init__(self, start: Snapshot | None = None) -> None:
        sheet = start.sheet if start else Sheet()
        self.bullets: dict[str, Bullet] = dict(sheet.bullets)
        self.standings: dict[str, Standing] = dict(sheet.standings)
        self.next_number = sheet.next_number

    def step(self, entry: JournalEntry) -> None:
        """Take the next entry in."""
        self.begin(entry)
        for operation in entry.operations:
            self.apply(operation, entry)

    def begin(self, entry: JournalEntry) -> None:
        """Take in what the next entry stored beside its operations."""
        for id in entry.experience_ids:
            self.standings.setdefault(id, Standing(id=id))  # a snapshot knows it as it stood later

    def apply(self, operation: Operation, entry: JournalEntry) -> list[tuple[Value | None, Value]]:
        """Take the next operation of an entry in; returns what it changed, before and after."""
        applied = apply_operations(
            [operation],
            self.bullets.get,
            self.standings.get,
            next_number=self.next_number,
            at=entry.at,
            replayed=True,
        )
        if applied.skipped:
            raise StoreCorruptError(
                f"Version {entry.version} of the journal holds an operation that cannot have taken effect "
                f"({applied.skipped[0]}). The file was changed by something else: restore a backup."
            )
        changed: list[tuple[Value | None, Value]] = [
            *((self.bullets.get(id), bullet) for id, bullet in applied.bullets.items()),
            *((self.standings.get(id), standing) for id, standing in applied.standings.items()),
        ]
        self.bullets.update(applied.bullets)
        self.standings.update(applied.standings)
        self.next_number = applied.next_number
        return changed

    def sheet(self) -> Sheet:
        """The sheet as it is now."""
        return Sheet(_ordered(self.bullets), self.next_number, _ordered(self.standings))


def _ordered(values: Mapping[str, T]) -> dict[str, T]:
    return dict(sorted(values.items(), key=lambda pair: number_of(pair[0]) or 0))
