"""The memory in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from cheatsheet.errors import OperationError
from cheatsheet.memory.apply import Applied, Limits, apply_operations, from_experience
from cheatsheet.memory.bullet import Bullet, Status, number_of
from cheatsheet.memory.connections import IN_MEMORY, Connections, Synchronous
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.journal import Change, Committed, JournalEntry
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.rows import (
    BULLET_COLUMNS,
    bullet_from_row,
    bullet_to_row,
    dump,
    entry_from_row,
    experience_from_json,
    experience_id,
    operations_to_json,
    to_micros,
)
from cheatsheet.memory.sqlite_vectors import SqliteVectors
from cheatsheet.memory.store import Then, Touched
from cheatsheet.memory.view import BulletOrder

_RECENT = "ifnull(last_used_at, created_at)"


class SqliteStore(SqliteVectors):
    """Keeps memories in a SQLite file with a write-ahead log; see `MemoryStore` for the promises K1 to K7.

    Args:
        path: the file, created with its folder when it is not there, or `:memory:`.
        limits: what a bullet may be.
        synchronous: `full` waits for the disk at every commit, so that a commit survives a loss of power;
            `normal` survives the death of the process, but power loss may undo the newest commits.
        busy_timeout_s: how long to wait for other processes that write.

    Raises:
        StoreCorruptError, StoreVersionError, StoreReadOnlyError: the file cannot be used; it is not changed.
    """

    def __init__(
        self,
        path: str | Path = IN_MEMORY,
        *,
        limits: Limits | None = None,
        synchronous: Synchronous = "full",
        busy_timeout_s: float = 30.0,
    ) -> None:
        connections = Connections(str(path), synchronous=synchronous, busy_timeout_s=busy_timeout_s)
        super().__init__(connections)
        self.path = str(path)
        self._limits = limits or Limits()

    @property
    def read_only(self) -> bool:
        """True when the file can be read but not written."""
        return self._connections.read_only

    # Writing

    def commit(self, namespace: str, change: Change, *, then: Then | None = None) -> Committed:
        """Store a change and its journal entry in one transaction.

        Args:
            then: asked for more operations when those of the change are applied; it reads the memory as it is then,
                and what it returns joins the same entry.

        Raises:
            OperationError: a change with this `turn_id` is already in the journal.
            StoreReadOnlyError, StoreBusyError, StoreError: nothing was stored.
        """
        with self._connections.write() as db:
            space = _namespace_row(db, namespace)
            _check_new(db, space["id"], change.turn_id)
            version = _write_journal(db, space, change)
            applied = self._apply(db, space["id"], _sourced(space, change), space["next_bullet"], change.at, version)
            _write_experience(db, space, change, version)
            more = tuple(then()) if then else ()
            followed = self._apply(db, space["id"], more, applied.next_number, change.at, version)
            entry = _complete_journal(db, space, change, version, applied, followed)
            db.execute(
                "UPDATE namespaces SET next_bullet = ?, next_experience = next_experience + ? WHERE id = ?",
                (followed.next_number, change.experience is not None, space["id"]),
            )
        return Committed(entry, tuple(applied.skipped + followed.skipped), tuple(followed.operations))

    def _apply(
        self,
        db: sqlite3.Connection,
        space: int,
        operations: Iterable[Operation],
        number: int,
        at: datetime,
        version: int,
    ) -> Applied:
        applied = apply_operations(
            operations, lambda id: _find(db, space, id), next_number=number, at=at, limits=self._limits
        )
        _write_bullets(db, space, applied.bullets.values(), version)
        return applied

    # Reading

    def version(self, namespace: str) -> int:
        return self._value("SELECT max(version) FROM journal WHERE namespace_id = :ns", namespace) or 0

    def namespaces(self) -> Sequence[str]:
        with self._connections.read() as db:
            return [name for (name,) in db.execute("SELECT name FROM namespaces ORDER BY name")]

    def bullet(self, namespace: str, id: str) -> Bullet | None:
        bullet = self.bullets_by_number(namespace, [number_of(id) or 0]).get(number_of(id) or 0)
        return bullet if bullet is not None and bullet.id == id else None

    def bullets(
        self,
        namespace: str,
        *,
        status: Status | None = "active",
        section: str | None = None,
        order: BulletOrder = "id",
        limit: int | None = None,
        harmful_weight: float = 1.0,
    ) -> Sequence[Bullet]:
        conditions = ["namespace_id = :ns"]
        conditions += ["status = :status"] if status else []
        conditions += ["section = :section"] if section else []
        conditions += ["expires_at IS NOT NULL"] if order == "expiring" else []
        rows = self._rows(
            f"SELECT * FROM bullets WHERE {' AND '.join(conditions)} ORDER BY {_order(order, harmful_weight)} LIMIT :n",
            namespace,
            status=status,
            section=section,
            weight=harmful_weight,
            n=-1 if limit is None else limit,
        )
        return [bullet_from_row(row) for row in rows]

    def bullets_by_number(self, namespace: str, numbers: Iterable[int]) -> Mapping[int, Bullet]:
        rows = self._rows(f"SELECT * FROM bullets WHERE namespace_id = :ns AND number IN ({_ints(numbers)})", namespace)
        return {row["number"]: bullet_from_row(row) for row in rows}

    def count_bullets(self, namespace: str, status: Status | None = "active") -> int:
        condition = "" if status is None else "AND status = :status"
        query = f"SELECT count(*) FROM bullets WHERE namespace_id = :ns {condition}"
        return int(self._value(query, namespace, status=status))

    def sheet_tokens(self, namespace: str) -> int:
        query = "SELECT ifnull(sum(tokens), 0) FROM bullets WHERE namespace_id = :ns AND status = 'active'"
        return int(self._value(query, namespace))

    def experience(self, namespace: str, id: str) -> Experience | None:
        found = self.experiences_by_number(namespace, [number_of(id) or 0]).get(number_of(id) or 0)
        return found if found is not None and found.id == id else None

    def experiences(self, namespace: str, *, limit: int | None = None) -> Sequence[Experience]:
        query = "SELECT data FROM experiences WHERE namespace_id = :ns ORDER BY number DESC LIMIT :n"
        rows = self._rows(query, namespace, n=-1 if limit is None else limit)
        return [experience_from_json(row["data"]) for row in reversed(rows)]

    def experiences_by_number(self, namespace: str, numbers: Iterable[int]) -> Mapping[int, Experience]:
        query = f"SELECT number, data FROM experiences WHERE namespace_id = :ns AND number IN ({_ints(numbers)})"
        return {row["number"]: experience_from_json(row["data"]) for row in self._rows(query, namespace)}

    def count_experiences(self, namespace: str) -> int:
        return int(self._value("SELECT count(*) FROM experiences WHERE namespace_id = :ns", namespace))

    def journal(
        self, namespace: str, *, after: int = 0, limit: int | None = None, newest_first: bool = False
    ) -> Sequence[JournalEntry]:
        direction = "DESC" if newest_first else "ASC"
        query = (
            f"SELECT * FROM journal WHERE namespace_id = :ns AND version > :after ORDER BY version {direction} LIMIT :n"
        )
        rows = self._rows(query, namespace, after=after, n=-1 if limit is None else limit)
        return [entry_from_row(row) for row in rows]

    def entry_of_turn(self, namespace: str, turn_id: str) -> JournalEntry | None:
        query = "SELECT * FROM journal WHERE namespace_id = :ns AND turn_id = :turn AND turn_id <> ''"
        rows = self._rows(query, namespace, turn=turn_id)
        return entry_from_row(rows[0]) if rows else None

    def touched(self, namespace: str, *, after: int) -> Touched:
        # The version is read first: a change that comes in between is seen again at the next call, not missed.
        version = self.version(namespace)
        if version <= after:
            return Touched(version, (), ())
        bullets = self._rows(
            "SELECT number, content, status FROM bullets WHERE namespace_id = :ns AND version > :after ORDER BY number",
            namespace,
            after=after,
        )
        experiences = self._rows(
            "SELECT number, query FROM experiences WHERE namespace_id = :ns AND version > :after ORDER BY number",
            namespace,
            after=after,
        )
        return Touched(
            version,
            [(row["number"], row["content"], row["status"] == "active") for row in bullets],
            [(row["number"], row["query"]) for row in experiences],
        )

    def close(self) -> None:
        self._connections.close()

    def _rows(self, query: str, namespace: str, **values: Any) -> list[sqlite3.Row]:
        with self._connections.read() as db:
            found = db.execute("SELECT id FROM namespaces WHERE name = ?", (namespace,)).fetchone()
            return db.execute(query, values | {"ns": found["id"] if found else None}).fetchall()

    def _value(self, query: str, namespace: str, **values: Any) -> Any:
        return self._rows(query, namespace, **values)[0][0]


def _order(order: BulletOrder, harmful_weight: float) -> str:
    # With a weight of 1 the words are those of the index bullets_by_utility, so that it is used.
    utility = "(helpful - harmful)" if harmful_weight == 1 else "(helpful - :weight * harmful)"
    orders: dict[BulletOrder, str] = {
        "id": "number",
        "utility": f"{utility} DESC, ({_RECENT}) DESC, number",
        "worst": f"{utility}, ({_RECENT}), number DESC",
        "recent": "updated_at DESC, number",
        "expiring": "expires_at, number",
    }
    return orders[order]


def _ints(numbers: Iterable[int]) -> str:
    return ",".join(str(int(number)) for number in numbers)


def _namespace_row(db: sqlite3.Connection, namespace: str) -> sqlite3.Row:
    db.execute("INSERT OR IGNORE INTO namespaces (name) VALUES (?)", (namespace,))
    row: sqlite3.Row = db.execute("SELECT * FROM namespaces WHERE name = ?", (namespace,)).fetchone()
    return row


def _check_new(db: sqlite3.Connection, space: int, turn_id: str) -> None:
    query = "SELECT 1 FROM journal WHERE namespace_id = ? AND turn_id = ?"
    if turn_id and db.execute(query, (space, turn_id)).fetchone():
        raise OperationError(f"The turn {turn_id!r} was learnt before; a turn is learnt once. Give a new turn_id.")


def _find(db: sqlite3.Connection, space: int, id: str) -> Bullet | None:
    query = "SELECT * FROM bullets WHERE namespace_id = ? AND number = ? AND id = ?"
    row = db.execute(query, (space, number_of(id), id)).fetchone()
    return bullet_from_row(row) if row else None


def _write_journal(db: sqlite3.Connection, space: sqlite3.Row, change: Change) -> int:
    """Write the entry without its operations, and return its version."""
    cursor = db.execute(
        "INSERT INTO journal (namespace_id, at, cause, turn_id, mode, model, operations, experience_id, record, notes) "
        "VALUES (?, ?, ?, ?, ?, ?, '[]', ?, ?, '[]')",
        (
            space["id"],
            to_micros(change.at),
            change.cause,
            change.turn_id,
            change.mode,
            change.model,
            _new_experience_id(space, change),
            None if change.record is None else dump(change.record),
        ),
    )
    return cursor.lastrowid or 0


def _complete_journal(
    db: sqlite3.Connection, space: sqlite3.Row, change: Change, version: int, applied: Applied, followed: Applied
) -> JournalEntry:
    operations = (*applied.operations, *followed.operations)
    notes = (*change.notes, *applied.skipped, *followed.skipped)
    db.execute(
        "UPDATE journal SET operations = ?, notes = ? WHERE version = ?",
        (operations_to_json(operations), dump(notes), version),
    )
    return JournalEntry(
        version=version,
        operations=operations,
        experience_id=_new_experience_id(space, change),
        notes=notes,
        **change.model_dump(include={"at", "cause", "turn_id", "mode", "model", "record"}),
    )


def _sourced(space: sqlite3.Row, change: Change) -> Iterable[Operation]:
    id = _new_experience_id(space, change)
    return from_experience(change.operations, id) if id else change.operations


def _new_experience_id(space: sqlite3.Row, change: Change) -> str:
    return experience_id(space["next_experience"]) if change.experience else ""


def _write_bullets(db: sqlite3.Connection, space: int, bullets: Iterable[Bullet], version: int) -> None:
    columns = ("namespace_id", *BULLET_COLUMNS, "version")
    statement = (
        f"INSERT INTO bullets ({', '.join(columns)}) VALUES ({', '.join(':' + name for name in columns)}) "
        f"ON CONFLICT (namespace_id, number) DO UPDATE SET {', '.join(f'{name} = :{name}' for name in columns[1:])}"
    )
    db.executemany(
        statement, (bullet_to_row(bullet) | {"namespace_id": space, "version": version} for bullet in bullets)
    )


def _write_experience(db: sqlite3.Connection, space: sqlite3.Row, change: Change, version: int) -> None:
    if change.experience is None:
        return
    stored = change.experience.model_copy(update={"id": _new_experience_id(space, change)})
    db.execute(
        "INSERT INTO experiences (namespace_id, number, query, data, version) VALUES (?, ?, ?, ?, ?)",
        (space["id"], space["next_experience"], stored.query, stored.model_dump_json(), version),
    )
