"""Finds what is near a text in one namespace of a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.search.neighbours import Neighbours, Reaching
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.view import Scored
from indexes.embedder import Embedder
from indexes.index import Hits
from indexes.vectors import Vector

Found: TypeAlias = "Iterable[tuple[int, float]]"
"""Numbers with their cosine, the best first."""


class Retriever:
    """Embeds what is asked, lets `neighbours` find the numbers of what is near, and reads their values.

    Bullets are found by their content, experiences by their query. Here what is relevant is what is nearest.
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
        return self._bullets(reaching(self._neighbours.bullets(self._vector(text), k, among=numbers), min_score))

    def nearest_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        """The k active experiences with the nearest queries, best first, ties by the lowest number."""
        if k <= 0 or not self._store.count_experiences(self._namespace):
            return []
        return self._experiences(reaching(self._neighbours.experiences(self._vector(text), k), min_score))

    def relevant_bullets(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Bullet]]:
        """The k active bullets that fit a text best, all with a cosine of at least `min_score`."""
        return self.nearest_bullets(text, k, min_score=min_score)

    def relevant_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        """The k active experiences whose queries fit a text best, all with a cosine of at least `min_score`."""
        return self.nearest_experiences(text, k, min_score=min_score)

    def may_be_near(self, texts: Sequence[str], min_score: float, *, known: bool = False) -> Sequence[bool]:
        """For each text whether `nearest_bullets` may find any; False is certain.

        Args:
            known: the texts are those of active bullets, and it is asked for others.
        """
        # A text is found by itself where the embedder makes no difference between what is asked and what is stored.
        if not isinstance(self._neighbours, Reaching) or (known and not self._embedder.symmetric):
            return [True] * len(texts)
        queries = self._embedder.embed(texts, "query")
        near: list[bool] = self._neighbours.may_reach(queries, min_score, rows_wanted=1 + known).tolist()
        return near

    def close(self) -> None:
        """Keep what saves work at the next opening."""
        self._neighbours.close()

    def _vector(self, text: str) -> Vector:
        row: Vector = self._embedder.embed([text], "query")[0]
        return row

    def _bullets(self, found: Found) -> list[Scored[Bullet]]:
        score = dict(found)
        values = self._store.bullets_by_number(self._namespace, score)
        return [Scored(values[number], score[number]) for number in score if _is_active(values.get(number))]

    def _experiences(self, found: Found) -> list[Scored[Experience]]:
        score = dict(found)
        values = self._store.experiences_by_number(self._namespace, score, status="active")
        return [Scored(values[number], score[number]) for number in score if number in values]


def reaching(hits: Hits, min_score: float = -1.0) -> list[tuple[int, float]]:
    """Numbers and scores of the hits with so much of a score."""
    pairs = zip(hits.ids.tolist(), hits.scores.tolist(), strict=True)
    return [(number, score) for number, score in pairs if score >= min_score]


def _is_active(bullet: Bullet | None) -> bool:
    return bullet is not None and bullet.status == "active"
