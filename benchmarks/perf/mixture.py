"""As many vectors as are wanted that lie as those of real texts do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from indexes.vectors import Matrix, normalise

Shape = Literal["texts", "even"]

AT_ONCE: Final = 10_000
NOISE: Final = 0.25
"""Length of what is added to a mixture of two unit vectors, so that no row lies in the plane of its two texts."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """Rows out of the vectors of real texts, the same ones each time.

    A row is w·a + (1 - w)·b of two of them, drawn at random as w is between 0 and 1, brought to length 1, with a
    random vector of length `NOISE` added: topics, what lies between them, and no two alike. Rows of the shape "even"
    have a random direction, which no text has; no row is then much nearer than the next, and nothing is harder to find.

    Attributes:
        real: `[n, dim]`, unit rows.
    """

    real: Matrix
    shape: Shape = "texts"

    def batches(self, count: int, *, seed: int = 0) -> Iterator[Matrix]:
        """`count` rows, `AT_ONCE` at a time."""
        random = np.random.default_rng(seed)
        for start in range(0, count, AT_ONCE):
            yield self._batch(min(AT_ONCE, count - start), random)

    def _batch(self, count: int, random: np.random.Generator) -> Matrix:
        dim = self.real.shape[1]
        noise = random.standard_normal((count, dim), dtype=np.float32)
        if self.shape == "even":
            return normalise(noise)
        first, second = (self.real[random.integers(len(self.real), size=count)] for _ in range(2))
        share = random.random((count, 1), dtype=np.float32)
        return normalise(normalise(share * first + (1 - share) * second) + NOISE / np.sqrt(dim) * noise)
