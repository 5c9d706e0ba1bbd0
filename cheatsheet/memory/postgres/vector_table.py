"""Vectors of one embedding model in a table of pgvector, and the indexes on it.

There is a table for each model and dimension, with a row for every active bullet and experience of every namespace that
was searched. A namespace that is large enough gets an HNSW index of its own, over its rows alone (a partial index): a
small namespace beside a large one is found whole, and nothing of another is ever looked at.

How nearly an index finds what a scan finds depends on how the vectors lie, and on how many there are. So each one is
compared with a scan when it is built, and searched as widely as it needs (`index_check.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.server import Server
from cheatsheet.memory.postgres.vector_rows import as_binary, as_text, from_sent
from cheatsheet.memory.search.neighbours import Part
from indexes.ranking import margin
from indexes.vectors import Matrix, Vector

M, EF_CONSTRUCTION = 16, 128
"""Links of an element of the graph, and candidates kept while it is built."""

CODES: Final[dict[Part, int]] = {"bullets": 0, "experiences": 1}
"""The column `what` of the tables of vectors."""

_MOST_DIM_INDEXED: Final = 2_000
_MOST_DIM_HALVED: Final = 4_000
_LOCK: Final = 0x43484549  # "CHEI": under which an index is built
_ROW_EXTRA_BYTES: Final = 500  # of the graph, beside the vector itself
_MOST_MEMORY_KIB: Final = 2**20

_log = logging.getLogger("cheatsheet")


@dataclass(frozen=True, slots=True)
class Rows:
    """What was found, nearest first.

    Attributes:
        numbers: int64 `[m]`.
        vectors: float32 `[m, dim]`.
        distances: float64 `[m]`, minus the inner products as the server has them.
    """

    numbers: npt.NDArray[np.int64]
    vectors: Matrix
    distances: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Index:
    """What is known of an index.

    Attributes:
        is_there: whether it can be used.
        ef_search: candidates that a search has to keep; 0 where it finds too little even so, and is not there.
        rows: how many vectors there were when this was found out.
    """

    is_there: bool
    ef_search: int
    rows: int

    @property
    def holds_below(self) -> int:
        """From how many rows on it is to be compared anew."""
        return 2 * max(self.rows, 1)

    def holds(self, rows: int) -> bool:
        """Whether nothing is to be done for so many rows."""
        return rows < self.holds_below and (self.is_there or self.ef_search == 0)


class VectorTable:
    """The vectors of one model.

    Args:
        extension: the schema that pgvector lies in.
        may_write: whether this memory may write to it.
    """

    def __init__(self, server: Server, id: int, dim: int, extension: str, *, may_write: bool) -> None:
        self.id = id
        self.dim = dim
        self.may_write = may_write
        self._server = server
        self._name = f"vectors_{id}"
        self._in = f'"{extension}"'

    @property
    def indexable(self) -> bool:
        """Whether pgvector can index vectors of this dimension; those above are scanned."""
        return self.dim <= _MOST_DIM_HALVED

    @property
    def tolerance(self) -> float:
        """How far the server's distances may be off: by rounding in float32, or in half precision above 2,000
        dimensions, which has 11 bits for each of two factors.
        """
        return margin(self.dim) + (2.0**-10 if self._half else 0.0)

    def nearest(
        self,
        space: int,
        part: Part,
        query: Vector,
        limit: int,
        *,
        ef_search: int = 0,
        among: Sequence[int] | None = None,
        without: Sequence[int] = (),
    ) -> Rows:
        """The `limit` nearest rows of a namespace.

        Args:
            query: `[dim]`.
            ef_search: candidates that a search in the index keeps; where there is none, or they are fewer than are
                wanted, every row is compared.
            among: numbers of the rows to look at; None for all.
            without: numbers of rows to pass over.
        """
        chosen = "" if among is None else "AND number = ANY(%(among)s::bigint[])"
        chosen += " AND number <> ALL(%(without)s::bigint[])" if without else ""
        by_index = among is None and limit <= ef_search
        # An index cannot give the second order, so that every row that is asked for is looked at, and no other.
        order = self._distance if by_index else f"{self._distance} + 0"
        nearest = (
            f"SELECT number, {self._in}.vector_send(embedding) AS sent, {self._distance} AS distance "
            f"FROM {self._name} WHERE {self._of(space, part)} {chosen} ORDER BY {order} LIMIT %(limit)s"
        )
        if by_index:  # within the statement, and before the index is asked
            widely = "SELECT set_config('hnsw.ef_search', %(ef_search)s::text, true) OFFSET 0"
            nearest = f"SELECT found.* FROM ({widely}) AS widely CROSS JOIN LATERAL ({nearest}) AS found"
        values = {"query": as_text(query), "limit": limit, "among": among, "without": list(without)}
        found = self._server.rows(nearest, values | {"ef_search": ef_search})
        return Rows(
            np.array([row["number"] for row in found], dtype=np.int64),
            from_sent([row["sent"] for row in found], self.dim),
            np.array([row["distance"] for row in found], dtype=np.float64),
        )

    def replace(
        self, db: Db, space: int, part: Part, touched: Sequence[int], numbers: Sequence[int], vectors: Matrix
    ) -> None:
        """Forget the rows of all `touched`, and write those of `numbers`, in the caller's transaction.

        Args:
            vectors: `[len(numbers), dim]`.
        """
        query = f"DELETE FROM {self._name} WHERE {self._of(space, part)} AND number = ANY(%s::bigint[])"
        db.execute(query, (list(touched),))
        if not numbers:
            return
        columns = "namespace_id, what, number, embedding"
        with db.cursor().copy(f"COPY {self._name} ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(as_binary(space, CODES[part], numbers, vectors))

    def analyse(self) -> None:
        """Let the server count, after much was written, so that it plans well."""
        with self._server.connect() as db:
            db.execute("SET statement_timeout = 0")
            db.execute(f"ANALYZE {self._name}")

    def sample(self, space: int, part: Part, count: int) -> Matrix:
        """Vectors of some rows of a namespace by chance, `[count, dim]`."""
        found = self._server.rows(
            f"SELECT {self._in}.vector_send(embedding) AS sent FROM {self._name} "
            f"WHERE {self._of(space, part)} ORDER BY random() LIMIT %s",
            (count,),
        )
        return from_sent([row["sent"] for row in found], self.dim)

    def index(self, space: int, part: Part) -> Index | None:
        """What is known of the index of a namespace; None where it was never built and compared."""
        query = (
            "SELECT ef_search, rows, coalesce((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)), "
            "false) AS is_there FROM vector_indexes WHERE table_id = %s AND namespace_id = %s AND what = %s"
        )
        rows = self._server.rows(query, (self._index(space, part), self.id, space, CODES[part]))
        return Index(**rows[0]) if rows else None

    def know_index(self, space: int, part: Part, ef_search: int, rows: int) -> None:
        """Keep how the index has to be searched, for all."""
        query = (
            "INSERT INTO vector_indexes VALUES (%s, %s, %s, %s, %s) ON CONFLICT (table_id, namespace_id, what) "
            "DO UPDATE SET ef_search = excluded.ef_search, rows = excluded.rows"
        )
        values = (self.id, space, CODES[part], ef_search, rows)
        self._server.transaction(lambda db, _: db.execute(query, values).rowcount)

    @contextmanager
    def alone(self, db: Db, space: int, part: Part) -> Iterator[bool]:
        """Whether nobody else builds the index of a namespace while the block lasts.

        Args:
            db: a connection of its own.
        """
        # Whoever waited for the lock in a statement would be waited for by the one that builds, as its snapshot is old.
        key = (_LOCK, f"{self._server.address.schema}.{self._index(space, part)}")
        lock = db.execute("SELECT pg_try_advisory_lock(%s, hashtext(%s)) AS had", key).fetchone()
        had = bool(lock and lock["had"])
        yield had
        if had:
            db.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", key)

    def build_index(self, db: Db, space: int, part: Part, rows: int) -> None:
        """Build the index of a namespace while others read and write, unless it is there.

        Args:
            db: a connection of its own; cancelling it ends the building.
            rows: about how many there are.
        """
        index = self._index(space, part)
        found = db.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", (index,)).fetchone()
        if found is not None and found["indisvalid"]:
            return
        _log.info("Building the index %s over about %d vectors; until then they are scanned.", index, rows)
        self.drop_index(db, space, part)  # what a crash left of one
        db.execute("SELECT set_config('maintenance_work_mem', %s, false)", (self._memory(db, rows),))
        db.execute(
            f"CREATE INDEX CONCURRENTLY {index} ON {self._name} USING hnsw ({self._indexed}) "
            f"WITH (m = {M}, ef_construction = {EF_CONSTRUCTION}) WHERE {self._of(space, part)}"
        )
        _log.info("The index %s is built.", index)

    def drop_index(self, db: Db, space: int, part: Part) -> None:
        """Do away with the index of a namespace, which takes time with every change."""
        db.execute("SET lock_timeout = 0")
        db.execute("SET statement_timeout = 0")
        db.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {self._index(space, part)}")

    def _of(self, space: int, part: Part) -> str:
        # Written out, so that PostgreSQL sees that the partial index fits.
        return f"namespace_id = {space:d} AND what = {CODES[part]:d}"

    def _index(self, space: int, part: Part) -> str:
        return f"near_{self.id:d}_{space:d}_{CODES[part]:d}"

    @property
    def _half(self) -> bool:
        return _MOST_DIM_INDEXED < self.dim <= _MOST_DIM_HALVED

    @property
    def _distance(self) -> str:
        """Minus the inner product, in the words of the index."""
        if self._half:
            kind = f"{self._in}.halfvec({self.dim})"
            return f"((embedding::{kind}) OPERATOR({self._in}.<#>) (%(query)s::{self._in}.vector::{kind}))"
        return f"(embedding OPERATOR({self._in}.<#>) (%(query)s::{self._in}.vector))"

    @property
    def _indexed(self) -> str:
        if self._half:
            return f"(embedding::{self._in}.halfvec({self.dim})) {self._in}.halfvec_ip_ops"
        return f"embedding {self._in}.vector_ip_ops"

    def _memory(self, db: Db, rows: int) -> str:
        """What building in memory takes, up to 1 GiB; no less than the server gives anyway."""
        needed = rows * (self.dim * 4 + _ROW_EXTRA_BYTES) // 1024
        usual = db.execute("SELECT setting::bigint AS kib FROM pg_settings WHERE name = 'maintenance_work_mem'")
        row = usual.fetchone()
        return f"{max(min(needed, _MOST_MEMORY_KIB), row['kib'] if row else 0)}kB"
