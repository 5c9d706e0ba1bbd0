"""Snapshots and compacted journals in the tables of a SQLite store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from cheatsheet.memory.bullet import number_of
from cheatsheet.memory.history.compaction import Compaction
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.history.sheet import Sheet, Snapshot
from cheatsheet.memory.sqlite.rows import (
    STANDING_COLUMNS,
    bullet_from_row,
    bullet_to_row,
    dump,
    mark_of,
    operations_to_json,
    standing_from_row,
    to_micros,
)


def read_snapshot(db: sqlite3.Connection, space: int) -> Snapshot:
    """The snapshot of a namespace; an empty one where its journal was never compacted."""
    row = db.execute("SELECT version, next_bullet FROM snapshots WHERE namespace_id = ?", (space,)).fetchone()
    if row is None:
        return Snapshot()
    bullets = map(
        bullet_from_row,
        (
            json.loads(data)
            for (data,) in db.execute(
                "SELECT data FROM snapshot_bullets WHERE namespace_id = ? ORDER BY number", (space,)
            )
        ),
    )
    standings = map(
        standing_from_row,
        db.execute(
            f"SELECT {STANDING_COLUMNS} FROM snapshot_experiences WHERE namespace_id = ? ORDER BY number", (space,)
        ),
    )
    sheet = Sheet(
        {bullet.id: bullet for bullet in bullets}, row["next_bullet"], {standing.id: standing for standing in standings}
    )
    return Snapshot(row["version"], sheet)


def write_compaction(db: sqlite3.Connection, space: int, compaction: Compaction) -> None:
    """Rewrite the journal of a namespace and its snapshot, within the caller's transaction."""
    db.executemany("DELETE FROM journal WHERE version = ?", ((version,) for version in compaction.gone))
    _rewrite(db, compaction.changed)
    _put_snapshot(db, space, compaction.snapshot)


def _rewrite(db: sqlite3.Connection, entries: Iterable[JournalEntry]) -> None:
    """Change entries; each keeps the mark that it had, by which others know it."""
    for entry in entries:
        row = db.execute("SELECT * FROM journal WHERE version = ?", (entry.version,)).fetchone()
        db.execute(
            "UPDATE journal SET mark = ?, operations = ?, notes = ? WHERE version = ?",
            (mark_of(row), operations_to_json(entry.operations), dump(entry.notes), entry.version),
        )


def _put_snapshot(db: sqlite3.Connection, space: int, snapshot: Snapshot) -> None:
    for table in ("snapshot_bullets", "snapshot_experiences", "snapshots"):
        db.execute(f"DELETE FROM {table} WHERE namespace_id = ?", (space,))
    sheet = snapshot.sheet
    db.execute("INSERT INTO snapshots VALUES (?, ?, ?)", (space, snapshot.version, sheet.next_number))
    db.executemany(
        "INSERT INTO snapshot_bullets VALUES (?, ?, ?)",
        ((space, number_of(bullet.id), dump(bullet_to_row(bullet))) for bullet in sheet),
    )
    db.executemany(
        "INSERT INTO snapshot_experiences VALUES (?, ?, ?, ?, ?)",
        (
            (
                space,
                number_of(standing.id),
                standing.status,
                standing.uses,
                None if standing.last_used_at is None else to_micros(standing.last_used_at),
            )
            for standing in sheet.standings.values()
        ),
    )
