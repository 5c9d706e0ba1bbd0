"""Building the indexes of a table of vectors in the background."""

from __future__ import annotations

import logging
import math
import threading
from contextlib import suppress
from typing import Final

import psycopg

from cheatsheet.errors import CheatsheetError
from cheatsheet.memory.postgres import forks
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.faults import is_lost
from cheatsheet.memory.postgres.index_check import needed_ef_search
from cheatsheet.memory.postgres.server import Server
from cheatsheet.memory.postgres.vector_table import Index, VectorTable
from cheatsheet.memory.search.neighbours import Part

_LOOK_S: Final = 1.0  # between two looks whether another process has built an index
_CANCELS: Final = 10
_CANCEL_S: Final = 0.5  # that one of them may take

_log = logging.getLogger("cheatsheet")


class IndexBuilder:
    """Builds an index for each part of a namespace that has grown large, one after the other, while it is scanned."""

    def __init__(self, server: Server, table: VectorTable) -> None:
        self._server = server
        self._table = table
        self._settled: dict[tuple[int, Part], float] = {}  # up to how many rows nothing is to be done
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._db: Db | None = None
        self._closed = threading.Event()
        forks.watch(self)

    def want(self, space: int, part: Part, rows: int) -> None:
        """See to it that there is an index; returns at once."""
        with self._lock:
            busy = self._thread is not None and self._thread.is_alive()
            if self._closed.is_set() or busy or rows < self._settled.get((space, part), 0):
                return
            self._thread = threading.Thread(
                target=self._run, args=(space, part, rows), name="cheatsheet-index", daemon=True
            )
            self._thread.start()

    def wait(self) -> None:
        """Wait until nothing is being built."""
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """Stop building; what was begun is begun anew by whoever wants it next. Closing twice is closing once."""
        self._closed.set()
        thread = self._thread
        for _ in range(_CANCELS):
            if thread is None or not thread.is_alive():
                return
            db = self._db
            if db is not None:
                with suppress(psycopg.Error):  # what cannot be cancelled is waited for below, and tried again
                    db.cancel_safe(timeout=_CANCEL_S)
            thread.join(_CANCEL_S)  # and once more, as the statement may have begun just now

    def begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._thread = None  # the index is built by the process from which this one was forked off

    def _run(self, space: int, part: Part, rows: int) -> None:
        try:
            index = self._table.index(space, part)
            if index is None or not index.holds(rows):
                index = self._built(space, part, rows)
            if index is not None:
                self._settled[space, part] = index.holds_below
        except (psycopg.Error, CheatsheetError) as error:
            self._tell(error, space, part)

    def _built(self, space: int, part: Part, rows: int) -> Index | None:
        """The index, built and compared by this process or by another; None where the memory is closed before."""
        with self._server.connect() as db:
            self._db = db
            try:
                while not self._closed.is_set():
                    with self._table.alone(db, space, part) as alone:
                        if alone:
                            self._build(db, space, part, rows)
                            return self._table.index(space, part)
                    self._closed.wait(_LOOK_S)
            finally:
                self._db = None
        return None

    def _build(self, db: Db, space: int, part: Part, rows: int) -> None:
        found = self._table.index(space, part)
        if found is not None and found.holds(rows):
            return  # another process was faster
        self._table.build_index(db, space, part, rows)
        ef_search = needed_ef_search(self._table, space, part, self._closed)
        self._table.know_index(space, part, ef_search, rows)
        if ef_search == 0:
            _log.warning("The vectors of the %s are scanned: an index finds too little of what is near.", part)
            self._table.drop_index(db, space, part)

    def _tell(self, error: Exception, space: int, part: Part) -> None:
        """Say that there is no index; scanning finds the same. One more try may help where the connection was lost."""
        if self._closed.is_set():
            return
        said = self._server.address.masked(str(error))
        if isinstance(error, psycopg.Error) and is_lost(error):
            _log.info("An index of vectors is begun anew at the next search: %s", said)
            return
        self._settled[space, part] = math.inf
        _log.warning(
            "The vectors of the %s are scanned as long as this memory is open, as no index could be built: %s",
            part,
            said,
        )
