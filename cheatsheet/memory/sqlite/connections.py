"""SQLite connections of one memory file: one that writes, and as many as are needed at once to read."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import uniform
from typing import Literal

from cheatsheet.errors import StoreBusyError, StoreError, StoreReadOnlyError
from cheatsheet.memory.sqlite import forks
from cheatsheet.memory.sqlite.log_count import count_commit
from cheatsheet.memory.sqlite.migrations import is_newest, migrate
from cheatsheet.memory.sqlite.opening import as_it_lies, check_log, check_ours, has_log, make_ready
from cheatsheet.memory.sqlite.readers import Readers
from cheatsheet.memory.sqlite.translating import BUSY, READ_ONLY, code_of, damaged, translated
from cheatsheet.memory.sqlite.write_queue import WriteQueue

Synchronous = Literal["full", "normal"]

IN_MEMORY = ":memory:"
LONG_LOG = 16 * 2**20  # bytes, four times where SQLite itself begins to move the log into the file
LOG_WAIT_MS = 50  # that a writer gives readers to end, so that a long log can begin anew
# Seconds between two looks whether another process has done writing, about as long as a turn takes to write. SQLite's
# own wait grows to 100 ms, so that whoever has waited longest looks least often: of 8 processes that write all the
# time, one then waits more than ten times as long as here, and all together are no faster.
PAUSE_S = 0.001
FORK_WAIT_S = 5.0  # for what is being read and written, before a fork goes on all the same

_log = logging.getLogger("cheatsheet")


class Connections:
    """Opens the file, hands out connections, and turns SQLite's errors into ours.

    - Readers never wait for writers (write-ahead log).
    - Writers wait for each other: those of one process in the order in which they came, those of other processes by
      looking again and again, both together for at most `busy_timeout_s`.
    - A process that was forked off opens the file anew. SQLite's connections, and what it knows of the locks on a file,
      must not be carried into another process (sqlite.org/howtocorrupt.html, section 2.6), so all are closed for the
      moment of the fork.
    - A memory in RAM has one connection for all, and is a memory of its own in a process that was forked off.
    """

    def __init__(self, path: str, *, synchronous: Synchronous, busy_timeout_s: float) -> None:
        self.path = path
        self.in_memory = path == IN_MEMORY
        self.place = f"{path} {id(self)}" if self.in_memory else os.path.realpath(path)
        self._file = path if self.in_memory else str(Path(path).absolute())  # whatever folder the process goes to
        self._known_as: tuple[int, int] | None = None  # the file, as the system tells files apart
        self.read_only = False
        self._alone = False  # no log can be kept beside the file
        self._synchronous = synchronous
        self._timeout_s = busy_timeout_s
        self._queue = WriteQueue()
        self._readers = Readers(self._connect, check=self._check_usable, keep=self._may_keep)
        self._opened: sqlite3.Connection | None = None
        self._closed = False
        self._writing = False
        self._long_log = LONG_LOG
        self._held_for_fork = False
        forks.watch(self)
        with self._turn(), self._translated():
            forks.check(self)
            self._opened = self._open_first()
        self._known_as = self._identity()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection to read with; several statements may see several versions, unless `pinned`.

        Inside a `write` block of the same thread it is the writing connection, which sees what was written so far.
        """
        if self.in_memory or self.writes_here:
            with self._turn(), self._translated():
                yield self._writer
            return
        with self._translated(), self._readers.lent() as connection:
            yield connection

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """All that this thread reads while the block lasts is of one version, whatever others write meanwhile."""
        if self.in_memory or self.writes_here:
            with self._turn():
                yield
            return
        with self._translated(), self._readers.pinned():
            yield

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction: committed at the end of the block, rolled back when the block raises.

        Args:
            durable: False where nothing is lost if a loss of power undoes it: then nobody waits for the disk.

        Raises:
            StoreBusyError: others have been writing for all of `busy_timeout_s`.
        """
        deadline = time.monotonic() + self._timeout_s
        with self._turn(), self._translated(), self._waiting_for_disk(durable):
            if self._writing:
                raise RuntimeError("A transaction cannot begin inside another one of the same thread.")
            writer = self._writer
            self._patiently(writer, "BEGIN IMMEDIATE", deadline)
            self._writing = True
            try:
                yield writer
                forks.check(self)
                if not self.in_memory:
                    count_commit(writer)
                self._patiently(writer, "COMMIT", time.monotonic() + self._timeout_s)
            except BaseException:
                if writer.in_transaction and not forks.is_torn(self):
                    writer.execute("ROLLBACK")
                raise
            finally:
                self._writing = False
            self._shorten_log(writer)

    def give_back_room(self) -> None:
        """Make the file as small as what it holds; others may read meanwhile, and writers wait."""
        with self._turn(), self._translated():
            self._patiently(self._writer, "VACUUM", time.monotonic() + self._timeout_s)
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        """Close every connection, after what is being written; closing twice is closing once."""
        with self._queue.turn():
            self._closed = True
            self._rest()

    # Writing

    @property
    def writes_here(self) -> bool:
        """Whether the calling thread is inside a `write` block."""
        return self._writing and self._queue.mine

    @property
    def reads_apart(self) -> bool:
        """Whether the calling thread may read another version than others do: in a `write` block, or `pinned`."""
        return self._queue.mine or self._readers.pinned_here

    @property
    def _writer(self) -> sqlite3.Connection:
        """The connection that writes, for whoever has the turn."""
        self._check_usable()
        if self._opened is None:
            self._opened = _for_writing(self._connect())
        return self._opened

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._queue.turn(self._timeout_s) as had:
            if not had:
                raise StoreBusyError(
                    f"Other threads of this process have been writing to the memory {self.path} for "
                    f"{self._timeout_s:g} s. Try again, or raise busy_timeout_s."
                )
            yield

    @contextmanager
    def _waiting_for_disk(self, durable: bool) -> Iterator[None]:
        if durable or self.writes_here:
            yield
            return
        self._writer.execute("PRAGMA synchronous = normal")
        try:
            yield
        finally:
            self._writer.execute(f"PRAGMA synchronous = {self._synchronous}")

    def _patiently(self, connection: sqlite3.Connection, statement: str, deadline: float) -> None:
        """Execute what another process may stand in the way of, again and again until the deadline."""
        while True:
            try:
                connection.execute(statement)
            except sqlite3.OperationalError as error:
                if code_of(error) not in BUSY or time.monotonic() >= deadline:
                    raise
                time.sleep(uniform(0.5, 1.5) * PAUSE_S)  # not in step with others that wait
            else:
                return

    def _shorten_log(self, writer: sqlite3.Connection) -> None:
        """Move a long log into the file and begin it anew.

        SQLite moves it when it has 4 MB, but can begin it anew only at a moment at which nobody reads from it. Where
        readers overlap there is no such moment, and it would grow without end. Here readers are given time to end;
        new ones read from the file. One that takes longer is let be until the log has grown by as much again.
        """
        if self._log_length() < self._long_log:
            return
        writer.execute(f"PRAGMA busy_timeout = {LOG_WAIT_MS}")
        try:
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.DatabaseError as error:
            # What was written is safe in the log, so that the change must not be told as failed.
            _log.warning("The log of the memory %s could not be moved into it, and is kept: %s", self.path, error)
        finally:
            writer.execute("PRAGMA busy_timeout = 0")
            self._long_log = self._log_length() + LONG_LOG

    def _log_length(self) -> int:
        """In bytes; 0 where there is none."""
        if self.in_memory:
            return 0
        try:
            return Path(f"{self._file}-wal").stat().st_size
        except OSError:
            return 0

    # Forking; see `forks`

    def before_fork(self) -> bool:
        """Let nobody write or read, and close all connections; returns whether that could be done in time."""
        had = self._queue.acquire(FORK_WAIT_S)
        still = self._readers.pause(FORK_WAIT_S)
        calm = had and still and not self._writing
        if calm and not self.in_memory:
            self._rest()
        self._held_for_fork = had
        return calm

    def after_fork(self) -> None:
        """Go on in the process that forked."""
        self._readers.go_on()
        if self._held_for_fork:
            self._queue.release()

    def after_fork_in_child(self) -> None:
        """Go on in the process that was forked off: its other threads are gone, and with them what they held."""
        self._queue = WriteQueue()
        self._writing = False
        self._readers.begin_anew()

    def _rest(self) -> None:
        """Close all connections that nobody uses. Called with the turn."""
        self._readers.close()
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    # Opening

    def _may_keep(self) -> bool:
        """Whether a connection may be used again; what is read alone, another process may have changed."""
        return not (self._closed or self._alone)

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreError(f"The memory {self.path} is closed. Open it again with cheatsheet.open(...).")
        forks.check(self)
        # What is open goes on without the name; what is then written is lost, or would be put into the other file.
        if self._known_as is not None and self._identity() != self._known_as:
            raise StoreError(
                f"The file of the memory {self.path} was moved, deleted or replaced while it was open. Nothing was "
                f"read or written; open the memory again with cheatsheet.open(...)."
            )

    def _identity(self) -> tuple[int, int] | None:
        """What tells the file that has the name now from any other; None where there is none, or for one in RAM."""
        if self.in_memory:
            return None
        try:
            found = os.stat(self._file)  # noqa: PTH116 - with every reading
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _open_first(self) -> sqlite3.Connection:
        if not self.in_memory:
            self.read_only = not make_ready(self._file)
            check_log(self._file)
        connection = self._first_connection()
        try:
            self._bring_up_to_date(connection)
        except BaseException:
            connection.close()
            raise
        return _for_writing(connection)

    def _first_connection(self) -> sqlite3.Connection:
        """A connection to a memory of ours; where no log can be kept beside the file, to the file alone."""
        try:
            return self._connect_to_ours()
        except sqlite3.OperationalError as error:
            if code_of(error) not in READ_ONLY or self.in_memory:
                raise
            if has_log(self._file):
                raise StoreReadOnlyError(
                    f"Cannot read the memory {self.path} ({error}): what was written last lies in {self.path}-wal, "
                    f"which can be read in a folder that can be written only. Copy both files to one."
                ) from error
        self.read_only = self._alone = True
        return self._connect_to_ours()

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        try:
            if not self.in_memory and not self.read_only:
                # Where others open a new file as well, SQLite tells that at once instead of waiting.
                self._patiently(connection, "PRAGMA journal_mode = WAL", time.monotonic() + self._timeout_s)
            migrate(connection)
        except sqlite3.OperationalError as error:
            if code_of(error) not in READ_ONLY:
                raise
            if not is_newest(connection):
                raise StoreReadOnlyError(
                    f"The memory {self.path} was written by an older version and has to be brought up to date once, "
                    f"but it cannot be written. Make the file and its folder writable, or open a copy."
                ) from error
            self.read_only = True

    def _connect_to_ours(self) -> sqlite3.Connection:
        connection = self._connect()
        try:
            check_ours(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        alone = self._alone and not has_log(self._file)  # where others write, they keep the log, and it can be read
        connection = sqlite3.connect(
            as_it_lies(self._file) if alone else self._file,
            uri=alone,
            timeout=self._timeout_s,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.row_factory = sqlite3.Row
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:
            self._check_usable()
            raise
        except sqlite3.DatabaseError as error:
            raise translated(error, self.path) from error
        except UnicodeDecodeError as error:  # of a message of SQLite's that quotes what is damaged
            raise damaged(error, self.path) from error


def _for_writing(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, which no longer waits by itself: `Connections` does, and looks more often.

    Where a file system allows no write-ahead log, readers stand in the way of a commit as well, and SQLite waits best.
    """
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode == "wal":
        connection.execute("PRAGMA busy_timeout = 0")
    return connection
