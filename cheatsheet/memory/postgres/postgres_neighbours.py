"""Finding neighbours on the PostgreSQL server, with pgvector."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from cheatsheet.memory.postgres import forks
from cheatsheet.memory.postgres.index_builder import IndexBuilder
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from cheatsheet.memory.postgres.vector_table import Rows, VectorTable
from cheatsheet.memory.postgres.vector_tables import open_table
from cheatsheet.memory.postgres.vectors_in_step import PARTS, Changed, State, VectorsInStep
from cheatsheet.memory.search.local import LocalNeighbours
from cheatsheet.memory.search.neighbours import Part, Progress
from indexes.embedder import Embedder
from indexes.index import Hits
from indexes.ranking import NO_HITS, best
from indexes.vectors import Vector, check_dimension, normalise

INDEX_FROM: Final = 10_000
"""From so many rows on a part of a namespace gets an index; fewer are scanned. There an index answers in less than half
the time of a scan (`python -m benchmarks.perf.pgvector`)."""

_SPARE: Final = 16

_log = logging.getLogger("cheatsheet")


@dataclass(frozen=True, slots=True)
class _OnServer:
    """The table of the model, what keeps it in step, and what builds its indexes."""

    table: VectorTable
    step: VectorsInStep
    builder: IndexBuilder


class PostgresNeighbours:
    """Searches on the server, so that no process holds the vectors. Promises: see `Neighbours`.

    The vectors of what is active lie in a table of pgvector, once more than in the store's cache of embeddings, with
    the journal version up to which they are right. A search takes what has changed since from the store and compares
    it here; where that is much, whoever notices brings the table up to date, for all. A message of another process's
    commit (LISTEN) lets this one do so before it is asked.

    The server proposes candidates, exactly where it scans and nearly where it has an index; their order is that of
    every index of ours (`indexes/ranking.py`).

    Where there is no table of this model and none can be made, or much is missing in it and cannot be written, as on a
    standby, this process searches by itself.

    Args:
        embedder: remembers in the store what it has embedded (`CachedEmbedder`).
        progress: told while many texts have to be embedded, as after a change of the embedding model.
        index_from: in place of `INDEX_FROM`.

    Raises:
        StoreError: the server has no pgvector, or one that is too old.
    """

    def __init__(
        self,
        store: PostgresStore,
        embedder: Embedder,
        *,
        namespace: str,
        progress: Progress | None = None,
        index_from: int = INDEX_FROM,
    ) -> None:
        self._store = store
        self._server = store.server
        self._embedder = embedder
        self._namespace = namespace
        self._progress = progress
        self._index_from = index_from
        self._opening = threading.Lock()
        self._on_server: _OnServer | None = None
        self._here: LocalNeighbours | None = None
        forks.watch(self)

    def bullets(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        found = self._search("bullets", query, k, among)
        return self._locally().bullets(query, k, among=among) if found is None else found

    def experiences(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        found = self._search("experiences", query, k, among)
        return self._locally().experiences(query, k, among=among) if found is None else found

    def settle(self) -> None:
        """Bring the table up to date, and wait for the indexes that are being built; for measurements."""
        there = self._opened()
        if there is not None:
            for part in PARTS:
                self._want_index(there, there.step.caught_up(), part)
                there.builder.wait()

    def ef_search(self, part: Part) -> int:
        """Candidates that a search in the index keeps; 0 where rows are scanned. For measurements."""
        there = self._opened()
        state = there.step.state() if there else None
        return state.ef_search(part) if state else 0

    def close(self) -> None:
        """Listen no more, and stop building; closing twice is closing once."""
        self._store.off_commit(self._hear)
        if self._on_server is not None:
            self._on_server.step.close()
            self._on_server.builder.close()
        if self._here is not None:
            self._here.close()

    def begin_anew(self) -> None:
        self._opening = threading.Lock()

    def _search(self, part: Part, query: Vector, k: int, among: Collection[int] | None) -> Hits | None:
        """What is found on the server; None where that is not to be asked."""
        if k <= 0 or (among is not None and not among):
            return NO_HITS
        check_dimension(np.asarray(query), self._embedder.dim, "query")
        there = self._opened()
        if there is None:
            return None
        state = there.step.state()
        if state is None:
            return NO_HITS
        changed = there.step.changed(state, part)
        if changed is None and not there.table.may_write:
            return None
        if changed is None:
            state = there.step.caught_up() or state
            changed = there.step.changed(state, part, all_of_it=True)
        assert changed is not None
        self._want_index(there, state, part)
        wanted = None if among is None else sorted(among)
        unit = normalise(query)[0]
        found = _nearest(there.table, state, part, unit, k, wanted, changed.touched)
        return _ranked(found, changed, unit, k, among)

    def _hear(self, version: int) -> None:
        """Somebody has committed: catch up before this process is asked."""
        if self._on_server is not None:
            self._on_server.step.caught_up()

    def _want_index(self, there: _OnServer, state: State | None, part: Part) -> None:
        if state is None or not there.table.indexable or not there.table.may_write:
            return
        if state.rows(part) >= self._index_from:
            there.builder.want(state.id, part, state.rows(part))

    def _opened(self) -> _OnServer | None:
        """The table, made where it is not there; None where it cannot be made."""
        if self._on_server is None and self._here is None:
            with self._opening:
                if self._on_server is None and self._here is None:
                    self._open()
        return self._on_server

    def _open(self) -> None:
        table = open_table(self._server, self._embedder.model_id, self._embedder.dim)
        if table is None:
            self._make_here()
            return
        step = VectorsInStep(self._store, self._embedder, table, namespace=self._namespace, progress=self._progress)
        self._on_server = _OnServer(table, step, IndexBuilder(self._server, table))
        if table.may_write:
            self._store.on_commit(self._namespace, self._hear)

    def _locally(self) -> LocalNeighbours:
        """Indexes of this process."""
        with self._opening:
            return self._here or self._make_here()

    def _make_here(self) -> LocalNeighbours:
        from indexes.auto import AutoIndex

        _log.info(
            "This process searches the vectors of %s by itself; it may not write them there.", self._store.address
        )
        self._here = LocalNeighbours(
            self._store,
            self._embedder,
            namespace=self._namespace,
            make_index=AutoIndex,
            progress=self._progress,
        )
        return self._here


def _nearest(
    table: VectorTable,
    state: State,
    part: Part,
    query: Vector,
    k: int,
    among: Sequence[int] | None,
    without: Sequence[int],
) -> Rows:
    """At least the true top-k of what the server looks at, and all that ties with the last of them."""
    limit, ef_search = k + _SPARE, state.ef_search(part)
    while True:
        rows = table.nearest(state.id, part, query, limit, ef_search=ef_search, among=among, without=without)
        if len(rows.numbers) < limit:
            return rows
        distances = np.sort(rows.distances)
        if distances[-1] > distances[k - 1] + table.tolerance:
            return rows
        limit *= 4


def _ranked(found: Rows, changed: Changed, query: Vector, k: int, among: Collection[int] | None) -> Hits:
    numbers = np.concatenate([found.numbers, np.array(changed.numbers, dtype=np.int64)])
    vectors = np.concatenate([found.vectors, changed.vectors])
    places = np.arange(len(numbers))
    if among is not None:
        places = places[np.isin(numbers, list(among))]
    return best(vectors, numbers, places, query, k) if len(places) else NO_HITS
