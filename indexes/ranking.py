"""One order for every index: which rows come first, and with what score.

A fast float32 product ends in different last bits for the same row, depending on the library,
the number of threads and where the row stands. Taken as they are, such scores would break ties at
random and let two indexes disagree. So a fast product only proposes candidates, with a margin
that covers its error, and this file alone decides: the candidates' products are summed again in
float64, each row by itself in one fixed order, and rounded to float32. Equal rows then have equal
scores wherever they stand, and every index that stores the same rows gives the same hits.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from indexes.index import Hits
from indexes.vectors import BLOCK_ROWS, Matrix, Vector

NO_HITS = Hits(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))


class Rows(Protocol):
    """What gives rows by their positions."""

    def __getitem__(self, places: npt.NDArray[np.int64]) -> Matrix:
        """The rows at `places`, `[len(places), dim]`."""
        ...


def margin(dim: int) -> float:
    """How far under the k-th fast score a row may lie and still belong to the true top-k.

    A float32 inner product of unit vectors is off by at most dim · eps/2, whatever the order of
    its sum (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., eq. 3.5); two of them are
    compared. The 8 on top cover rows that are of length 1 only to float32, and the last rounding.
    """
    return (dim + 8) * float(np.finfo(np.float32).eps)


def closest(scores: npt.NDArray[np.float32], limit: int, dim: int) -> npt.NDArray[np.int64]:
    """Where in the fast `scores` `[n]`, n ≥ `limit`, the true top of `limit` stand, and what might be among them."""
    kth = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= kth - margin(dim))


def best(rows: Rows, ids: npt.NDArray[np.int64], candidates: npt.NDArray[np.int64], query: Vector, limit: int) -> Hits:
    """The `limit` best of `candidates` by cosine, ties by the lowest id.

    Args:
        rows: all rows of the index.
        ids: int64 `[n]`, the id at every position.
        candidates: int64 `[m]`, positions that hold at least the true top of `limit`.
        query: `[dim]`, a unit vector.
        limit: at least 1.
    """
    scores = _exact_scores(rows, candidates, query)
    found = ids[candidates]
    order = np.lexsort((found, -scores))[:limit]
    return Hits(found[order], scores[order])


def _exact_scores(rows: Rows, candidates: npt.NDArray[np.int64], query: Vector) -> npt.NDArray[np.float32]:
    """float32 `[m]` in [-1, 1]; the same row gives the same score at any position."""
    wide = query.astype(np.float64)
    scores = np.empty(len(candidates), dtype=np.float32)
    for start in range(0, len(candidates), BLOCK_ROWS):
        block = rows[candidates[start : start + BLOCK_ROWS]]
        # A product of two float32 is exact in float64. Unlike a BLAS call, numpy's sum over the
        # contiguous axis adds up each row by itself in an order that depends on its length alone.
        scores[start : start + BLOCK_ROWS] = (block * wide).sum(axis=1)
    # Unit rows are of length 1 ± 1e-7, so a text with itself can score 1.0000001. Adding 0 turns -0 into 0.
    return np.clip(scores, -1.0, 1.0) + np.float32(0.0)
