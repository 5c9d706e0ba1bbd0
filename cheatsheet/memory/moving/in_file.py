"""A memory file as the source or the target of a move."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from cheatsheet.errors import SetupError
from cheatsheet.memory.moving.tables import AT_ONCE, KEYS, TABLES, Row, Source, parts
from cheatsheet.memory.sqlite.connections import Connections
from cheatsheet.memory.sqlite.rows import mark_of
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store import Progress
from cheatsheet.memory.upkeep.flaw import Flaw
from cheatsheet.memory.upkeep.verify import verify


class FileSource:
    """Reads a memory file; others may write to it meanwhile."""

    def __init__(self, path: str, *, timeout_s: float) -> None:
        if not Path(path).is_file():
            raise SetupError(f"There is no memory file {path}. Give the file, or the postgresql:// address, to move.")
        self.shown = path
        self._timeout_s = timeout_s
        self._connections = _connections(path, timeout_s)  # brings it to the newest schema
        self._open = ExitStack()

    def __enter__(self) -> Source:
        self._open.callback(self._connections.close)
        self._open.enter_context(self._connections.pinned())
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.close()

    def flaws(self) -> Sequence[Flaw]:
        with closing(SqliteStore(self.shown, busy_timeout_s=self._timeout_s)) as store:
            return verify(store)

    def count(self, table: str) -> int:
        with self._connections.read() as db:
            return _count(db, table)

    def rows(self, table: str) -> Iterator[Sequence[Row]]:
        with self._connections.read() as db:
            found = db.execute(f"SELECT * FROM {table} ORDER BY {', '.join(KEYS[table])}")
            while some := found.fetchmany(AT_ONCE):
                yield [_row(table, row) for row in some]


class FileTarget:
    """Fills a memory file, which is made where it is not there."""

    def __init__(self, path: str, *, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s

    def fill(self, source: Source, told: Progress) -> None:
        with closing(_connections(self._path, self._timeout_s)) as connections, connections.write() as db:
            if any(_count(db, table) for table in TABLES):
                raise SetupError(f"{self._path} holds a memory already. Move to a file that is not there yet.")
            for table, rows in parts(source, told):
                columns = TABLES[table]
                marks = ", ".join("?" * len(columns))
                db.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)


def _connections(path: str, timeout_s: float) -> Connections:
    return Connections(path, synchronous="full", busy_timeout_s=timeout_s)


def _count(db: sqlite3.Connection, table: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _row(table: str, row: sqlite3.Row) -> Row:
    return tuple(mark_of(row) if column == "mark" else row[column] for column in TABLES[table])
