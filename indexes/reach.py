"""Which of many queries have no row near them: told for all of them at once.

Where a whole batch is looked up and next to nothing is near, one product of matrices takes the place of many searches.
It needs not even the whole rows: of two unit vectors, the inner product of what is left of them is at most the product
of its lengths (Cauchy–Schwarz), so that a third of the dimensions tells of most pairs that they are apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from indexes.ranking import margin
from indexes.vectors import Matrix

ROWS_AT_ONCE: Final = 4_096
QUERIES_AT_ONCE: Final = 1_024  # with as many rows as above, 16 MiB of products
_HEAD_SHARE: Final = 3
_LEAST_HEAD: Final = 16
_COMPARED: Final = 64


def may_reach(
    blocks: Iterable[Matrix], queries: Matrix, least: float, *, rows_wanted: int = 1
) -> npt.NDArray[np.bool_]:
    """bool `[m]`: False where fewer rows than wanted have a cosine of `least` or more to the query.

    It is True where there are as many; it may also be where many come near, so that comparing all would take too long.

    Args:
        blocks: unit rows, `[n, dim]` together.
        queries: `[m, dim]`, unit vectors.
    """
    reached = np.zeros(len(queries), dtype=np.int64)
    least -= margin(queries.shape[1])
    bounded = _bounded(queries)
    for rows in (piece for block in blocks for piece in _split(block, ROWS_AT_ONCE)):
        heads = _bounded(rows)
        for start in range(0, len(queries), QUERIES_AT_ONCE):
            some = slice(start, start + QUERIES_AT_ONCE)
            bounds = bounded[some] @ heads.T
            for place in np.flatnonzero((bounds.max(axis=1) >= least) & (reached[some] < rows_wanted)).tolist():
                near = np.flatnonzero(bounds[place] >= least)
                counted = len(near) <= _COMPARED
                reached[start + place] += (
                    (rows[near] @ queries[start + place] >= least).sum() if counted else rows_wanted
                )
    return reached >= rows_wanted


def _split(block: Matrix, size: int) -> Iterable[Matrix]:
    return (block[start : start + size] for start in range(0, len(block), size))


def _bounded(rows: Matrix) -> Matrix:
    """The first dimensions of unit rows, and the length of the rest: products of two such rows bound their cosine."""
    head = min(rows.shape[1], max(_LEAST_HEAD, rows.shape[1] // _HEAD_SHARE))
    bounded = np.empty((len(rows), head + 1), dtype=np.float32)
    bounded[:, :head] = rows[:, :head]
    squares = np.einsum("ij,ij->i", bounded[:, :head], bounded[:, :head])
    bounded[:, head] = np.sqrt(np.maximum(0, 1 - squares))
    return bounded
