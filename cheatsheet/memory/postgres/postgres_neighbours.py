"""Finding neighbours on the PostgreSQL server, with pgvector."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from cheatsheet.memory.postgres import forks
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.index_builder import IndexBuilder
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from cheatsheet.memory.postgres.texts import held
from cheatsheet.memory.postgres.vector_table import Rows, VectorTable
from cheatsheet.memory.postgres.vector_tables import open_table
from cheatsheet.memory.search.local import LocalNeighbours
from cheatsheet.memory.search.neighbours import Part, Progress
from cheatsheet.memory.store import Touched
from indexes.embedder import Embedder
from indexes.index import Hits
from indexes.ranking import NO_HITS, best
from indexes.vectors import Matrix, Vector, check_dimension, normalise

INDEX_FROM: Final = 10_000
"""From so many rows on a part of a namespace gets an index; fewer are scanned. There an index answers in less than half
the time of a scan (`python -m benchmarks.perf.pgvector`)."""

MOST_FRESH = 64
"""So many rows that have changed are compared here with the query, before the table on the server is brought up."""

_AT_ONCE: Final = 512
_SPARE: Final = 16
_PARTS: Final[tuple[Part, ...]] = ("bullets", "experiences")

_log = logging.getLogger("cheatsheet")

_STATE: Final = """
SELECT namespaces.id, namespaces.version, active_bullets AS bullets, active_experiences AS experiences,
    coalesce(vector_marks.version, 0) AS reached,
    coalesce((SELECT ef_search FROM vector_indexes AS i WHERE i.table_id = %(table)s AND i.namespace_id = namespaces.id
        AND what = 0), 0) AS bullets_ef,
    coalesce((SELECT ef_search FROM vector_indexes AS i WHERE i.table_id = %(table)s AND i.namespace_id = namespaces.id
        AND what = 1), 0) AS experiences_ef
