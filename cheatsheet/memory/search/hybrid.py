"""Finds by words as well as by vectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from cheatsheet.errors import StoreCorruptError, StoreError
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.search.fusion import fused
from cheatsheet.memory.search.neighbours import Neighbours
from cheatsheet.memory.search.retriever import Found, Retriever, reaching
from cheatsheet.memory.search.telling import telling_words
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.view import Scored
from indexes.embedder import Embedder
from indexes.index import Hits
from indexes.vectors import Vector

DEPTH: Final = 50
"""How many of each ranking are fused, or k where that is more: further ones could only change the order of the last."""

_Matching = Callable[[str, str, int], Sequence[int]]

_log = logging.getLogger("cheatsheet")


class _Search(Protocol):
    def __call__(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits: ...


class HybridRetriever(Retriever):
    """Fuses what is nearest with what has the telling words of a text (`telling_words`), by their ranks.

    Scores stay cosines, also of what only its words have found, and `min_score` holds for all. So the order may be
    another than that of the scores. What is `nearest` is still found by vectors alone, as is a text without such words.
    """

    def __init__(self, store: MemoryStore, embedder: Embedder, *, namespace: str, neighbours: Neighbours) -> None:
        super().__init__(store, embedder, namespace=namespace, neighbours=neighbours)
        self._told: set[str] = set()

    def relevant_bullets(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Bullet]]:
        words = telling_words(text)
        if k <= 0 or not words or not self._store.count_bullets(self._namespace):
            return self.nearest_bullets(text, k, min_score=min_score)
        matching = self._matching(self._store.matching_bullets, words, k)
        return self._bullets(self._fused(text, k, self._neighbours.bullets, matching, min_score))

    def relevant_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        words = telling_words(text)
        if k <= 0 or not words or not self._store.count_experiences(self._namespace):
            return self.nearest_experiences(text, k, min_score=min_score)
        matching = self._matching(self._store.matching_experiences, words, k)
        return self._experiences(self._fused(text, k, self._neighbours.experiences, matching, min_score))

    def _fused(self, text: str, k: int, search: _Search, matching: Sequence[int], min_score: float) -> Found:
        vector = self._vector(text)
        nearest = dict(reaching(search(vector, max(k, DEPTH))))
        others = [number for number in matching if number not in nearest]
        score = nearest | dict(reaching(search(vector, len(others), among=others)))
        # What was committed between the two searches is known to one of them only, and found at the next recall.
        ranked = fused([list(nearest), [number for number in matching if number in score]])
        return [(number, score[number]) for number in ranked if score[number] >= min_score][:k]

    def _matching(self, find: _Matching, words: Sequence[str], k: int) -> Sequence[int]:
        """Numbers of what has the words; none, which is told once, where the store cannot index them now."""
        try:
            return find(self._namespace, " ".join(words), max(k, DEPTH))
        except StoreCorruptError:
            raise
        except StoreError as error:
            if type(error).__name__ not in self._told:
                self._told.add(type(error).__name__)
                _log.warning("Only vectors are searched, not words: %s", error)
            return ()
