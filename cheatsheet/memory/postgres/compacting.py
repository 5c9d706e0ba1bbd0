"""Snapshots and compacted journals in the tables of a PostgreSQL store."""

from __future__ import annotations

import json

from cheatsheet.memory.bullet import number_of
from cheatsheet.memory.history.compaction import Compaction
from cheatsheet.memory.history.sheet import Sheet, Snapshot
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.rows import as_columns
from cheatsheet.memory.postgres.server import Server
from cheatsheet.memory.sqlite.rows import (
    STANDING_COLUMNS,
    bullet_from_row,
    bullet_to_row,
    dump,
    operations_to_json,
    standing_from_row,
    to_micros,
)


def read_snapshot(server: Server, name: str) -> Snapshot:
    """The snapshot of a namespace; an empty one where its journal was never compacted.

    Args:
        name: of the namespace, as its column holds it.
    """
    query = "SELECT snapshots.* FROM snapshots JOIN namespaces ON namespaces.id = namespace_id WHERE name = %s"
    rows = server.rows(query, (name,))
    if not rows:
        return Snapshot()
    space = (rows[0]["namespace_id"],)
    bullets = [
        bullet_from_row(json.loads(row["data"]))
        for row in server.rows("SELECT data FROM snapshot_bullets WHERE namespace_id = %s ORDER BY number", space)
    ]
    query = f"SELECT {STANDING_COLUMNS} FROM snapshot_experiences WHERE namespace_id = %s ORDER BY number"
    standings = [standing_from_row(row) for row in server.rows(query, space)]
    sheet = Sheet(
        {bullet.id: bullet for bullet in bullets},
        rows[0]["next_bullet"],
        {standing.id: standing for standing in standings},
    )
    return Snapshot(rows[0]["version"], sheet)


def write_compaction(db: Db, space: int, compaction: Compaction) -> None:
    """Rewrite the journal of a namespace and its snapshot, within the caller's transaction; marks stay."""
    db.execute("DELETE FROM journal WHERE version = ANY(%s::bigint[])", (list(compaction.gone),))
    changed = [
        {"version": entry.version, "operations": operations_to_json(entry.operations), "notes": dump(entry.notes)}
        for entry in compaction.changed
    ]
    if changed:
        db.execute(
            "UPDATE journal SET operations = new.operations, notes = new.notes "
            "FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS new (version, operations, notes) "
            "WHERE journal.version = new.version",
            as_columns(changed),
        )
    _put_snapshot(db, space, compaction.snapshot)


def _put_snapshot(db: Db, space: int, snapshot: Snapshot) -> None:
    for table in ("snapshot_bullets", "snapshot_experiences", "snapshots"):
        db.execute(f"DELETE FROM {table} WHERE namespace_id = %s", (space,))
    sheet = snapshot.sheet
    db.execute("INSERT INTO snapshots VALUES (%s, %s, %s)", (space, snapshot.version, sheet.next_number))
    bullets = [{"number": number_of(bullet.id), "data": dump(bullet_to_row(bullet))} for bullet in sheet]
    if bullets:
        rows = "unnest(%s::bigint[], %s::text[]) AS new (number, data)"
        query = f"INSERT INTO snapshot_bullets SELECT %s, number, data FROM {rows}"
        db.execute(query, (space, *as_columns(bullets)))
    standings = [
        {
            "number": number_of(standing.id),
            "status": standing.status,
            "uses": standing.uses,
            "used": None if standing.last_used_at is None else to_micros(standing.last_used_at),
        }
        for standing in sheet.standings.values()
    ]
    if standings:
        rows = "unnest(%s::bigint[], %s::text[], %s::bigint[], %s::bigint[]) AS new (number, status, uses, used)"
        query = f"INSERT INTO snapshot_experiences SELECT %s, number, status, uses, used FROM {rows}"
        db.execute(query, (space, *as_columns(standings)))
