"""How rows are made safe to compare."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from indexes.errors import DimensionMismatchError, NonFiniteVectorError, VectorError
from indexes.vectors import BLOCK_ROWS, check_dimension, normalise

finite = arrays.arrays(
    np.float64,
    st.tuples(st.integers(0, 5), st.integers(1, 6)),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)


@given(finite)
def test_rows_have_length_1_or_are_zero_whatever_their_size(rows: npt.NDArray[np.float64]) -> None:
    """Also rows of 1e-300 and of 1e300, whose squares are 0 and infinity."""
    unit = normalise(rows)
    assert (unit.dtype, unit.shape, unit.flags.c_contiguous) == (np.dtype(np.float32), rows.shape, True)
    for before, after in zip(rows.tolist(), unit.tolist(), strict=True):
        assert math.hypot(*after) == pytest.approx(1.0 if any(before) else 0.0, abs=1e-6)


@given(finite)
def test_rows_keep_their_direction(rows: npt.NDArray[np.float64]) -> None:
    for before, after in zip(rows.tolist(), normalise(rows).tolist(), strict=True):
        largest = max(map(abs, before)) or 1.0
        shrunk = [value / largest for value in before]
        assert after == pytest.approx([value / (math.hypot(*shrunk) or 1.0) for value in shrunk], abs=1e-6)


@given(finite, st.integers(0, 5))
def test_a_row_does_not_depend_on_the_others(rows: npt.NDArray[np.float64], place: int) -> None:
    """E2 rests on this."""
    if place < len(rows):
        assert normalise(rows[place]).tolist() == normalise(rows)[place : place + 1].tolist()


def test_blocks_are_put_together_again() -> None:
    rows = np.random.default_rng(0).standard_normal((2 * BLOCK_ROWS + 3, 4))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.allclose(normalise(rows), rows / lengths, atol=1e-6)


def test_what_is_given_is_not_changed() -> None:
    rows = np.array([[3.0, 4.0]], dtype=np.float32)
    assert normalise(rows).tolist() == [[np.float32(0.6), np.float32(0.8)]]
    assert rows.tolist() == [[3, 4]]


@pytest.mark.parametrize("rows", [[[1, 0], [1]], [["a"]], [[None]], np.zeros((2, 2, 2)), [[1j]]])
def test_what_is_no_matrix_is_refused(rows: Any) -> None:
    with pytest.raises(VectorError, match="Vectors must be"):
        normalise(rows)


def test_the_first_row_that_is_not_finite_is_named() -> None:
    with pytest.raises(NonFiniteVectorError, match=r"Row 2 .*\(2 such rows\)"):
        normalise([[1.0, 0.0], [0.0, 0.0], [math.nan, 0.0], [0.0, math.inf]])


def test_d11_a_dimension_error_names_both_dimensions_and_what_has_them() -> None:
    with pytest.raises(DimensionMismatchError, match="The query came with dimension 5, but dimension 3 is needed"):
        check_dimension(np.zeros(5, dtype=np.float32), 3, "query")
