"""Finds what is near a text in one namespace of a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.search.neighbours import Neighbours
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.view import Scored
from indexes.embedder import Embedder
from indexes.index import Hits
from indexes.vectors import Vector


class Retriever:
    """Embeds what is asked, lets `neighbours` find the numbers of what is near, and reads their values.

    Bullets are found by their content, experiences by their query.
    """

    def __init__(self, store: MemoryStore, embedder: Embedder, *, namespace: str, neighbours: Neighbours) -> None:
        self._store = store
        self._embedder = embedder
        self._namespace = namespace
        self._neighbours = neighbours

    def nearest_bullets(
        self, text: str, k: int, *, min_score: float = -1.0, among: Iterable[str] | None = None
    ) -> Sequence[Scored[Bullet]]:
        """The k nearest active bullets, best first, ties by the lowest number."""
        if k <= 0 or not self._store.count_bullets(self._namespace):
            return []
        numbers = None if among is None else [number_of(id) or 0 for id in among]
        found = _reaching(self._neighbours.bullets(self._vector(text), k, among=numbers), min_score)
        values = self._store.bullets_by_number(self._namespace, [number for number, _ in found])
        return [
            Scored(values[number], score)
            for number, score in found
            if number in values and values[number].status == "active"
        ]

    def nearest_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        """The k active experiences with the nearest queries, best first, ties by the lowest number."""
        if k <= 0 or not self._store.count_experiences(self._namespace):
            return []
        found = _reaching(self._neighbours.experiences(self._vector(text), k), min_score)
        numbers = [number for number, _ in found]
        values = self._store.experiences_by_number(self._namespace, numbers, status="active")
        return [Scored(values[number], score) for number, score in found if number in values]

    def close(self) -> None:
        """Keep what saves work at the next opening."""
        self._neighbours.close()

    def _vector(self, text: str) -> Vector:
        row: Vector = self._embedder.embed([text], "query")[0]
        return row


def _reaching(hits: Hits, min_score: float) -> list[tuple[int, float]]:
    pairs = zip(hits.ids.tolist(), hits.scores.tolist(), strict=True)
    return [(number, score) for number, score in pairs if score >= min_score]
