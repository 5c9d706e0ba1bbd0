"""Hearing of the commits of others, by PostgreSQL's LISTEN and NOTIFY.

A message is a hint and nothing more. What has been committed before a recall is found because every recall asks for the
version; a message only lets a program catch up before it is asked. So it does no harm that a message comes late or not
at all, and it is sent after the commit: within the transaction it would make the commits of all namespaces wait for one
another, as PostgreSQL keeps messages in the order of commits.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import psycopg
from psycopg import errors, sql

from cheatsheet.errors import CheatsheetError
from cheatsheet.memory.postgres import forks
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.server import Server
from cheatsheet.memory.postgres.texts import held, told

OnCommit: TypeAlias = Callable[[int], None]
"""Called with the version of a namespace that has changed."""

_LOOK_S = 0.2  # between two looks whether the listener is to end
# In which messages are gathered. Where many programs listen and many learn, each looks after so long and not after
# every turn, and mostly finds that another one has caught up for all.
_GATHER_S = 0.5
_PAUSE_S = 1.0  # before connecting again
_CLOSE_S = 5.0  # for what is being caught up with, or connected to, when the listener is to end

_log = logging.getLogger("cheatsheet")


class Listener:
    """Calls back when a namespace has changed. Its connection and its thread are made when the first call is asked for.

    A lost connection is made again. As messages may have been missed meanwhile, all are then called back.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._calls: defaultdict[str, list[OnCommit]] = defaultdict(list)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        forks.watch(self)

    def add(self, namespace: str, call: OnCommit) -> None:
        """Have `call` called when somebody has committed to the namespace."""
        with self._lock:
            self._calls[namespace].append(call)
            if self._thread is None and not self._ended.is_set():
                self._thread = threading.Thread(target=self._run, name="cheatsheet-listen", daemon=True)
                self._thread.start()

    def remove(self, call: OnCommit) -> None:
        """Call it no more."""
        with self._lock:
            for calls in self._calls.values():
                if call in calls:
                    calls.remove(call)

    def announce(self, db: Db, namespace: str, version: int) -> None:
        """Tell all who listen, in other processes and in this one."""
        db.execute("SELECT pg_notify(%s, %s)", (self._channel, f"{version} {held(namespace)}"))

    def close(self) -> None:
        """End the thread, which does not outlive the program in any case; closing twice is closing once."""
        self._ended.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_CLOSE_S)

    def begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._thread = None  # it listens again when the next call is asked for

    @property
    def _channel(self) -> str:
        return f"cheatsheet_{self._server.address.schema}"

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                with self._server.connect() as db:
                    db.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
                    self._call(self._versions())
                    self._listen(db)
            except errors.ReadOnlySqlTransaction:
                return  # a standby: nobody can listen there, and every recall asks for the version
            except (psycopg.Error, CheatsheetError) as error:
                if not self._ended.is_set():
                    _log.info("PostgreSQL: listening again soon: %s", self._server.address.masked(str(error)))
                    self._ended.wait(_PAUSE_S)

    def _listen(self, db: Db) -> None:
        while not self._ended.is_set():
            first = list(db.notifies(timeout=_LOOK_S, stop_after=1))
            if first and not self._ended.wait(_GATHER_S):
                heard = [*first, *db.notifies(timeout=0)]
                self._call(_newest(message.payload for message in heard))

    def _versions(self) -> dict[str, int]:
        rows = self._server.rows("SELECT name, version FROM namespaces WHERE version > 0")
        return {told(row["name"]): row["version"] for row in rows}

    def _call(self, versions: Mapping[str, int]) -> None:
        for namespace, version in versions.items():
            with self._lock:
                calls = list(self._calls.get(namespace, ()))
            for call in calls:
                try:
                    call(version)
                except Exception as error:
                    # Whatever it is, as of a model of somebody else's: whoever asks next meets it and is told.
                    _log.info("Catching up with %r failed: %s", namespace, self._server.address.masked(str(error)))


def _newest(payloads: Iterable[str]) -> dict[str, int]:
    """The highest version of each namespace; what is no message of ours is passed over."""
    versions: dict[str, int] = {}
    for payload in payloads:
        number, _, name = payload.partition(" ")
        if number.isdecimal():
            versions[told(name)] = max(int(number), versions.get(told(name), 0))
    return versions
