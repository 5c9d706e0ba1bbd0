"""A sheet: all bullets of one namespace as one value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from cheatsheet.memory.apply import Limits, apply_operations
from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.journal import JournalEntry
from cheatsheet.memory.operations import Operation


@dataclass(frozen=True)
class Sheet:
    """Bullets by id, in the order of their numbers; a change makes a new sheet.

    The sheet is what a store's tables are judged by: `replay(journal)` equals what the store holds.
    """

    bullets: Mapping[str, Bullet] = field(default_factory=dict)
    next_number: int = 1

    def __iter__(self) -> Iterator[Bullet]:
        return iter(self.bullets.values())

    def __len__(self) -> int:
        return len(self.bullets)

    def apply(self, operations: Iterable[Operation], *, at: datetime, limits: Limits | None = None) -> Sheet:
        """The sheet after these operations; those that cannot be applied change nothing."""
        applied = apply_operations(operations, self.bullets.get, next_number=self.next_number, at=at, limits=limits)
        merged = {**self.bullets, **applied.bullets}
        ordered = dict(sorted(merged.items(), key=lambda pair: number_of(pair[0]) or 0))
        return Sheet(ordered, applied.next_number)


def replay(journal: Iterable[JournalEntry]) -> Sheet:
    """The sheet that a journal leads to, from nothing.

    The limits of the day on which an entry was written are not asked again: what was stored is stored.
    """
    boundless = Limits(max_bullet_chars=2**63)
    sheet = Sheet()
    for entry in journal:
        sheet = sheet.apply(entry.operations, at=entry.at, limits=boundless)
    return sheet
