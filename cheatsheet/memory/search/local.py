"""Vector indexes in this process, in step with the store."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cheatsheet.memory.search.neighbours import IndexFactory, Progress
from cheatsheet.memory.store import MemoryStore
from indexes.embedder import Embedder
from indexes.index import Hits, VectorIndex
from indexes.vectors import Vector

EMBED_AT_ONCE = 256


@dataclass(slots=True)
class _Indexed:
    """One index and the journal version up to which it is right."""

    bullets: VectorIndex
    experiences: VectorIndex
    version: int = 0


class LocalNeighbours:
    """Keeps two indexes, over active bullets and over active experiences. Promises: see `Neighbours`.

    An index is a cache: it is built from the store when it is first asked, and catches up with the journal before
    every search, whoever wrote.

    Args:
        progress: told while many texts have to be embedded, as after a change of the embedding model.
    """

    def __init__(
        self,
        store: MemoryStore,
        embedder: Embedder,
        *,
        namespace: str,
        make_index: IndexFactory,
        progress: Progress | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._namespace = namespace
        self._make_index = make_index
        self._progress = progress
        self._indexed: _Indexed | None = None
        self._lock = threading.RLock()

    def bullets(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        return self._synced().bullets.search(query, k, among=among)

    def experiences(self, query: Vector, k: int) -> Hits:
        return self._synced().experiences.search(query, k)

    def close(self) -> None:
        """Nothing is kept."""

    def _synced(self) -> _Indexed:
        """The indexes, caught up with the store."""
        with self._lock:
            if self._indexed is None:
                dim = self._embedder.dim
                self._indexed = _Indexed(self._make_index(dim), self._make_index(dim))
            if self._store.version(self._namespace) > self._indexed.version:
                self._catch_up(self._indexed)
            return self._indexed

    def _catch_up(self, indexed: _Indexed) -> None:
        touched = self._store.touched(self._namespace, after=indexed.version)
        bullets, experiences = _active(touched.bullets), _active(touched.experiences)
        total = len(bullets) + len(experiences)
        indexed.bullets.remove(_inactive(touched.bullets))
        indexed.experiences.remove(_inactive(touched.experiences))
        self._fill(indexed.bullets, bullets, 0, total)
        self._fill(indexed.experiences, experiences, len(bullets), total)
        indexed.version = touched.version

    def _fill(self, index: VectorIndex, texts: Sequence[tuple[int, str]], done: int, total: int) -> None:
        for start in range(0, len(texts), EMBED_AT_ONCE):
            some = texts[start : start + EMBED_AT_ONCE]
            index.add([number for number, _ in some], self._embedder.embed([text for _, text in some], "document"))
            if self._progress and total > EMBED_AT_ONCE:
                self._progress(done + start + len(some), total)


def _active(rows: Sequence[tuple[int, str, bool]]) -> list[tuple[int, str]]:
    return [(number, text) for number, text, is_active in rows if is_active]


def _inactive(rows: Sequence[tuple[int, str, bool]]) -> list[int]:
    return [number for number, _, is_active in rows if not is_active]
