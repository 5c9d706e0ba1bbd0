"""What keeps a SQLite store small, sound and twice there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from cheatsheet.memory.history.compaction import Compaction
from cheatsheet.memory.history.sheet import Snapshot
from cheatsheet.memory.sqlite.backup import back_up
from cheatsheet.memory.sqlite.compacting import read_snapshot, write_compaction
from cheatsheet.memory.sqlite.damage import damage_told
from cheatsheet.memory.sqlite.rows import teach_digest
from cheatsheet.memory.sqlite.shrinking import count_unneeded, forget_unneeded, size_of
from cheatsheet.memory.sqlite.sqlite_vectors import SqliteVectors, vector_of
from cheatsheet.memory.sqlite.sqlite_words import faults_in_words
from cheatsheet.memory.store import Progress, Shrunk
from cheatsheet.memory.upkeep.flaw import told_altered
from indexes.cached import CacheKey
from indexes.vectors import Vector

_MOST_FAULTS: Final = 20


class SqliteUpkeep(SqliteVectors):
    """The part of `MemoryStore` that is about the store itself."""

    def pinned(self) -> AbstractContextManager[None]:
        return self._connections.pinned()

    def snapshot(self, namespace: str) -> Snapshot:
        with self._connections.read() as db, damage_told(db):
            return read_snapshot(db, _space(db, namespace))

    def compact(self, namespace: str, compaction: Compaction, *, still: Callable[[], bool]) -> bool:
        with self._connections.write() as db:
            fits = still()
            if fits:
                write_compaction(db, _space(db, namespace), compaction)
        return fits

    def next_numbers(self, namespace: str) -> tuple[int, int]:
        with self._connections.read() as db:
            query = "SELECT next_bullet, next_experience FROM namespaces WHERE name = ?"
            row = db.execute(query, (namespace,)).fetchone()
        return (row["next_bullet"], row["next_experience"]) if row else (1, 1)

    def vectors(self) -> Iterator[tuple[CacheKey, Vector | None]]:
        waiting = dict(self._waiting)
        with self._connections.read() as db:
            for row in db.execute("SELECT model_id, kind, sha256, vector FROM embeddings"):
                key = CacheKey(row["model_id"], row["kind"], row["sha256"].hex())
                waiting.pop(key, None)
                yield key, vector_of(row["vector"])
        yield from waiting.items()

    def faults(self) -> Sequence[str]:
        with self._connections.read() as db:
            found = db.execute(f"PRAGMA integrity_check({_MOST_FAULTS})").fetchall()
            told = [f"SQLite finds: {text}." for (text,) in found if text != "ok"]
            strays = db.execute("PRAGMA foreign_key_check").fetchmany(_MOST_FAULTS)
            told += [
                f"A row of {stray['table']} names a row of {stray['parent']} that is not there." for stray in strays
            ]
            return [*told, *_ahead(db), *_altered(db), *faults_in_words(db)]

    def shrink(self, unusable: Collection[CacheKey] = (), *, dry_run: bool = False) -> Shrunk:
        self.store_waiting()
        with self._connections.read() as db:
            before = size_of(db)
            if dry_run:
                return Shrunk(vectors=count_unneeded(db, unusable), bytes_before=before, bytes_after=before)
        with self._connections.write() as db:
            vectors = forget_unneeded(db, unusable)
        self._connections.give_back_room()
        with self._connections.read() as db:
            return Shrunk(vectors=vectors, bytes_before=before, bytes_after=size_of(db))

    def backup(self, path: Path, *, force: bool = False, progress: Progress | None = None) -> None:
        self.store_waiting()
        with self._connections.pinned(), self._connections.read() as db:
            back_up(db, path, origin=self._connections.path, force=force, progress=progress)


def _space(db: sqlite3.Connection, namespace: str) -> int:
    """The id of a namespace; one that no row has where there is no such namespace."""
    row = db.execute("SELECT id FROM namespaces WHERE name = ?", (namespace,)).fetchone()
    return row["id"] if row else 0


def _altered(db: sqlite3.Connection) -> Sequence[str]:
    """What an experience says stands in no journal, and is known by its digest."""
    teach_digest(db)
    query = (
        "SELECT name, number FROM experiences JOIN namespaces ON id = namespace_id "
        "WHERE digest IS NOT digest_of(CAST(query AS BLOB), CAST(data AS BLOB))"
    )
    return told_altered(db.execute(query))


def _ahead(db: sqlite3.Connection) -> Iterator[str]:
    """What a row says that it was last touched by and the journal does not have: an index would never see it."""
    for table in ("bullets", "experiences"):
        query = (
            f"SELECT count(*) FROM {table} WHERE version > "
            f"(SELECT ifnull(max(version), 0) FROM journal WHERE namespace_id = {table}.namespace_id)"
        )
        (count,) = db.execute(query).fetchone()
        if count:
            yield f"{count:,} of the {table} were touched by a version that the journal does not have yet."
