"""The oracle: an exact search in numpy, by which every other index is judged."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from indexes.flat import FlatIndex
from indexes.ranking import closest
from indexes.vectors import Vector

GATHER = 8
"""Where fewer than one row in so many may be found, they are gathered, and else all are multiplied."""


class ExactIndex(FlatIndex):
    """Brute force over all rows in float32; needs nothing but numpy. Promises: see `VectorIndex`."""

    kind: ClassVar[str] = "exact"

    def _candidates(self, query: Vector, limit: int, within: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
        chosen = closest(self._fast_scores(query, within), limit, self._dim)
        return chosen if within is None else within[chosen]

    def _fast_scores(self, query: Vector, within: npt.NDArray[np.int64] | None) -> npt.NDArray[np.float32]:
        """float32, of all rows or of those at `within`, each off by its rounding."""
        if within is None:
            return self._products(query)
        if len(within) * GATHER > len(self._rows):
            return self._products(query)[within]
        return self._rows.products_at(within, query)

    def _products(self, query: Vector) -> npt.NDArray[np.float32]:
        return self._rows.products(query)
