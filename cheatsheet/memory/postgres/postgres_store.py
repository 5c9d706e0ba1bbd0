"""The memory in one schema of a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal
from uuid import uuid4

from cheatsheet.memory.apply import Limits
from cheatsheet.memory.bullet import Bullet, Status, number_of
from cheatsheet.memory.experience import Experience, ExperienceStatus, Standing
from cheatsheet.memory.history.journal import Change, Committed, JournalEntry
from cheatsheet.memory.postgres.address import read_address
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.listening import Listener, OnCommit
from cheatsheet.memory.postgres.postgres_upkeep import PostgresUpkeep
from cheatsheet.memory.postgres.rows import BULLET_READ, from_bullet_row, from_entry_row
from cheatsheet.memory.postgres.server import Server
from cheatsheet.memory.postgres.space import lock_space
from cheatsheet.memory.postgres.texts import held, told
from cheatsheet.memory.postgres.words import matching
from cheatsheet.memory.postgres.writing import is_stored, write_change
from cheatsheet.memory.sqlite.rows import STANDING_COLUMNS, experience_from_json, standing_from_row
from cheatsheet.memory.store import Revise, Then, Touched
from cheatsheet.memory.view import BulletOrder, ExperienceOrder

_RECENT = "coalesce(last_used_at, created_at)"
_SPACE = "(SELECT id FROM namespaces WHERE name = %(space)s)"
_AMONG = "number = ANY(%(numbers)s::bigint[])"


class PostgresStore(PostgresUpkeep):
    """Keeps memories in a PostgreSQL database, for many processes on many machines; see `MemoryStore` for the promises.

    Everything lies in one schema, so that several memories, and other programs, can share a database. A transaction
    that a restart, a failover or other writers interrupt is tried again for `timeout_s`. Where the answer to a commit
    is lost, the store looks whether the entry is there before it tries again: nothing is stored twice.

    Args:
        url: `postgresql://USER:PASSWORD@HOST/DATABASE`, with `?schema=NAME` for another schema than `cheatsheet`, and
            with whatever else libpq understands.
        limits: what a bullet may be.
        timeout_s: how long to wait for the server, for a connection, and for others that write.
        max_connections: most connections at once, beside one that listens.

    Raises:
        SettingsError: the address cannot be read.
        StoreUnavailableError: the server cannot be reached.
        StoreVersionError, StoreCorruptError, StoreError: the schema cannot be used; it is not changed.
    """

    def __init__(
        self, url: str, *, limits: Limits | None = None, timeout_s: float = 30.0, max_connections: int = 8
    ) -> None:
        address = read_address(url, timeout_s=timeout_s)
        super().__init__(Server(address, timeout_s=timeout_s, max_connections=max_connections))
        self.address = address.shown
        self._limits = limits or Limits()
        self._listener = Listener(self._server)

    @property
    def server(self) -> Server:
        """The connections, for what searches on the server."""
        return self._server

    @property
    def read_only(self) -> bool:
        """True when the server takes no changes, as a standby."""
        return self._server.read_only

    @property
    def reads_apart(self) -> bool:
        return self._server.reads_apart

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
                Where a transaction has to be tried again, it is asked again.
            then: asked for more operations when those of the change are applied; it reads the memory as it is then,
                and what it returns joins the same entry. It is asked again as `revise` is.
            beside: changes of the same transaction, each with an entry of its own that stands before the change's.

        Raises:
            OperationError: a change with this `turn_id` is already in the journal.
            StoreReadOnlyError, StoreBusyError, StoreError: nothing was stored.
            StoreUnavailableError: the server is away; a note says so where it cannot be known what was stored.
        """
        mark = uuid4().hex

        def write(db: Db, unanswered: Sequence[Committed]) -> Committed:
            space = lock_space(db, namespace)
            for committed in unanswered:
                if is_stored(db, committed, mark):
                    return committed
            proposed = revise(change) if revise and space.version != seen else change
            before = [write_change(db, space, other, limits=self._limits) for other in beside]
            committed = write_change(db, space, proposed, mark=mark, then=then, limits=self._limits)
            return replace(
                committed, beside=tuple(other.entry for other in before), skipped=_skipped(*before, committed)
            )

        with self._server.turn(namespace):
            return self._server.transaction(
                write, after=lambda db, committed: self._listener.announce(db, namespace, committed.entry.version)
            )

    def on_commit(self, namespace: str, call: OnCommit) -> None:
        """Have `call` called with the version soon after anybody committed to the namespace.

        It is called in a thread of the store's, and only as a hint: calls may come late, be merged into one, or be
        missed while the connection is lost. What has to be right asks for `version`.
        """
        self._listener.add(namespace, call)

    def off_commit(self, call: OnCommit) -> None:
        """Have it called no more."""
        self._listener.remove(call)

    # Reading

    def version(self, namespace: str) -> int:
        rows = self._server.rows("SELECT version FROM namespaces WHERE name = %s", (held(namespace),))
        return int(rows[0]["version"]) if rows else 0

    def namespaces(self) -> Sequence[str]:
        return [told(row["name"]) for row in self._server.rows("SELECT name FROM namespaces ORDER BY name")]

    def bullet(self, namespace: str, id: str) -> Bullet | None:
        number = number_of(id) or 0
        bullet = self.bullets_by_number(namespace, [number]).get(number)
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
        conditions = [f"namespace_id = {_SPACE}"]
        conditions += ["status = %(status)s"] if status else []
        conditions += ["left(section, 100) = left(%(section)s::text, 100) AND section = %(section)s"] if section else []
        conditions += ["expires_at IS NOT NULL"] if order == "expiring" else []
        rows = self._rows(
            f"SELECT {BULLET_READ} FROM bullets WHERE {' AND '.join(conditions)} "
            f"ORDER BY {_order(order, harmful_weight)} LIMIT %(limit)s",
            namespace,
            status=status,
            section=held(section or ""),
            weight=harmful_weight,
            limit=limit,
        )
        return [from_bullet_row(row) for row in rows]

    def bullets_by_number(self, namespace: str, numbers: Iterable[int]) -> Mapping[int, Bullet]:
        query = f"SELECT {BULLET_READ} FROM bullets WHERE namespace_id = {_SPACE} AND {_AMONG}"
        rows = self._rows(query, namespace, numbers=list(numbers))
        return {row["number"]: from_bullet_row(row) for row in rows}

    def count_bullets(self, namespace: str, status: Status | None = "active") -> int:
        return self._count("bullets", namespace, status)

    def sheet_tokens(self, namespace: str) -> int:
        return self._sum("active_tokens", namespace)

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
        condition = "AND status = %(status)s" if status else ""
        by = "number DESC" if order == "oldest" else f"({_RECENT}), number"
        query = f"SELECT data FROM experiences WHERE namespace_id = {_SPACE} {condition} ORDER BY {by} LIMIT %(limit)s"
        rows = self._rows(query, namespace, status=status, limit=limit)
        found = [experience_from_json(row["data"]) for row in rows]
        return found[::-1] if order == "oldest" else found

    def experiences_by_number(
        self, namespace: str, numbers: Iterable[int], *, status: ExperienceStatus | None = None
    ) -> Mapping[int, Experience]:
        condition = "AND status = %(status)s" if status else ""
        query = f"SELECT number, data FROM experiences WHERE namespace_id = {_SPACE} AND {_AMONG} {condition}"
        rows = self._rows(query, namespace, status=status, numbers=list(numbers))
        return {row["number"]: experience_from_json(row["data"]) for row in rows}

    def count_experiences(self, namespace: str, status: ExperienceStatus | None = "active") -> int:
        return self._count("experiences", namespace, status)

    def standings(self, namespace: str) -> Mapping[str, Standing]:
        query = f"SELECT {STANDING_COLUMNS} FROM experiences WHERE namespace_id = {_SPACE} ORDER BY number"
        return {standing.id: standing for standing in map(standing_from_row, self._rows(query, namespace))}

    def journal(
        self,
        namespace: str,
        *,
        after: int = 0,
        until: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Sequence[JournalEntry]:
        reach = "" if until is None else "AND version <= %(until)s"
        query = (
            f"SELECT * FROM journal WHERE namespace_id = {_SPACE} AND version > %(after)s {reach} "
            f"ORDER BY version {'DESC' if newest_first else 'ASC'} LIMIT %(limit)s"
        )
        rows = self._rows(query, namespace, after=after, until=until, limit=limit)
        return [from_entry_row(row) for row in rows]

    def entry_of_turn(self, namespace: str, turn_id: str) -> JournalEntry | None:
        query = f"SELECT * FROM journal WHERE namespace_id = {_SPACE} AND turn_id = %(turn)s AND turn_id <> ''"
        rows = self._rows(query, namespace, turn=held(turn_id))
        return from_entry_row(rows[0]) if rows else None

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
        query = f"SELECT mark FROM journal WHERE namespace_id = {_SPACE} AND version = %(version)s"
        rows = self._rows(query, namespace, version=version)
        return str(rows[0]["mark"]) if rows else ""

    def matching_bullets(self, namespace: str, text: str, limit: int) -> Sequence[int]:
        return matching(self._server, "bullets", namespace, text, limit)

    def matching_experiences(self, namespace: str, text: str, limit: int) -> Sequence[int]:
        return matching(self._server, "experiences", namespace, text, limit)

    def close(self) -> None:
        self._server.close()  # first, so that nobody goes on trying to reach a server that is away
        self._listener.close()

    def _touched(
        self, table: Literal["bullets", "experiences"], text: str, namespace: str, after: int
    ) -> list[tuple[int, str, bool]]:
        query = (
            f"SELECT number, {text} AS text, status FROM {table} "
            f"WHERE namespace_id = {_SPACE} AND version > %(after)s ORDER BY number"
        )
        rows = self._rows(query, namespace, after=after)
        return [(row["number"], told(row["text"]), row["status"] == "active") for row in rows]

    def _count(self, table: Literal["bullets", "experiences"], namespace: str, status: str | None) -> int:
        # How many are active is kept beside the namespace: counting rows takes longer the more there are.
        if status == "active":
            return self._sum(f"active_{table}", namespace)
        condition = "AND status = %(status)s" if status else ""
        query = f"SELECT count(*) AS rows FROM {table} WHERE namespace_id = {_SPACE} {condition}"
        return int(self._rows(query, namespace, status=status)[0]["rows"])

    def _sum(self, column: str, namespace: str) -> int:
        rows = self._server.rows(f"SELECT {column} AS sum FROM namespaces WHERE name = %s", (held(namespace),))
        return int(rows[0]["sum"]) if rows else 0

    def _rows(self, query: str, namespace: str, **values: Any) -> list[Any]:
        return self._server.rows(query, values | {"space": held(namespace)})


def _skipped(*commits: Committed) -> tuple[str, ...]:
    return tuple(sentence for committed in commits for sentence in committed.skipped)


def _order(order: BulletOrder, harmful_weight: float) -> str:
    # With a weight of 1 the words are those of the index bullets_by_utility, so that it is used.
    utility = "(helpful - harmful)" if harmful_weight == 1 else "(helpful - %(weight)s::float8 * harmful)"
    orders: dict[BulletOrder, str] = {
        "id": "number",
        "utility": f"{utility} DESC, ({_RECENT}) DESC, number",
        "worst": f"{utility}, ({_RECENT}), number DESC",
        "recent": "updated_at DESC, number",
        "expiring": "expires_at, number",
    }
    return orders[order]
