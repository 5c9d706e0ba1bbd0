"""The memory in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from cheatsheet.memory.apply import Limits
from cheatsheet.memory.bullet import Bullet, Status, number_of
from cheatsheet.memory.experience import Experience, ExperienceStatus, Standing
from cheatsheet.memory.history.journal import Change, Committed, JournalEntry
from cheatsheet.memory.sqlite.connections import IN_MEMORY, Connections, Synchronous
from cheatsheet.memory.sqlite.damage import damage_told
from cheatsheet.memory.sqlite.rows import (
    STANDING_COLUMNS,
    bullet_from_row,
    entry_from_row,
    experience_from_json,
    mark_of,
    standing_from_row,
)
from cheatsheet.memory.sqlite.sqlite_upkeep import SqliteUpkeep
from cheatsheet.memory.sqlite.sqlite_words import matching
from cheatsheet.memory.sqlite.writing import write_change
from cheatsheet.memory.store import Revise, Then, Touched
from cheatsheet.memory.view import BulletOrder, ExperienceOrder

T = TypeVar("T")

_RECENT = "ifnull(last_used_at, created_at)"
_NAMESPACE = "(SELECT id FROM namespaces WHERE name = :name)"


class SqliteStore(SqliteUpkeep):
    """Keeps memories in a SQLite file with a write-ahead log; see `MemoryStore` for the promises K1 to K12.

    Args:
        path: the file, created with its folder when it is not there, or `:memory:`.
        limits: what a bullet may be.
        synchronous: `full`: a commit lies on the disk when it returns, and survives a loss of power. `normal`: it lies
            with the operating system, and survives the death of the process, however it dies; a loss of power or a
            crash of the whole machine may undo the newest commits, each of them whole, and damages nothing. Either way
            the log is moved into the file when the last process closes it.
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

    @property
    def reads_apart(self) -> bool:
        return self._connections.reads_apart

    # Writing

    def commit(
        self,
        namespace: str,
        change: Change,
        *,
        seen: int | None = None,
        revise: Revise | None = None,
        then: Then | None = None,
        beside: Sequence[Change] = (),
    ) -> Committed:
        """Store a change and its journal entry in one transaction.

        Args:
            seen: the version from which the change was made.
            revise: asked for another change where the memory has changed since `seen`; it reads the memory as it is.
            then: asked for more operations when those of the change are applied; it reads the memory as it is then,
                and what it returns joins the same entry.
            beside: changes of the same transaction, each with an entry of its own that stands before the change's.

        Raises:
            OperationError: a change with this `turn_id` is already in the journal.
            StoreReadOnlyError, StoreBusyError, StoreError: nothing was stored.
        """
        with self._connections.write() as db:
            if revise and self.version(namespace) != seen:
                change = revise(change)
            before = [write_change(db, namespace, other, limits=self._limits) for other in beside]
            committed = write_change(db, namespace, change, then=then, limits=self._limits)
            vectors = self._put_waiting(db)
        self._forget_waiting(vectors)
        return replace(committed, beside=tuple(other.entry for other in before), skipped=_skipped(*before, committed))

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
        return self._made(bullet_from_row, rows)

    def bullets_by_number(self, namespace: str, numbers: Iterable[int]) -> Mapping[int, Bullet]:
        wanted = _ints(numbers)
        if not wanted:
            return {}
        rows = self._rows(f"SELECT * FROM bullets WHERE namespace_id = :ns AND number IN ({wanted})", namespace)
        return dict(self._made(lambda row: (row["number"], bullet_from_row(row)), rows))

    def count_bullets(self, namespace: str, status: Status | None = "active") -> int:
        return self._count("bullets", namespace, status)

    def sheet_tokens(self, namespace: str) -> int:
        return int(self._value("SELECT max(active_tokens) FROM namespaces WHERE id = :ns", namespace) or 0)

    def experience(self, namespace: str, id: str, *, status: ExperienceStatus | None = None) -> Experience | None:
        number = number_of(id) or 0
        found = self.experiences_by_number(namespace, [number], status=status).get(number)
        return found if found is not None and found.id == id else None

    def experiences(
        self,
        namespace: str,
        *,
        status: ExperienceStatus | None = "active",
        order: ExperienceOrder = "oldest",
        limit: int | None = None,
    ) -> Sequence[Experience]:
        condition = "AND status = :status" if status else ""
        by = "number DESC" if order == "oldest" else f"({_RECENT}), number"
        query = f"SELECT data FROM experiences WHERE namespace_id = :ns {condition} ORDER BY {by} LIMIT :n"
        rows = self._rows(query, namespace, status=status, n=-1 if limit is None else limit)
        found = self._made(lambda row: experience_from_json(row["data"]), rows)
        return found[::-1] if order == "oldest" else found

    def experiences_by_number(
        self, namespace: str, numbers: Iterable[int], *, status: ExperienceStatus | None = None
    ) -> Mapping[int, Experience]:
        condition = "AND status = :status" if status else ""
        query = (
            f"SELECT number, data FROM experiences "
            f"WHERE namespace_id = :ns AND number IN ({_ints(numbers)}) {condition}"
        )
        rows = self._rows(query, namespace, status=status)
        return dict(self._made(lambda row: (row["number"], experience_from_json(row["data"])), rows))

    def count_experiences(self, namespace: str, status: ExperienceStatus | None = "active") -> int:
        return self._count("experiences", namespace, status)

    def standings(self, namespace: str) -> Mapping[str, Standing]:
        query = f"SELECT {STANDING_COLUMNS} FROM experiences WHERE namespace_id = :ns ORDER BY number"
        return {standing.id: standing for standing in self._made(standing_from_row, self._rows(query, namespace))}

    def journal(
        self,
        namespace: str,
        *,
        after: int = 0,
        until: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Sequence[JournalEntry]:
        reach = "" if until is None else "AND version <= :until"
        query = (
            f"SELECT * FROM journal WHERE namespace_id = :ns AND version > :after {reach} "
            f"ORDER BY version {'DESC' if newest_first else 'ASC'} LIMIT :n"
        )
        rows = self._rows(query, namespace, after=after, until=until, n=-1 if limit is None else limit)
        return self._made(entry_from_row, rows)

    def entry_of_turn(self, namespace: str, turn_id: str) -> JournalEntry | None:
        query = "SELECT * FROM journal WHERE namespace_id = :ns AND turn_id = :turn AND turn_id <> ''"
        rows = self._rows(query, namespace, turn=turn_id)
        return self._made(entry_from_row, rows)[0] if rows else None

    def touched(self, namespace: str, *, after: int) -> Touched:
        # The version is read first: a change that comes in between is seen again at the next call, not missed.
        version = self.version(namespace)
        if version <= after:
            return Touched(version, (), ())
        return Touched(
            version,
            self._touched("bullets", "content", namespace, after),
            self._touched("experiences", "query", namespace, after),
        )

    def mark(self, namespace: str, version: int) -> str:
        rows = self._rows("SELECT * FROM journal WHERE namespace_id = :ns AND version = :at", namespace, at=version)
        return mark_of(rows[0]) if rows else ""

    def matching_bullets(self, namespace: str, text: str, limit: int) -> Sequence[int]:
        return matching(self._connections, namespace, "bullets", text, limit)

    def matching_experiences(self, namespace: str, text: str, limit: int) -> Sequence[int]:
        return matching(self._connections, namespace, "experiences", text, limit)

    def close(self) -> None:
        try:
            self.store_waiting()
        finally:
            self._connections.close()

    def _count(self, table: Literal["bullets", "experiences"], namespace: str, status: str | None) -> int:
        # How many are active is kept beside the namespace: counting rows takes longer the more there are.
        if status == "active":
            return int(self._value(f"SELECT max(active_{table}) FROM namespaces WHERE id = :ns", namespace) or 0)
        condition = "AND status = :status" if status else ""
        query = f"SELECT count(*) FROM {table} WHERE namespace_id = :ns {condition}"
        return int(self._value(query, namespace, status=status))

    def _touched(
        self, table: Literal["bullets", "experiences"], text: str, namespace: str, after: int
    ) -> list[tuple[int, str, bool]]:
        query = (
            f"SELECT number, {text}, status = 'active' FROM {table} "
            f"WHERE namespace_id = {_NAMESPACE} AND version > :after ORDER BY number"
        )
        with self._connections.read() as db:
            rows = db.execute(query, {"name": namespace, "after": after})
            return [(number, words, bool(active)) for number, words, active in rows]

    def _rows(self, query: str, namespace: str, **values: Any) -> list[sqlite3.Row]:
        with self._connections.read() as db:
            return db.execute(query.replace(":ns", _NAMESPACE), {"name": namespace, **values}).fetchall()

    def _made(self, make: Callable[[sqlite3.Row], T], rows: Iterable[sqlite3.Row]) -> list[T]:
        with damage_told(self.path):
            return [make(row) for row in rows]

    def _value(self, query: str, namespace: str, **values: Any) -> Any:
        return self._rows(query, namespace, **values)[0][0]


def _skipped(*commits: Committed) -> tuple[str, ...]:
    return tuple(sentence for committed in commits for sentence in committed.skipped)


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
