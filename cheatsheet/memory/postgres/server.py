"""What is asked of the PostgreSQL server of one memory: in transactions, and again when the server comes back."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from cheatsheet.errors import StoreBusyError, StoreError, StoreUnavailableError
from cheatsheet.memory.postgres import forks
from cheatsheet.memory.postgres.address import Address
from cheatsheet.memory.postgres.connections import Connections, Db
from cheatsheet.memory.postgres.faults import is_lost, is_passing, translated
from cheatsheet.memory.postgres.migrations import migrate
from cheatsheet.memory.sqlite.write_queue import WriteQueue

Values: TypeAlias = Mapping[str, Any] | Sequence[Any] | None
T = TypeVar("T")

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 1.0

# A standby takes no changes, and a role that may not write takes none either.
_READ_ONLY = (
    "SELECT current_setting('transaction_read_only') = 'on' OR NOT has_table_privilege('journal', 'INSERT') AS found"
)

_log = logging.getLogger("cheatsheet")


class Server:
    """Asks the server, and turns PostgreSQL's errors into ours.

    A statement or transaction that fails because the connection is lost, or because the server gave it up for the sake
    of others, is tried again for as long as `timeout_s`; so a restart or a failover is a pause, not an error.
    """

    def __init__(self, address: Address, *, timeout_s: float, max_connections: int) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self._connections = Connections(address, timeout_s=timeout_s, most=max_connections)
        self._mine = threading.local()
        self._gates: dict[str, WriteQueue] = {}
        self._gates_lock = threading.Lock()
        self._random = random.Random()
        # The first connection is made here, and not by the pool: what is wrong is told at once.
        with self._translated(), self.connect() as db:
            migrate(db, address)
            row = db.execute(_READ_ONLY).fetchone()
            self.read_only = bool(row and row["found"])
        forks.watch(self)

    def connect(self) -> Db:
        """A connection beside the pool, which the caller closes."""
        return self._connections.connect()

    def rows(self, query: str, values: Values = None) -> list[Any]:
        """What one statement finds; inside a transaction of this thread, with what that has written so far."""
        mine = self._current()
        if mine is not None:
            with self._translated():
                return _rows(mine, query, values)
        return self._again(lambda db: _rows(db, query, values))

    def transaction(self, work: Callable[[Db, Sequence[T]], T], *, after: Callable[[Db, T], None] | None = None) -> T:
        """Do work in one transaction, and tell what it returned once that is committed.

        Inside a transaction of the same thread it becomes part of that.

        Args:
            work: it may be called several times, each time in a new transaction. It gets what it returned in earlier
                tries whose commit was sent and never answered: only it can tell whether those were stored. It has to
                look only after it has taken a lock that the earlier transaction held as well, so that that has ended.
            after: called with what was committed, on the same connection; it may fail without harm.
        """
        mine = self._current()
        if mine is not None:
            return work(mine, ())
        unanswered: list[T] = []
        try:
            return self._again(lambda db: self._transact(db, work, unanswered, after))
        except StoreUnavailableError as error:
            if unanswered:
                error.add_note(
                    "The connection was lost while a change was being committed: whether it was stored cannot be "
                    "known before the server is back. `cheatsheet history` shows it then."
                )
            raise

    def redoable(self, work: Callable[[Db], T]) -> T:
        """Do work in a transaction that does not wait for the server's disk: for what can be made again.

        Inside a transaction of the same thread it becomes part of that, and is as lasting.
        """
        mine = self._current()
        if mine is not None:
            return work(mine)

        def write(db: Db, _: Sequence[T]) -> T:
            db.execute("SET LOCAL synchronous_commit = off")
            return work(db)

        return self.transaction(write)

    def apart(self, work: Callable[[Db], T]) -> T:
        """Do work in a transaction of its own, even inside a transaction of this thread, which may yet fail."""
        mine = self._current()
        self._mine.db = None
        try:
            return self.transaction(lambda db, _: work(db))
        finally:
            self._mine.db = mine

    @property
    def reads_apart(self) -> bool:
        """Whether this thread is inside a transaction, or reads what is pinned: perhaps another version than others."""
        return self._current() is not None

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Let this thread read everything as it is now, in one read-only transaction."""
        if self._current() is not None:
            yield
            return
        with (
            self._translated(),
            self._connections.lent(time.monotonic() + self.timeout_s) as db,
            self._begun(db, "REPEATABLE READ READ ONLY"),
        ):
            db.execute("SELECT 1")  # what is seen is settled by the first statement
            yield

    @contextmanager
    def turn(self, namespace: str) -> Iterator[None]:
        """Wait for the other threads that write to the namespace, so that they wait without a connection each."""
        with self._gates_lock:
            gate = self._gates.setdefault(namespace, WriteQueue())
        with gate.turn(self.timeout_s) as had:
            if not had:
                raise StoreBusyError(
                    f"Other threads write to the memory {self.address.shown} for longer than {self.timeout_s:g} s. "
                    f"Try again, or raise busy_timeout_s."
                )
            yield

    def close(self) -> None:
        """Close every connection; closing twice is closing once."""
        self._connections.close()

    def begin_anew(self) -> None:
        self._mine = threading.local()
        self._gates = {}
        self._gates_lock = threading.Lock()

    def _current(self) -> Db | None:
        return getattr(self._mine, "db", None)

    @contextmanager
    def _begun(self, db: Db, how: str) -> Iterator[None]:
        """A transaction of this thread; what the block does not commit is rolled back."""
        db.execute(f"BEGIN ISOLATION LEVEL {how}")
        self._mine.db = db
        try:
            yield
        except psycopg.Error:
            if self._current() is db:
                raise
            raise StoreError(
                f"This process was forked off inside a change of the memory {self.address.shown}; only the process "
                f"that it came from can store that."
            ) from None
        finally:
            if self._current() is db:
                self._mine.db = None
                if db.info.transaction_status != TransactionStatus.IDLE:
                    with suppress(psycopg.Error):  # a lost connection has nothing to roll back
                        db.execute("ROLLBACK")

    def _transact(
        self,
        db: Db,
        work: Callable[[Db, Sequence[T]], T],
        unanswered: list[T],
        after: Callable[[Db, T], None] | None,
    ) -> T:
        with self._begun(db, "READ COMMITTED"):
            result = work(db, unanswered)
            unanswered.append(result)
            # A transaction that failed on the way, by an error that somebody caught, answers COMMIT with ROLLBACK.
            if db.execute("COMMIT").statusmessage != "COMMIT":
                raise StoreError(
                    f"A change of the memory {self.address.shown} was not stored: its transaction had failed."
                )
        if after is not None:
            with suppress(psycopg.Error):  # it is stored already; who is not told catches up when next asked
                after(db, result)
        return result

    def _again(self, work: Callable[[Db], T]) -> T:
        """Do work on some connection, again after what passes, until the time is over."""
        deadline, pause_s = time.monotonic() + self.timeout_s, _FIRST_PAUSE_S
        while True:
            try:
                with self._connections.lent(deadline) as db:
                    return work(db)
            except psycopg.Error as error:
                if not is_passing(error) or time.monotonic() + pause_s > deadline:
                    raise translated(error, self.address, self.timeout_s) from error
                _log.info("PostgreSQL: %s; trying again", self.address.masked(str(error)))
                if is_lost(error):
                    self._connections.check()
            # Two that gave way to each other must not meet again.
            time.sleep(pause_s * self._random.uniform(0.5, 1.0))
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            if is_passing(error) and self._current() is not None:
                raise  # the transaction around it is tried again
            raise translated(error, self.address, self.timeout_s) from error


def _rows(db: Db, query: str, values: Values) -> list[Any]:
    return db.execute(query, values).fetchall()