FROM namespaces LEFT JOIN vector_marks ON namespace_id = namespaces.id AND table_id = %(table)s WHERE name = %(name)s
"""


@dataclass(frozen=True, slots=True)
class _State:
    """The namespace as the server has it.

    Attributes:
        bullets, experiences: how many are active.
        reached: the version up to which its vectors are on the server.
        bullets_ef, experiences_ef: candidates that a search in the index keeps; 0 for a scan.
    """

    id: int
    version: int
    bullets: int
    experiences: int
    reached: int
    bullets_ef: int
    experiences_ef: int

    def rows(self, part: Part) -> int:
        return self.bullets if part == "bullets" else self.experiences

    def ef_search(self, part: Part) -> int:
        return self.bullets_ef if part == "bullets" else self.experiences_ef


@dataclass(frozen=True, slots=True)
class _Fresh:
    """What has changed since the vectors on the server.

    Attributes:
        touched: numbers whose rows on the server do not hold any more.
        numbers, vectors: of those that are active, `[n]` and `[n, dim]`.
    """

    touched: Sequence[int]
    numbers: Sequence[int]
    vectors: Matrix


@dataclass(frozen=True, slots=True)
class _Vectors:
    """What is written of one part.

    Attributes:
        touched: numbers of all that changed.
        numbers, vectors: of those that are active, `[n]` and `[n, dim]`.
    """

    part: Part
    touched: Sequence[int]
    numbers: Sequence[int]
    vectors: Matrix


@dataclass(frozen=True, slots=True)
class _OnServer:
    """The table of the model, and what builds its indexes."""

    table: VectorTable
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
        self._catching_up = threading.Lock()
        self._opening = threading.Lock()
        self._on_server: _OnServer | None = None
        self._here: LocalNeighbours | None = None
        self._closed = False
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
            for part in _PARTS:
                self._want_index(there, self._caught_up(there), part)
                there.builder.wait()

    def ef_search(self, part: Part) -> int:
        """Candidates that a search in the index keeps; 0 where rows are scanned. For measurements."""
        there = self._opened()
        state = self._state(there) if there else None
        return state.ef_search(part) if state else 0

    def close(self) -> None:
        """Listen no more, and stop building; closing twice is closing once."""
        self._closed = True
        self._store.off_commit(self._hear)
        if self._on_server is not None:
            self._on_server.builder.close()
        if self._here is not None:
            self._here.close()

    def begin_anew(self) -> None:
        self._catching_up, self._opening = threading.Lock(), threading.Lock()

    def _search(self, part: Part, query: Vector, k: int, among: Collection[int] | None) -> Hits | None:
        """What is found on the server; None where that is not to be asked."""
        if k <= 0 or (among is not None and not among):
            return NO_HITS
        check_dimension(np.asarray(query), self._embedder.dim, "query")
        there = self._opened()
        state = self._state(there) if there else None
        if there is None:
            return None
        if state is None:
            return NO_HITS
        fresh = self._fresh(state, part)
        if fresh is None and not there.table.may_write:
            return None
        if fresh is None:
            state = self._caught_up(there) or state
            fresh = self._fresh(state, part, all_of_it=True)
        assert fresh is not None
        self._want_index(there, state, part)
        wanted = None if among is None else sorted(among)
        unit = normalise(query)[0]
        found = self._nearest(there, state, part, unit, k, wanted, fresh.touched)
        return _ranked(found, fresh, unit, k, among)

    def _nearest(
        self,
        there: _OnServer,
        state: _State,
        part: Part,
        query: Vector,
        k: int,
        among: Sequence[int] | None,
        without: Sequence[int],
    ) -> Rows:
        """At least the true top-k of what the server looks at, and all that ties with the last of them."""
        limit, table, ef_search = k + _SPARE, there.table, state.ef_search(part)
        while True:
            rows = table.nearest(state.id, part, query, limit, ef_search=ef_search, among=among, without=without)
            if len(rows.numbers) < limit:
                return rows
            distances = np.sort(rows.distances)
            if distances[-1] > distances[k - 1] + table.tolerance:
                return rows
            limit *= 4

    def _fresh(self, state: _State, part: Part, *, all_of_it: bool = False) -> _Fresh | None:
        """What has changed since the server's vectors; None where that is better written to the server first."""
        touched = Touched(state.version, (), ())
        if state.version > state.reached:
            touched = self._store.touched(self._namespace, after=state.reached)
        many = len(touched.bullets) + len(touched.experiences) > MOST_FRESH
        # A commit must neither wait for others here nor keep others waiting, and what is pinned cannot be written.
        if many and not (all_of_it or self._server.reads_apart):
            return None
        rows = touched.bullets if part == "bullets" else touched.experiences
        numbers, vectors = self._embedded(rows)
        return _Fresh([number for number, _, _ in rows], numbers, vectors)

    def _embedded(self, rows: Sequence[tuple[int, str, bool]]) -> tuple[list[int], Matrix]:
        """Numbers and vectors `[n, dim]` of those rows that are active."""
        active = [(number, text) for number, text, is_active in rows if is_active]
        if not active:
            return [], np.zeros((0, self._embedder.dim), dtype=np.float32)
        return [number for number, _ in active], normalise(self._embedder.embed([text for _, text in active]))

    def _caught_up(self, there: _OnServer) -> _State | None:
        """Bring the table up to the version of now, or to a newer one."""
        state = self._state(there)
        wanted = state.version if state else 0
        if state is None or state.reached >= wanted:
            return state
        with self._catching_up:
            state = self._state(there)  # another thread may have done it while this one waited
            while state is not None and state.reached < wanted and not self._closed:
                self._write(there, state)
                state = self._state(there)
        return state

    def _write(self, there: _OnServer, state: _State) -> None:
        """Embed what was touched and write it, in parts; where another process is faster, leave it to that."""
        touched = self._store.touched(self._namespace, after=state.reached)
        rows = [(part, row) for part in _PARTS for row in getattr(touched, part)]
        for start in range(0, max(len(rows), 1), _AT_ONCE):
            some, last = rows[start : start + _AT_ONCE], start + _AT_ONCE >= len(rows)
            vectors = [self._vectors_of(part, [row for kind, row in some if kind == part]) for part in _PARTS]
            if self._closed or not self._put(there.table, state, vectors, touched.version, last=last):
                return
            if self._progress and len(rows) > _AT_ONCE:
                self._progress(start + len(some), len(rows))
        if len(rows) > _AT_ONCE:
            there.table.analyse()

    def _vectors_of(self, part: Part, rows: Sequence[tuple[int, str, bool]]) -> _Vectors:
        return _Vectors(part, [number for number, _, _ in rows], *self._embedded(rows))

    def _put(self, table: VectorTable, state: _State, vectors: Sequence[_Vectors], version: int, *, last: bool) -> bool:
        """Write vectors, and with the last of them the version that is reached, unless another process has reached one.

        Several processes may write at once, each what it saw at another version, and an older row may so come to lie
        over a newer one. So what is reached in the end is the lowest of their versions (`writing`): what has changed
        since then is looked at again.

        Args:
            version: of the memory when the texts were read.
        """
        place = {"table": table.id, "space": state.id, "version": version}

        def put(db: Db) -> bool:
            new = (
                "INSERT INTO vector_marks (table_id, namespace_id) VALUES (%(table)s, %(space)s) ON CONFLICT DO NOTHING"
            )
            db.execute(new, place)
            where = "WHERE table_id = %(table)s AND namespace_id = %(space)s"
            row = db.execute(f"SELECT version FROM vector_marks {where} FOR UPDATE", place).fetchone()
            if row is None or row["version"] != state.reached:
                return False
            for some in vectors:
                table.replace(db, state.id, some.part, some.touched, some.numbers, some.vectors)
            lowest = "least(writing, %(version)s)"
            sets = f"version = {lowest}, writing = NULL" if last else f"writing = {lowest}"
            db.execute(f"UPDATE vector_marks SET {sets} {where}", place)
            return True

        return self._server.redoable(put)

    def _hear(self, version: int) -> None:
        """Somebody has committed: catch up before this process is asked."""
        if self._on_server is not None:
            self._caught_up(self._on_server)

    def _want_index(self, there: _OnServer, state: _State | None, part: Part) -> None:
        if state is None or not there.table.indexable or not there.table.may_write:
            return
        if state.rows(part) >= self._index_from:
            there.builder.want(state.id, part, state.rows(part))

    def _state(self, there: _OnServer) -> _State | None:
        rows = self._server.rows(_STATE, {"table": there.table.id, "name": held(self._namespace)})
        return _State(**rows[0]) if rows else None

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
        self._on_server = _OnServer(table, IndexBuilder(self._server, table))
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


def _ranked(found: Rows, fresh: _Fresh, query: Vector, k: int, among: Collection[int] | None) -> Hits:
    numbers = np.concatenate([found.numbers, np.array(fresh.numbers, dtype=np.int64)])
    vectors = np.concatenate([found.vectors, fresh.vectors])
    places = np.arange(len(numbers))
    if among is not None:
        places = places[np.isin(numbers, list(among))]
    return best(vectors, numbers, places, query, k) if len(places) else NO_HITS
