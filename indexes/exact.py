"""The oracle: an exact search in numpy, by which every other index is judged."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from indexes.flat import FlatIndex
from indexes.numbering import GrowingArray
from indexes.ranking import margin
from indexes.vectors import Matrix, Vector


class ExactIndex(FlatIndex):
    """Brute force over one float32 matrix; needs nothing but numpy. Promises: see `VectorIndex`."""

    kind: ClassVar[str] = "exact"

    def __init__(self, dim: int, *, fingerprint: str = "") -> None:
        super().__init__(dim, fingerprint=fingerprint)
        self._stored: GrowingArray[np.float32] = GrowingArray((dim,), np.float32)

    def _rows(self) -> Matrix:
        return self._stored.view

    def _append(self, rows: Matrix) -> None:
        self._stored.append(rows)

    def _truncate(self, count: int) -> None:
        self._stored.truncate(count)

    def _candidates(self, query: Vector, limit: int, within: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
        rows = self._rows() if within is None else self._rows()[within]
        scores = rows @ query
        kth = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        chosen = np.flatnonzero(scores >= kth - margin(self._dim))
        return chosen if within is None else within[chosen]
