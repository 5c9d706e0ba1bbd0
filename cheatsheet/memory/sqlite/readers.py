"""Connections to read with: as many as are needed at once, a few of which are kept."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST_IDLE = 8  # connections that are kept; each holds up to 2 MB of pages


class Readers:
    """Lends connections to threads, each to one at a time.

    Args:
        connect: makes one.
        check: refuses, by an error, to read what was closed.
        keep: whether one that was given back may be lent again.
    """

    def __init__(
        self, connect: Callable[[], sqlite3.Connection], *, check: Callable[[], None], keep: Callable[[], bool]
    ) -> None:
        self._connect = connect
        self._check = check
        self._keep = keep
        self._changed = threading.Condition()
        self._of_thread = threading.local()
        self._idle: list[sqlite3.Connection] = []
        self._lent = 0
        self._paused = False

    @property
    def pinned_here(self) -> bool:
        """Whether the calling thread reads one version."""
        return self._pinned is not None

    @property
    def _pinned(self) -> sqlite3.Connection | None:
        found: sqlite3.Connection | None = getattr(self._of_thread, "pinned", None)
        return found

    @contextmanager
    def lent(self) -> Iterator[sqlite3.Connection]:
        """A connection for the block; inside `pinned` of the same thread, the one that is pinned."""
        if self._pinned is not None:
            yield self._pinned
            return
        connection = self._lend()
        try:
            yield connection
        finally:
            self._give_back(connection)

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """All that the calling thread reads while the block lasts is of one version."""
        if self._pinned is not None:
            yield
            return
        with self.lent() as connection:
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # the version is that of the first reading
            self._of_thread.pinned = connection
            try:
                yield
            finally:
                self._of_thread.pinned = None
                connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close those that are kept."""
        with self._changed:
            for connection in self._idle:
                connection.close()
            self._idle.clear()

    # Forking; see `forks`

    def pause(self, timeout_s: float) -> bool:
        """Lend no more until `go_on`, and wait for those that are lent; returns whether all were given back."""
        self._changed.acquire()
        self._paused = True
        return self._changed.wait_for(lambda: not self._lent, timeout_s)

    def go_on(self) -> None:
        """Lend again."""
        self._paused = False
        self._changed.notify_all()
        self._changed.release()

    def begin_anew(self) -> None:
        """Forget the other threads, which a process that was forked off does not have."""
        self._changed = threading.Condition()
        self._of_thread = threading.local()
        self._paused = False

    def _lend(self) -> sqlite3.Connection:
        with self._changed:
            self._changed.wait_for(lambda: not self._paused)
            self._check()
            self._lent += 1
            if self._idle:
                return self._idle.pop()
        try:
            connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
        except BaseException:
            self._one_less()
            raise
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._changed:
            if self._keep() and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
            else:
                connection.close()
            self._one_less()

    def _one_less(self) -> None:
        with self._changed:
            self._lent -= 1
            self._changed.notify_all()
