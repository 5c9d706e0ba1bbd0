"""The vectors of one namespace on the server, kept in step with its journal."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from cheatsheet.memory.postgres import forks
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from cheatsheet.memory.postgres.texts import held
from cheatsheet.memory.postgres.vector_table import VectorTable
from cheatsheet.memory.search.neighbours import Part, Progress
from cheatsheet.memory.store import Touched
from indexes.embedder import Embedder
from indexes.vectors import Matrix, normalise

PARTS: Final[tuple[Part, ...]] = ("bullets", "experiences")

MOST_FRESH = 64
"""So many rows that have changed are compared here with the query, before the table on the server is brought up."""

_AT_ONCE: Final = 512

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
class State:
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
class Changed:
    """What has changed of one part.

    Attributes:
        touched: numbers of all that changed: their rows on the server do not hold any more.
        numbers, vectors: of those that are active, `[n]` and `[n, dim]`.
    """

    part: Part
    touched: Sequence[int]
    numbers: Sequence[int]
    vectors: Matrix


class VectorsInStep:
    """Knows what the table of a model lacks of a namespace, and writes it there.

    Args:
        embedder: remembers in the store what it has embedded (`CachedEmbedder`).
        progress: told while many texts have to be embedded.
    """

    def __init__(
        self,
        store: PostgresStore,
        embedder: Embedder,
        table: VectorTable,
        *,
        namespace: str,
        progress: Progress | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._table = table
        self._namespace = namespace
        self._progress = progress
        self._catching_up = threading.Lock()
        self._closed = False
        forks.watch(self)

    def state(self) -> State | None:
        """The namespace as it is now; None where there is none."""
        rows = self._store.server.rows(_STATE, {"table": self._table.id, "name": held(self._namespace)})
        return State(**rows[0]) if rows else None

    def changed(self, state: State, part: Part, *, all_of_it: bool = False) -> Changed | None:
        """What has changed since the server's vectors; None where that is better written to the server first."""
        touched = Touched(state.version, (), ())
        if state.version > state.reached:
            touched = self._store.touched(self._namespace, after=state.reached)
        many = len(touched.bullets) + len(touched.experiences) > MOST_FRESH
        # A commit must neither wait for others here nor keep others waiting, and what is pinned cannot be written.
        if many and not (all_of_it or self._store.reads_apart):
            return None
        return self._embedded(part, touched.bullets if part == "bullets" else touched.experiences)

    def caught_up(self) -> State | None:
        """Bring the table up to the version of now, or to a newer one."""
        state = self.state()
        wanted = state.version if state else 0
        if state is None or state.reached >= wanted:
            return state
        with self._catching_up:
            state = self.state()  # another thread may have done it while this one waited
            while state is not None and state.reached < wanted and not self._closed:
                self._write(state)
                state = self.state()
        return state

    def close(self) -> None:
        """Write no more than the part that is being written."""
        self._closed = True

    def begin_anew(self) -> None:
        self._catching_up = threading.Lock()

    def _write(self, state: State) -> None:
        """Embed what was touched and write it, in parts; where another process is faster, leave it to that."""
        touched = self._store.touched(self._namespace, after=state.reached)
        rows = [(part, row) for part in PARTS for row in getattr(touched, part)]
        for start in range(0, max(len(rows), 1), _AT_ONCE):
            some, last = rows[start : start + _AT_ONCE], start + _AT_ONCE >= len(rows)
            changed = [self._embedded(part, [row for kind, row in some if kind == part]) for part in PARTS]
            if self._closed or not self._put(state, changed, touched.version, last=last):
                return
            if self._progress and len(rows) > _AT_ONCE:
                self._progress(start + len(some), len(rows))
        if len(rows) > _AT_ONCE:
            self._table.analyse()

    def _embedded(self, part: Part, rows: Sequence[tuple[int, str, bool]]) -> Changed:
        active = [(number, text) for number, text, is_active in rows if is_active]
        vectors: Matrix = np.zeros((0, self._table.dim), dtype=np.float32)
        if active:
            vectors = normalise(self._embedder.embed([text for _, text in active]))
        return Changed(part, [number for number, _, _ in rows], [number for number, _ in active], vectors)

    def _put(self, state: State, changed: Sequence[Changed], version: int, *, last: bool) -> bool:
        """Write vectors, and with the last of them the version that is reached, unless another process has reached one.

        Several processes may write at once, each what it saw at another version, and an older row may so come to lie
        over a newer one. So what is reached in the end is the lowest of their versions (`writing`): what has changed
        since then is looked at again.

        Args:
            version: of the memory when the texts were read.
        """
        place = {"table": self._table.id, "space": state.id, "version": version}
        where = "WHERE table_id = %(table)s AND namespace_id = %(space)s"
        lowest = "least(writing, %(version)s)"
        sets = f"version = {lowest}, writing = NULL" if last else f"writing = {lowest}"

        def put(db: Db) -> bool:
            new = "INSERT INTO vector_marks (table_id, namespace_id) VALUES (%(table)s, %(space)s)"
            db.execute(f"{new} ON CONFLICT DO NOTHING", place)
            row = db.execute(f"SELECT version FROM vector_marks {where} FOR UPDATE", place).fetchone()
            if row is None or row["version"] != state.reached:
                return False
            for some in changed:
                self._table.replace(db, state.id, some.part, some.touched, some.numbers, some.vectors)
            db.execute(f"UPDATE vector_marks SET {sets} {where}", place)
            return True

        return self._store.server.redoable(put)
