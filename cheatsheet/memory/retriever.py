"""Finds what is near: the vector indexes over one namespace of a store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.view import Scored
from indexes.embedder import Embedder
from indexes.index import VectorIndex

Progress = Callable[[int, int], None]
"""Called with how many texts are embedded and how many there are."""

IndexFactory = Callable[[int], VectorIndex]
"""Makes an empty index for vectors of a dimension."""

EMBED_AT_ONCE = 256


@dataclass(slots=True)
class _Indexed:
    """One index and the journal version up to which it is right."""

    bullets: VectorIndex
    experiences: VectorIndex
    version: int = 0


class Retriever:
    """Keeps two indexes, over active bullets and over active experiences, in step with the store.

    An index is a cache: it is built from the store when it is first asked, and catches up with the journal before
    every search, whoever wrote. Texts without a vector of this embedding model are embedded then; vectors of another
    model are never used. Bullets are found by their content, experiences by their query.

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

    def nearest_bullets(
        self, text: str, k: int, *, min_score: float = -1.0, among: Iterable[str] | None = None
    ) -> Sequence[Scored[Bullet]]:
        """The k nearest active bullets, best first, ties by the lowest number."""
        numbers = None if among is None else [number_of(id) or 0 for id in among]
        found = self._search(self.synced().bullets, text, k, min_score, numbers)
        values = self._store.bullets_by_number(self._namespace, [number for number, _ in found])
        return [
            Scored(values[number], score)
            for number, score in found
            if number in values and values[number].status == "active"
        ]

    def nearest_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        """The k active experiences with the nearest queries, best first, ties by the lowest number."""
        found = self._search(self.synced().experiences, text, k, min_score, None)
        numbers = [number for number, _ in found]
        values = self._store.experiences_by_number(self._namespace, numbers, status="active")
        return [Scored(values[number], score) for number, score in found if number in values]

    def synced(self) -> _Indexed:
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

    def _search(
        self, index: VectorIndex, text: str, k: int, min_score: float, among: Sequence[int] | None
    ) -> list[tuple[int, float]]:
        if k <= 0 or len(index) == 0:
            return []
        hits = index.search(self._embedder.embed([text], "query")[0], k, among=among)
        pairs = zip(hits.ids.tolist(), hits.scores.tolist(), strict=True)
        return [(number, score) for number, score in pairs if score >= min_score]


def _active(rows: Sequence[tuple[int, str, bool]]) -> list[tuple[int, str]]:
    return [(number, text) for number, text, is_active in rows if is_active]


def _inactive(rows: Sequence[tuple[int, str, bool]]) -> list[int]:
    return [number for number, _, is_active in rows if not is_active]
