"""Embeddings in the PostgreSQL store: each text once for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from cheatsheet.memory.postgres.server import Server
from indexes.cached import CacheKey
from indexes.vectors import Vector

_FIND = "SELECT sha256, vector FROM embeddings WHERE model_id = %s AND kind = %s AND sha256 = ANY(%s::bytea[])"
_PUT = (
    "INSERT INTO embeddings (model_id, kind, sha256, vector) "
    "SELECT * FROM unnest(%s::text[], %s::text[], %s::bytea[], %s::bytea[]) ON CONFLICT DO NOTHING"
)


class PostgresVectors:
    """A `VectorCache` over the table `embeddings`; vectors are float32 in little-endian bytes."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def get_many(self, keys: Sequence[CacheKey]) -> dict[CacheKey, Vector]:
        """The stored vectors of those keys that are known."""
        found: dict[CacheKey, Vector] = {}
        for (model_id, kind), group in groupby(sorted(set(keys)), key=lambda key: (key.model_id, key.kind)):
            rows = self._server.rows(_FIND, (model_id, kind, [bytes.fromhex(key.sha256) for key in group]))
            found |= {
                CacheKey(model_id, kind, row["sha256"].hex()): np.frombuffer(row["vector"], dtype="<f4") for row in rows
            }
        return found

    def put_many(self, vectors: Mapping[CacheKey, Vector]) -> None:
        """Store vectors; a key that is known keeps its vector."""
        if not vectors or self._server.read_only:
            return
        # In one order everywhere, so that two who store the same texts wait for each other and not in a circle.
        keys = sorted(vectors)
        values = (
            [key.model_id for key in keys],
            [key.kind for key in keys],
            [bytes.fromhex(key.sha256) for key in keys],
            [np.asarray(vectors[key], dtype="<f4").tobytes() for key in keys],
        )

        self._server.redoable(lambda db: db.execute(_PUT, values).rowcount)
