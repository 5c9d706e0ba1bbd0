"""A pass as ACE's analyzer makes it after each curation: every bullet is embedded again, and compared with every other.

The analyzer (ace/core/bulletpoint_analyzer.py of ace-agent/ace) keeps no vectors. Here its embedding model is the one
that all sides have, which is a third of the size of its own default, and its loops over pairs in Python are numpy's:
what is measured is less than what it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.perf.rivals.rival import Took, clock_ms
from indexes.embedder import Embedder
from indexes.vectors import Matrix

THRESHOLD: Final = 0.9
"""Its default."""

_ROWS_AT_ONCE: Final = 1_024


class ReEmbedding:
    """An N×N pass.

    Args:
        most: bullets that are embedded in a pass; above, so many are, and the time of the others is reckoned.
    """

    name = "re-embedding pass"
    what = "embed all bullets again, and compare every pair, as ACE's analyzer does"
    steps = 1

    def __init__(self, embedder: Embedder, folder: Path, *, most: int = 10_000) -> None:
        self._embedder = embedder
        self._most = most
        self._bullets: list[str] = []
        self._vectors: Matrix = np.zeros((0, embedder.dim), dtype=np.float32)

    def fill(self, bullets: Sequence[str], vectors: Matrix) -> None:
        self._bullets = list(bullets)
        self._vectors = vectors

    def step(self, question: str, bullet: str) -> Took:
        bullets = [*self._bullets[1:], bullet]  # as many in every step
        embedded = bullets[-self._most :]
        begun = clock_ms()
        rows = self._embedder.embed(embedded)
        embedding_ms = (clock_ms() - begun) * len(bullets) / len(embedded)
        whole = rows if len(rows) == len(bullets) else np.concatenate([self._vectors[len(rows) :], rows])
        begun = clock_ms()
        alike(whole, THRESHOLD)
        comparing_ms = clock_ms() - begun
        parts = {"embedding all": embedding_ms, "comparing all": comparing_ms}
        return Took(embedding_ms + comparing_ms, estimated=len(embedded) < len(bullets), parts=parts)

    def close(self) -> None:
        """There is nothing to close."""


def alike(rows: Matrix, threshold: float) -> list[tuple[int, int]]:
    """The pairs of unit rows whose cosine is `threshold` or more, the smaller place first."""
    pairs: list[tuple[int, int]] = []
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        first, second = np.nonzero(rows[start : start + _ROWS_AT_ONCE] @ rows.T >= threshold)
        later = second > first + start
        pairs += zip((first[later] + start).tolist(), second[later].tolist(), strict=True)
    return pairs
