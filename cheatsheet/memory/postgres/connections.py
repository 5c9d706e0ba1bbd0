"""Connections to one memory on a PostgreSQL server: a pool of them, and single ones beside it."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeAlias
from weakref import WeakSet

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from cheatsheet.errors import StoreBusyError, StoreError
from cheatsheet.memory.postgres import forks
from cheatsheet.memory.postgres.address import Address
from cheatsheet.memory.postgres.faults import translated

Db: TypeAlias = psycopg.Connection[dict[str, Any]]
"""A connection whose rows are dictionaries by column."""

_PROBE_S: Final = 2

# Of every connection. A program that dies while it holds a memory lets go of it at once; a machine that vanishes does
# after this long. What starts with hnsw. is for searching with pgvector, and nothing where that is not installed; with
# the cost of pages as on a turning disk, PostgreSQL would rather scan 10,000 vectors than look into their index.
_SESSION: Final = {
    "idle_in_transaction_session_timeout": "5min",
    "random_page_cost": "1.1",
    "hnsw.iterative_scan": "relaxed_order",  # our own order follows
}

# The pool tells of every connection that it loses, at once and on stderr; here that is a pause, and told when it lasts.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


class Connections:
    """Lends connections, as many at once as are allowed; whoever comes later waits.

    A process that was forked off makes its own.
    """

    def __init__(self, address: Address, *, timeout_s: float, most: int) -> None:
        self._address = address
        self._timeout_s = timeout_s
        self._most = most
        self._making = threading.Lock()
        self._pool: ConnectionPool[Db] | None = None
        self._of_others: list[ConnectionPool[Db]] = []  # kept, as one that is forgotten waits for its threads
        self._made: WeakSet[Db] = WeakSet()  # all that this process has
        self._closed = False
        forks.watch(self)

    def connect(self) -> Db:
        """A connection beside the pool, which the caller closes."""
        db = psycopg.connect(self._address.conninfo, autocommit=True, row_factory=dict_row)
        try:
            self._configure(db)
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def lent(self, deadline: float) -> Iterator[Db]:
        """A connection of the pool for the block.

        Args:
            deadline: until when to wait for one, by `time.monotonic`.

        Raises:
            StoreUnavailableError, StoreBusyError: there was none in time.
            StoreError: the memory is closed.
        """
        pool = self._opened()
        try:
            db = pool.getconn(timeout=max(0.0, deadline - time.monotonic()))
        except PoolClosed:
            raise self._is_closed() from None
        except PoolTimeout:
            raise self._why_none() from None
        try:
            yield db
        finally:
            if pool is self._pool:  # and not that of the process from which this one was forked off meanwhile
                pool.putconn(db)

    def check(self) -> None:
        """Look which connections of the pool are lost, and replace them."""
        with suppress(PoolClosed):
            self._opened().check()

    def close(self) -> None:
        """Close every connection; closing twice is closing once."""
        self._closed = True
        if self._pool is not None:
            self._pool.close()

    def begin_anew(self) -> None:
        self._making = threading.Lock()
        for db in list(self._made):
            _cut_off(db)
        self._made.clear()
        if self._pool is not None:
            self._of_others.append(self._pool)
            self._pool = None

    def _opened(self) -> ConnectionPool[Db]:
        if self._pool is None:
            with self._making:
                if self._closed:
                    raise self._is_closed()
                if self._pool is None:
                    self._pool = self._make_pool()
        return self._pool

    def _make_pool(self) -> ConnectionPool[Db]:
        pool = ConnectionPool(
            self._address.conninfo,
            kwargs={"autocommit": True, "row_factory": dict_row},
            configure=self._configure,
            min_size=1,
            max_size=self._most,
            timeout=self._timeout_s,
            name="cheatsheet",
            open=True,
            connection_class=psycopg.Connection[dict[str, Any]],
        )
        with suppress(PoolTimeout):  # whoever asks for a connection is told
            pool.wait(self._timeout_s)
        return pool

    def _configure(self, db: Db) -> None:
        self._made.add(db)
        more = {"search_path": self._address.schema, "lock_timeout": f"{round(self._timeout_s * 1000)}ms"}
        settings = _SESSION | more
        calls = ", ".join(["set_config(%s, %s, false)"] * len(settings))
        db.execute(f"SELECT {calls}", [text for setting in settings.items() for text in setting])

    def _is_closed(self) -> StoreError:
        return StoreError(f"The memory {self._address.shown} is closed. Open it again with cheatsheet.open(...).")

    def _why_none(self) -> StoreError:
        """Why the pool had no connection in time: the server is away, or all are in use."""
        try:
            psycopg.connect(self._address.conninfo, connect_timeout=_PROBE_S).close()
        except psycopg.Error as error:
            told = translated(error, self._address, self._timeout_s)
            if isinstance(told, StoreError):
                return told
            raise
        return StoreBusyError(
            f"All {self._most} connections to the memory {self._address.shown} are in use for longer than "
            f"{self._timeout_s:g} s. Try again, or raise max_connections."
        )


def _cut_off(db: Db) -> None:
    """Have a connection of another process end nowhere, whoever still uses it here."""
    here, there = socket.socketpair()
    there.close()
    with here, suppress(psycopg.Error):  # one that is closed has no socket
        os.dup2(here.fileno(), db.fileno())
