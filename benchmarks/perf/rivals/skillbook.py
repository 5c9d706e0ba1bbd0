"""The duplicate detector of `ace-framework`: it keeps vectors, and compares every pair again at every step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.perf.rivals.rival import Took, clock_ms, imported
from indexes.embedder import Embedder
from indexes.vectors import Matrix

PACKAGE: Final = "ace-framework"
SECTION: Final = "general"


class SkillbookDetector:
    """A skillbook in which all skills stand in one section, as it compares within sections.

    Args:
        most: skills that are compared; above, so many are, and the time of all pairs is reckoned from that of theirs.
    """

    name = "ace-framework's detector"
    what = "embed the new skill, compare every pair of skills"
    steps = 1

    def __init__(self, embedder: Embedder, folder: Path, *, most: int = 1_000) -> None:
        self._skillbook: Any = imported("ace.skillbook", PACKAGE).Skillbook()
        detector = imported("ace.deduplication.detector", PACKAGE)
        self._detector: Any = detector.SimilarityDetector()
        self._detector.compute_embeddings_batch = lambda texts: embedder.embed(texts).tolist()
        self._most = most
        self._size = 0

    def fill(self, bullets: Sequence[str], vectors: Matrix) -> None:
        self._size = len(bullets)
        for text, row in zip(bullets[: self._most], vectors, strict=False):
            self._skillbook.add_skill(SECTION, text).embedding = row.tolist()

    def step(self, question: str, bullet: str) -> Took:
        oldest = self._skillbook.skills()[0]
        self._skillbook.remove_skill(oldest.id)  # as many in every step
        self._skillbook.add_skill(SECTION, bullet)
        begun = clock_ms()
        self._detector.ensure_embeddings(self._skillbook)
        embedded = clock_ms()
        self._detector.detect_similar_pairs(self._skillbook)
        comparing_ms = (clock_ms() - embedded) * self._share()
        parts = {"embedding": embedded - begun, "comparing all": comparing_ms}
        return Took(sum(parts.values()), estimated=self._size > self._most, parts=parts)

    def close(self) -> None:
        """There is nothing to close."""

    def _share(self) -> float:
        """How many times the pairs that were compared all pairs are."""
        compared = min(self._size, self._most)
        return self._size * (self._size - 1) / (compared * (compared - 1))
