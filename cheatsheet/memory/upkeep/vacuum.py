"""Vacuum: the journal becomes shorter, and what nobody needs goes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from cheatsheet.errors import StoreBusyError
from cheatsheet.memory.history.compaction import Compaction, compaction_of
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.history.past import History
from cheatsheet.memory.history.sheet import Sheet
from cheatsheet.memory.store import MemoryStore, Shrunk
from cheatsheet.memory.upkeep.check_vectors import unusable_vectors

KEPT_DAYS: Final = 30.0
"""For so long the whole past is kept where nothing else is said."""

_TRIES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuumed:
    """What a vacuum has done, or would do.

    Attributes:
        since: the version since which the past of the memory is known; 0: all of it is.
        entries, operations: how many of the journal went.
        journal_bytes: how much shorter the journal became with its snapshot, as JSON.
        vectors: embeddings that went, because no text needs them or no embedder can have given them.
        bytes_before, bytes_after: of the whole store; equal where it is only told what would be done.
        dry_run: whether it was only told what would be done.
    """

    since: int
    entries: int
    operations: int
    journal_bytes: int
    vectors: int
    bytes_before: int
    bytes_after: int
    dry_run: bool = False


def since_days(history: History, days: float | None, *, now: datetime) -> int:
    """The version from which on the past is kept for so many days; `KEPT_DAYS` for None."""
    return history.reached_by(now - timedelta(days=KEPT_DAYS if days is None else days))


def vacuum(store: MemoryStore, namespace: str, version: int, *, dry_run: bool = False) -> Vacuumed:
    """Forget what no bullet that lives needs of the past up to a version (`compaction_of`), and embeddings of no text.

    The memory as it is, and as it was from that version on, does not change. A crash leaves the state before or after.

    Args:
        version: as `History.version_at` gives it; 0 leaves the journal as it is.

    Raises:
        StoreBusyError: bullets that are out of service came back again and again while this looked at them.
    """
    history, compaction = _compacted(store, namespace, version, dry_run=dry_run)
    done = compaction is not None and compaction.worth_it
    shrunk = store.shrink(unusable_vectors(store), dry_run=dry_run)
    return _told(history, compaction if done else None, shrunk, dry_run=dry_run)


def _compacted(store: MemoryStore, namespace: str, version: int, *, dry_run: bool) -> tuple[History, Compaction | None]:
    for _ in range(_TRIES):
        history = History.of(store, namespace)
        if version <= history.snapshot.version:
            return history, None
        compaction = compaction_of(history, version)
        if dry_run or not compaction.worth_it or _stored(store, namespace, history, compaction):
            return history, compaction
    raise StoreBusyError(
        "What was to be forgotten came back to life while the journal was read, five times. Try again when less is "
        "written to the memory, or give an earlier version."
    )


def _stored(store: MemoryStore, namespace: str, history: History, compaction: Compaction) -> bool:
    def still() -> bool:
        same = store.snapshot(namespace).version == history.snapshot.version
        return same and compaction.fits(store.journal(namespace, after=compaction.seen))

    return store.compact(namespace, compaction, still=still)


def _told(history: History, compaction: Compaction | None, shrunk: Shrunk, *, dry_run: bool) -> Vacuumed:
    return Vacuumed(
        since=compaction.snapshot.version if compaction else history.snapshot.version,
        entries=len(compaction.gone) if compaction else 0,
        operations=compaction.operations if compaction else 0,
        journal_bytes=_bytes_saved(history, compaction) if compaction else 0,
        vectors=shrunk.vectors,
        bytes_before=shrunk.bytes_before,
        bytes_after=shrunk.bytes_after,
        dry_run=dry_run,
    )


def _bytes_saved(history: History, compaction: Compaction) -> int:
    changed = {entry.version: entry for entry in compaction.changed}
    gone = set(compaction.gone)
    before = sum(_size(entry) for entry in history.journal if entry.version in gone or entry.version in changed)
    kept = sum(map(_size, compaction.changed))
    return before - kept - _size_of(compaction.snapshot.sheet) + _size_of(history.snapshot.sheet)


def _size(entry: JournalEntry) -> int:
    return len(entry.model_dump_json(exclude_defaults=True).encode())


def _size_of(sheet: Sheet) -> int:
    bullets = sum(len(bullet.model_dump_json().encode()) for bullet in sheet)
    return bullets + sum(len(standing.model_dump_json()) for standing in sheet.standings.values())
