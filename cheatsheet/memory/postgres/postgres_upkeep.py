"""What keeps a PostgreSQL store small and sound."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np

from cheatsheet.errors import SetupError
from cheatsheet.memory.history.compaction import Compaction
from cheatsheet.memory.history.sheet import Snapshot
from cheatsheet.memory.postgres.compacting import read_snapshot, write_compaction
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.postgres_vectors import PostgresVectors
from cheatsheet.memory.postgres.texts import held, told
from cheatsheet.memory.sqlite.rows import DIGEST_BYTES
from cheatsheet.memory.store import Progress, Shrunk
from cheatsheet.memory.upkeep.flaw import told_altered
from indexes.cached import CacheKey
from indexes.vectors import Vector

_AT_ONCE: Final = 1_000
_FLOAT_BYTES: Final = 4
_SIZE: Final = (
    "SELECT coalesce(sum(pg_total_relation_size(format('%%I.%%I', schemaname, tablename)::regclass)), 0)::bigint "
    "AS bytes FROM pg_tables WHERE schemaname = %s"
)
# The words of a merged bullet come back by a rollback only, and are embedded again then. A text that is not stored as
# it is (`texts.py`) is not found by its hash here; those few are hashed outside.
_UNNEEDED: Final = (
    "FROM embeddings WHERE sha256 NOT IN ("
    "SELECT sha256(convert_to(content, 'UTF8')) FROM bullets WHERE status <> 'merged' "
    "UNION SELECT sha256(convert_to(query, 'UTF8')) FROM experiences "
    "UNION SELECT unnest(%s::bytea[])) "
    "OR (model_id, kind, sha256) IN (SELECT * FROM unnest(%s::text[], %s::text[], %s::bytea[]))"
)
_ESCAPED: Final = (
    "SELECT content AS text FROM bullets WHERE strpos(content, chr(1)) > 0 AND status <> 'merged' "
    "UNION ALL SELECT query FROM experiences WHERE strpos(query, chr(1)) > 0"
)


class PostgresUpkeep(PostgresVectors):
    """The part of `MemoryStore` that is about the store itself."""

    def pinned(self) -> AbstractContextManager[None]:
        return self._server.pinned()

    def snapshot(self, namespace: str) -> Snapshot:
        with self._server.pinned():
            return read_snapshot(self._server, held(namespace))

    def compact(self, namespace: str, compaction: Compaction, *, still: Callable[[], bool]) -> bool:
        def work(db: Db, _: Sequence[bool]) -> bool:
            # As for every change of a namespace (`space.py`), so that nobody commits meanwhile.
            row = db.execute("SELECT id FROM namespaces WHERE name = %s FOR NO KEY UPDATE", (held(namespace),))
            space = row.fetchone()
            fits = still()
            if fits and space is not None:
                write_compaction(db, space["id"], compaction)
            return fits

        with self._server.turn(namespace):
            return self._server.transaction(work)

    def next_numbers(self, namespace: str) -> tuple[int, int]:
        query = "SELECT next_bullet, next_experience FROM namespaces WHERE name = %s"
        rows = self._server.rows(query, (held(namespace),))
        return (rows[0]["next_bullet"], rows[0]["next_experience"]) if rows else (1, 1)

    def vectors(self) -> Iterator[tuple[CacheKey, Vector | None]]:
        query = (
            "SELECT * FROM embeddings WHERE (model_id, kind, sha256) > (%s, %s, %s::bytea) "
            "ORDER BY model_id, kind, sha256 LIMIT %s"
        )
        last: tuple[Any, ...] = ("", "", b"")
        while rows := self._server.rows(query, (*last, _AT_ONCE)):
            for row in rows:
                yield CacheKey(row["model_id"], row["kind"], row["sha256"].hex()), _vector(row["vector"])
            last = (rows[-1]["model_id"], rows[-1]["kind"], rows[-1]["sha256"])

    def faults(self) -> Sequence[str]:
        with self._server.pinned():
            return [*self._ahead(), *self._miscounted(), *self._altered()]

    def shrink(self, unusable: Collection[CacheKey] = (), *, dry_run: bool = False) -> Shrunk:
        before = self._bytes()
        columns = [[key.model_id for key in unusable], [key.kind for key in unusable]]
        digests = [bytes.fromhex(key.sha256) for key in unusable]
        needed = [sha256(told(row["text"]).encode()).digest() for row in self._server.rows(_ESCAPED)]
        if dry_run:
            found = self._server.rows(f"SELECT count(*) AS rows {_UNNEEDED}", (needed, *columns, digests))
            return Shrunk(vectors=found[0]["rows"], bytes_before=before, bytes_after=before)
        vectors = self._change(lambda db: db.execute(f"DELETE {_UNNEEDED}", (needed, *columns, digests)).rowcount)
        with self._server.connect() as db:
            db.execute("SET statement_timeout = 0")
            db.execute("VACUUM (ANALYZE) embeddings, journal, bullets, experiences")
        return Shrunk(vectors=vectors, bytes_before=before, bytes_after=self._bytes())

    def backup(self, path: Path, *, force: bool = False, progress: Progress | None = None) -> None:
        schema, where = self._server.address.schema, self._server.address.shown
        raise SetupError(
            f"The memory {where} is kept by a server, whose own tools back it up: pg_dump --schema={schema}. "
            f"`cheatsheet migrate {where} FILE` copies it to a memory file."
        )

    def _change(self, work: Callable[[Db], int]) -> int:
        """Do in one transaction what may as well be done twice."""
        return self._server.transaction(lambda db, _: work(db))

    def _bytes(self) -> int:
        return int(self._server.rows(_SIZE, (self._server.address.schema,))[0]["bytes"])

    def _ahead(self) -> Iterator[str]:
        """What a row says that it was last touched by and the journal does not have: an index would never see it."""
        for table in ("bullets", "experiences"):
            query = (
                f"SELECT count(*) AS rows FROM {table} JOIN namespaces ON namespaces.id = namespace_id "
                f"WHERE {table}.version > namespaces.version"
            )
            count = self._server.rows(query)[0]["rows"]
            if count:
                yield f"{count:,} of the {table} were touched by a version that the journal does not have yet."

    def _altered(self) -> Sequence[str]:
        """What an experience says stands in no journal, and is known by its digest, which is that of its texts as they
        are (`texts.py`); those few that are held otherwise are not looked at.
        """
        query = (
            "SELECT name, number FROM experiences JOIN namespaces ON id = namespace_id "
            "WHERE strpos(query, chr(1)) = 0 AND digest <> "
            "substr(sha256(convert_to(query, 'UTF8') || '\\x00'::bytea || convert_to(data, 'UTF8')), 1, %s)"
        )
        return told_altered((told(row["name"]), row["number"]) for row in self._server.rows(query, (DIGEST_BYTES,)))

    def _miscounted(self) -> Iterator[str]:
        """Sums of words by which BM25 weighs, and versions by which all catch up."""
        query = (
            "SELECT name FROM namespaces WHERE "
            "bullet_words <> (SELECT coalesce(sum(length), 0) FROM bullets "
            "WHERE namespace_id = namespaces.id AND status = 'active') OR "
            "experience_words <> (SELECT coalesce(sum(length), 0) FROM experiences "
            "WHERE namespace_id = namespaces.id AND status = 'active') OR "
            "version <> (SELECT coalesce(max(version), 0) FROM journal WHERE namespace_id = namespaces.id)"
        )
        for row in self._server.rows(query):
            yield f"The namespace {told(row['name'])!r} has other sums or another version than its rows."


def _vector(stored: bytes) -> Vector | None:
    return np.frombuffer(stored, dtype="<f4") if stored and len(stored) % _FLOAT_BYTES == 0 else None
