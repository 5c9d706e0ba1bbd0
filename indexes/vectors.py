"""Matrices of vectors: their type, and how rows are made safe to compare."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from indexes.errors import DimensionMismatchError, NonFiniteVectorError, VectorError

Matrix = npt.NDArray[np.float32]
"""float32 `[n, dim]`, C-contiguous; rows are of length 1, or all zero."""

Vector = npt.NDArray[np.float32]
"""float32 `[dim]`, of length 1 or all zero."""

UNIT_TOLERANCE = 1e-3
"""How far from 1 the length of a row may be: rows are normalised in float32, and int8 models leave some more."""

BLOCK_ROWS = 4096
"""Rows that are looked at together: widened to float64, 12 MiB at dimension 384, whatever the matrix holds."""


def as_matrix(rows: npt.ArrayLike) -> npt.NDArray[np.number]:
    """`rows` as an array `[n, dim]`; one row `[dim]` becomes `[1, dim]`.

    Raises:
        VectorError: the rows differ in length, hold no numbers, or have more than two dimensions.
    """
    try:
        matrix = np.atleast_2d(np.asarray(rows))
    except ValueError as error:
        raise VectorError("Vectors must be numbers, in rows of equal length.") from error
    if matrix.dtype.kind not in "fiu":
        raise VectorError(f"Vectors must be real numbers, not of type {matrix.dtype}.")
    if matrix.ndim != 2:
        raise VectorError(f"Vectors must be [n, dim] or [dim], not of shape {matrix.shape}.")
    return matrix


def normalise(rows: npt.ArrayLike) -> Matrix:
    """Scale every row to length 1; zero rows stay zero, so that their cosine with anything is 0.

    Args:
        rows: `[n, dim]`, or one row `[dim]`, which becomes `[1, dim]`.

    Raises:
        NonFiniteVectorError: a row holds NaN or infinity; the message names the first such row.
        VectorError: the rows differ in length, hold no numbers, or have more than two dimensions.
    """
    matrix = as_matrix(rows)
    _refuse_non_finite(matrix)
    unit = np.empty(matrix.shape, dtype=np.float32)
    for block in _blocks(len(matrix)):
        unit[block] = _unit_rows(matrix[block].astype(np.float64))
    return unit


def is_unit(vector: Vector) -> bool:
    """Whether a row `[dim]` is one that an embedder may have given: finite, and of length 1 or all zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = float(np.dot(vector, vector))
    return squares == 0 or abs(squares**0.5 - 1) <= UNIT_TOLERANCE


def check_dimension(rows: npt.NDArray[np.number], dim: int, what: str = "rows") -> None:
    """Raise `DimensionMismatchError` unless the last axis of `rows` is `dim` long."""
    if rows.shape[-1] != dim:
        raise DimensionMismatchError(expected=dim, got=int(rows.shape[-1]), what=what)


def _refuse_non_finite(matrix: npt.NDArray[np.number]) -> None:
    bad = [block.start + place for block in _blocks(len(matrix)) for place in _non_finite(matrix[block]).tolist()]
    if bad:
        raise NonFiniteVectorError(
            f"Row {bad[0]} holds NaN or infinity ({len(bad)} such rows). Leave them out or embed again."
        )


def _non_finite(block: npt.NDArray[np.number]) -> npt.NDArray[np.int64]:
    """Where in `block` `[n, dim]` rows stand that hold NaN or infinity."""
    return np.flatnonzero(~np.isfinite(block).all(axis=1))


def _blocks(count: int) -> list[slice]:
    """Of so many rows, those that are looked at together."""
    return [slice(start, start + BLOCK_ROWS) for start in range(0, count, BLOCK_ROWS)]


def _unit_rows(block: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """`block` `[n, dim]` with rows of length 1, or 0."""
    # Dividing by the largest entry first keeps the squares of huge and tiny rows finite.
    largest = np.abs(block).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(block, largest, out=np.zeros_like(block), where=largest > 0)
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    unit: npt.NDArray[np.float64] = np.divide(scaled, length, out=np.zeros_like(scaled), where=length > 0)
    return unit
