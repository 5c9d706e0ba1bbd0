"""The local memory of `mem0ai`: its Qdrant store in a folder, searched for the question, and the bullet stored in it.

Its `Memory` asks a language model at every step, and the network for notices. What is measured is the rest: the store,
as `Memory.search` and `Memory.add(infer=False)` use it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import md5
from pathlib import Path
from typing import Any, Final

from benchmarks.perf.rivals.rival import Took, clock_ms, imported
from indexes.embedder import Embedder
from indexes.vectors import Matrix

PACKAGE: Final = "mem0ai"
USER: Final = {"user_id": "peers"}
_CANDIDATES: Final = 60  # that `Memory.search` asks the store for, to score them, for any top_k up to 15
_AT_ONCE: Final = 1_000


class Mem0:
    """One user's memories."""

    name = "mem0ai's local search"
    what = "embed question and bullet, search the Qdrant folder (words too with its extra), store the bullet in it"
    steps = 3

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(folder / "mem0")
        make = imported("mem0.vector_stores.qdrant", PACKAGE).Qdrant
        self._store: Any = make("peers", embedder.dim, path=str(folder / "qdrant"), on_disk=True)
        self._embedder = embedder

    def fill(self, bullets: Sequence[str], vectors: Matrix) -> None:
        for start in range(0, len(bullets), _AT_ONCE):
            self._insert(bullets[start : start + _AT_ONCE], vectors[start : start + _AT_ONCE])

    def step(self, question: str, bullet: str) -> Took:
        begun = clock_ms()
        query = self._embedder.embed([question], "query")[0].tolist()
        asked = clock_ms()
        self._store.search(query=question, vectors=query, top_k=_CANDIDATES, filters=USER)
        self._store.keyword_search(query=question, top_k=_CANDIDATES, filters=USER)
        found = clock_ms()
        self._insert([bullet], self._embedder.embed([bullet]))
        ended = clock_ms()
        parts = {"embedding the question": asked - begun, "search": found - asked, "learn": ended - found}
        return Took(ended - begun, parts=parts)

    def close(self) -> None:
        self._store.client.close()

    def _insert(self, texts: Sequence[str], vectors: Matrix) -> None:
        now = datetime.now(UTC).isoformat()
        about = {"created_at": now, "updated_at": now, **USER}
        self._store.insert(
            vectors=vectors.tolist(),
            ids=[str(uuid.uuid4()) for _ in texts],
            payloads=[
                {"data": text, "text_lemmatized": text, "hash": md5(text.encode()).hexdigest(), **about}
                for text in texts
            ],
        )
