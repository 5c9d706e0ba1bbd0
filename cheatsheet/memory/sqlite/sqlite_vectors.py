"""Embeddings in the SQLite store: each text once for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, islice

import numpy as np

from cheatsheet.memory.sqlite.connections import Connections
from indexes.cached import CacheKey
from indexes.vectors import Vector

# SQLite takes 32,766 parameters a statement since 3.32; a few hundred keep statements small and are as fast.
_KEYS_A_STATEMENT = 400


class SqliteVectors:
    """A `VectorCache` over the table `embeddings`; vectors are float32 in little-endian bytes."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def get_many(self, keys: Sequence[CacheKey]) -> dict[CacheKey, Vector]:
        """The stored vectors of those keys that are known."""
        found: dict[CacheKey, Vector] = {}
        ordered = sorted(set(keys))
        with self._connections.read() as db:
            for (model_id, kind), group in groupby(ordered, key=lambda key: (key.model_id, key.kind)):
                while some := tuple(islice(group, _KEYS_A_STATEMENT)):
                    marks = ",".join("?" * len(some))
                    rows = db.execute(
                        "SELECT sha256, vector FROM embeddings "
                        f"WHERE model_id = ? AND kind = ? AND sha256 IN ({marks})",
                        (model_id, kind, *(bytes.fromhex(key.sha256) for key in some)),
                    )
                    found |= {
                        CacheKey(model_id, kind, row["sha256"].hex()): np.frombuffer(row["vector"], dtype="<f4")
                        for row in rows
                    }
        return found

    def put_many(self, vectors: Mapping[CacheKey, Vector]) -> None:
        """Store vectors; a key that is known keeps its vector."""
        if not vectors or self._connections.read_only:
            return
        with self._connections.write() as db:
            db.executemany(
                "INSERT OR IGNORE INTO embeddings (model_id, kind, sha256, vector) VALUES (?, ?, ?, ?)",
                (
                    (key.model_id, key.kind, bytes.fromhex(key.sha256), np.asarray(vector, dtype="<f4").tobytes())
                    for key, vector in vectors.items()
                ),
            )
