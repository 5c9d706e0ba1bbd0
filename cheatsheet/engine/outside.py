"""Knowledge from outside, from time to time: the dose of something new that keeps a memory from hearing itself only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cheatsheet.engine.playbooks import entries_as_operations, new_only
from cheatsheet.errors import SetupError
from cheatsheet.memory.formats import Entry, Playbook
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.view import MemoryView

Refresh = Callable[[], Iterable[Draft]]
"""Brings what is known elsewhere now; what it brought before is passed over."""

_RECORD = "outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """A source of knowledge outside the memory.

    Attributes:
        name: of the source; it is among the sources of the bullets that it brings.
        refresh: brings it.
        refresh_after: how long what it brought is good for; it is asked again no sooner.
    """

    refresh: Refresh
    refresh_after: timedelta
    name: str = "outside"

    def __post_init__(self) -> None:
        if self.refresh_after <= timedelta(0):
            raise SetupError(f"refresh_after is {self.refresh_after}; it must be longer than nothing, such as a day.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What one refresh brought.

    Attributes:
        operations: what is new; may be empty.
        known: how much of it was brought before.
        record: to be stored with the change, also where nothing is new: it tells when the source was asked last.
    """

    operations: tuple[Add, ...]
    known: int
    record: dict[str, Any]


def due(last: datetime | None, now: datetime, interval: timedelta) -> bool:
    """Whether a source is to be asked again; a clock that was set back asks no sooner.

    Args:
        last: when it was asked last; None for never.
    """
    return last is None or now - last >= interval


def last_refresh(journal: Iterable[JournalEntry], name: str) -> datetime | None:
    """When the source of that name was asked last; None when never.

    Args:
        journal: its entries in any order, or the newest ones only.
    """
    asked = (entry.at for entry in journal if entry.cause == "import" and entry.record == record_of(name))
    return max(asked, default=None)


def record_of(name: str) -> dict[str, Any]:
    """The record by which a refresh is known in the journal."""
    return {_RECORD: name}


def bring(outside: Outside, memory: MemoryView | None) -> Brought:
    """Ask a source, and keep of what it says that which it did not say before.

    Raises:
        whatever `refresh` raises.
    """
    operations = drafts_as_operations(outside.refresh(), name=outside.name)
    fresh = new_only(operations, memory)
    return Brought(operations=fresh, known=len(operations) - len(fresh), record=record_of(outside.name))


def drafts_as_operations(drafts: Iterable[Draft], *, name: str) -> tuple[Add, ...]:
    """Each draft as a new bullet that names its source."""
    entries = tuple(Entry(draft=draft) for draft in drafts)
    return entries_as_operations(Playbook(format=_RECORD, entries=entries), source=name)
