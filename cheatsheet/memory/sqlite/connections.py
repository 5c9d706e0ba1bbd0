"""SQLite connections of one memory file: one that writes, and as many as are needed at once to read."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from cheatsheet.errors import (
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreReadOnlyError,
)
from cheatsheet.memory.sqlite.migrations import APPLICATION_ID, is_newest, migrate
from cheatsheet.safety.private import make_private_file, make_private_folder

Synchronous = Literal["full", "normal"]

IN_MEMORY = ":memory:"

_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class Connections:
    """Opens the file, hands out connections, and turns SQLite's errors into ours.

    Readers never wait for writers (write-ahead log). Writers of one process wait for each other on a lock, those of
    other processes inside SQLite for at most `busy_timeout_s`. A memory in RAM has one connection for all.
    """

    def __init__(self, path: str, *, synchronous: Synchronous, busy_timeout_s: float) -> None:
        self.path = path
        self.in_memory = path == IN_MEMORY
        self.read_only = False
        self._synchronous = synchronous
        self._timeout_s = busy_timeout_s
        self._write_lock = threading.RLock()
        self._idle: list[sqlite3.Connection] = []
        self._pool_lock = threading.Lock()
        self._closed = False
        self._writing: int | None = None
        with self._translated():
            self._writer = self._open_first()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection to read with; what is read in one block with several statements may see several versions.

        Inside a `write` block of the same thread it is the writing connection, which sees what was written so far.
        """
        if self.in_memory or self._writing == threading.get_ident():
            with self._write_lock, self._translated():
                self._check_open()
                yield self._writer
            return
        with self._translated():
            connection = self._reader()
            try:
                yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed at the end of the block, rolled back when the block raises."""
        with self._write_lock, self._translated():
            self._check_open()
            self._writer.execute("BEGIN IMMEDIATE")
            self._writing = threading.get_ident()
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
            finally:
                self._writing = None

    def close(self) -> None:
        """Close every connection; closing twice is closing once."""
        with self._write_lock, self._pool_lock:
            self._closed = True
            for connection in (*self._idle, self._writer):
                connection.close()
            self._idle.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"The memory {self.path} is closed. Open it again with cheatsheet.open(...).")

    def _open_first(self) -> sqlite3.Connection:
        if not self.in_memory:
            self._create_private()
        connection = self._connect()
        self._check_ours(connection)
        try:
            if not self.in_memory:
                connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection)
        except sqlite3.OperationalError as error:
            if _code(error) not in _READ_ONLY:
                raise
            if not is_newest(connection):
                raise StoreReadOnlyError(
                    f"The memory {self.path} was written by an older version and has to be brought up to date once, "
                    f"but it cannot be written. Make the file and its folder writable, or open a copy."
                ) from error
            self.read_only = True
        return connection

    def _create_private(self) -> None:
        """Make the file and its folder for their owner alone; rights stay as they are once they exist.

        SQLite gives the files that it keeps beside it (`-wal`, `-shm`) the rights of the file itself.
        """
        path = Path(self.path)
        try:
            make_private_folder(path.parent)
            make_private_file(path)
        except OSError as error:
            if path.is_file() and os.access(path, os.R_OK):
                return
            raise StoreReadOnlyError(
                f"Cannot create or open the memory {path}: {error.strerror}. Choose a file in a folder that you may "
                f"write to, or ':memory:'."
            ) from error

    def _check_ours(self, connection: sqlite3.Connection) -> None:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application_id != APPLICATION_ID:
            raise StoreCorruptError(
                f"{self.path} is a SQLite file of another program, not a memory of Cheatsheet. Choose another file."
            )

    def _reader(self) -> sqlite3.Connection:
        with self._pool_lock:
            self._check_open()
            if self._idle:
                return self._idle.pop()
        connection = self._connect()
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._pool_lock:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=self._timeout_s, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:
            self._check_open()
            raise
        except sqlite3.DatabaseError as error:
            raise _translate(error, self.path) from error


def _code(error: sqlite3.Error) -> int:
    # The low byte is the primary result code; the rest tells variants of it apart.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _translate(error: sqlite3.DatabaseError, path: str) -> StoreError | sqlite3.DatabaseError:
    code = _code(error)
    if code in _CORRUPT:
        return StoreCorruptError(
            f"{path} is not a memory of Cheatsheet, or is damaged ({error}). It was left as it is: restore a backup, "
            f"or move it away and start anew."
        )
    if code in _READ_ONLY:
        return StoreReadOnlyError(
            f"Cannot write the memory {path} ({error}). It can be read; to learn, make the file and its folder "
            f"writable."
        )
    if code in _BUSY:
        return StoreBusyError(
            f"The memory {path} is locked by another process ({error}). Try again, or raise busy_timeout_s."
        )
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StoreError(
            f"Cannot write the memory {path}: {error}. Nothing of this change was stored; free some space."
        )
    return error
