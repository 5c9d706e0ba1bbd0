"""Embeddings in the SQLite store: each text once for each model."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice

import numpy as np

from cheatsheet.errors import StoreCorruptError, StoreError
from cheatsheet.memory.sqlite.connections import Connections
from indexes.cached import CacheKey
from indexes.vectors import Vector, is_unit

# SQLite takes 32,766 parameters a statement since 3.32; a few hundred keep statements small and are as fast.
_KEYS_A_STATEMENT = 400

MOST_WAITING = 64
"""So many vectors are stored at once, in a transaction of their own."""

_FLOAT_BYTES = 4

_log = logging.getLogger("cheatsheet")


class SqliteVectors:
    """A `VectorCache` over the table `embeddings`; vectors are float32 in little-endian bytes.

    A few vectors wait for the next commit and are stored in its transaction: those of a turn take no transaction of
    their own, and lie in the file as soon as its bullets do. Nobody waits for the disk for their sake: a vector that is
    lost is made again from its text. So is one that is damaged, which is told to the log.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        # Changed by single steps only, so that they need no lock.
        self._waiting: dict[CacheKey, Vector] = {}
        self._damaged: set[CacheKey] = set()

    def get_many(self, keys: Sequence[CacheKey]) -> dict[CacheKey, Vector]:
        """The stored vectors of those keys that are known."""
        found = {key: vector for key in keys if (vector := self._waiting.get(key)) is not None}
        ordered = sorted({key for key in keys if key not in found})
        return found | self._stored(ordered) if ordered else found

    def put_many(self, vectors: Mapping[CacheKey, Vector]) -> None:
        """Store vectors; a key that is known keeps its vector.

        One that cannot be stored, as on a full disk, stands in the way of no recall, and is told to the log.
        """
        if self._connections.read_only:
            return
        for key, vector in vectors.items():
            self._waiting.setdefault(key, vector)
        if len(self._waiting) >= MOST_WAITING and not self._connections.writes_here:
            self.store_waiting()

    def store_waiting(self) -> None:
        """Store the vectors that wait for a commit."""
        if not self._waiting:
            return
        try:
            with self._connections.write(durable=False) as db:
                stored = self._put_waiting(db)
        except StoreCorruptError:
            raise
        except StoreError as error:
            stored = dict(self._waiting)
            _log.warning("Embeddings are not kept, and made again when they are needed: %s", error)
        self._forget_waiting(stored)

    def _put_waiting(self, db: sqlite3.Connection) -> Mapping[CacheKey, Vector]:
        """Store the vectors that wait within a transaction of the caller's, who forgets them once it is committed."""
        waiting = dict(self._waiting)
        if waiting:
            forget(db, [key for key in waiting if key in self._damaged])
            _put(db, waiting)
        return waiting

    def _forget_waiting(self, stored: Iterable[CacheKey]) -> None:
        for key in stored:
            self._waiting.pop(key, None)
            self._damaged.discard(key)

    def _stored(self, ordered: Sequence[CacheKey]) -> dict[CacheKey, Vector]:
        found: dict[CacheKey, Vector] = {}
        damaged: list[CacheKey] = []
        for key, stored in self._read(ordered):
            vector = vector_of(stored)
            if vector is not None and is_unit(vector):
                found[key] = vector
            else:
                damaged.append(key)
        if damaged:
            self._damaged.update(damaged)
            _log.warning(
                "%d embeddings in the memory %s are damaged, and made again from their texts: something else has "
                "changed the file, or the disk has. `cheatsheet verify` tells what else is wrong.",
                len(damaged),
                self._connections.path,
            )
        return found

    def _read(self, ordered: Sequence[CacheKey]) -> Iterator[tuple[CacheKey, object]]:
        with self._connections.read() as db:
            for (model_id, kind), group in groupby(ordered, key=lambda key: (key.model_id, key.kind)):
                while some := {bytes.fromhex(key.sha256): key for key in islice(group, _KEYS_A_STATEMENT)}:
                    marks = ",".join("?" * len(some))
                    where = f"model_id = ? AND kind = ? AND sha256 IN ({marks})"
                    rows = db.execute(f"SELECT sha256, vector FROM embeddings WHERE {where}", (model_id, kind, *some))
                    yield from ((some[digest], stored) for digest, stored in rows)


def vector_of(stored: object) -> Vector | None:
    """The vector `[dim]` of a value in the table; None for what is none."""
    if not isinstance(stored, bytes) or not stored or len(stored) % _FLOAT_BYTES:
        return None
    return np.frombuffer(stored, dtype="<f4")


def forget(db: sqlite3.Connection, keys: Iterable[CacheKey]) -> None:
    """Delete embeddings within a transaction of the caller's."""
    db.executemany(
        "DELETE FROM embeddings WHERE model_id = ? AND kind = ? AND sha256 = ?",
        ((key.model_id, key.kind, bytes.fromhex(key.sha256)) for key in keys),
    )


def _put(db: sqlite3.Connection, vectors: Mapping[CacheKey, Vector]) -> None:
    db.executemany(
        "INSERT OR IGNORE INTO embeddings (model_id, kind, sha256, vector) VALUES (?, ?, ?, ?)",
        (
            (key.model_id, key.kind, bytes.fromhex(key.sha256), np.asarray(vector, dtype="<f4").tobytes())
            for key, vector in vectors.items()
        ),
    )
