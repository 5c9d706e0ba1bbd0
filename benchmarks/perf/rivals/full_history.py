"""Retrieval as Dynamic Cheatsheet does it: cosines to the whole history in double precision, all of them sorted.

Source: suzgunmirac/dynamic-cheatsheet, `dynamic_cheatsheet/language_model.py`: scikit-learn's `cosine_similarity` of
the new question and all earlier ones, and `argsort`. scikit-learn comes with sentence-transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.perf.rivals.rival import Took, clock_ms, imported
from indexes.embedder import Embedder
from indexes.vectors import Matrix


class FullHistory:
    """The vectors of all that was lived, as they were when they were made."""

    name = "full-history cosine"
    what = "embed the question, its cosine to all vectors (scikit-learn, float64), sort them all, as Dynamic Cheatsheet"
    steps = 10

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._cosines = imported("sklearn.metrics.pairwise", "scikit-learn").cosine_similarity
        self._history: npt.NDArray[np.float64] = np.zeros((0, embedder.dim))

    def fill(self, bullets: Sequence[str], vectors: Matrix) -> None:
        self._history = vectors.astype(np.float64)

    def step(self, question: str, bullet: str) -> Took:
        begun = clock_ms()
        row = self._embedder.embed([question], "query").astype(np.float64)
        embedded = clock_ms()
        np.argsort(self._cosines(row, self._history)[0])[::-1]
        ended = clock_ms()
        return Took(ended - begun, parts={"embedding": embedded - begun, "search": ended - embedded})

    def close(self) -> None:
        """There is nothing to close."""
