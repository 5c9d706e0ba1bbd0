"""Which of many queries have nothing near: never wrong where it says so, and right where it can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes import reach
from indexes.auto import AutoIndex
from indexes.exact import ExactIndex
from indexes.reach import may_reach
from indexes.vectors import Matrix, normalise


def unit_rows(rng: np.random.Generator, count: int, dim: int, *, alike: float) -> Matrix:
    """Rows that have a part in common, the larger the more alike they are."""
    rows = rng.standard_normal((count, dim)) + alike * rng.standard_normal(dim)
    return normalise(np.round(rows, 1)) if count else np.empty((0, dim), dtype=np.float32)


@given(
    seed=st.integers(0, 2**32 - 1),
    counts=st.tuples(st.integers(0, 40), st.integers(0, 12)),
    dim=st.sampled_from([1, 3, 20, 64]),
    alike=st.sampled_from([0.0, 1.0, 3.0]),
    least=st.floats(-1, 1),
)
def test_it_says_of_few_rows_what_comparing_all_of_them_says(
    seed: int, counts: tuple[int, int], dim: int, alike: float, least: float
) -> None:
    rng = np.random.default_rng(seed)
    rows, queries = (unit_rows(rng, count, dim, alike=alike) for count in counts)
    blocks = [rows[:7], rows[7:]]
    best = (queries.astype(np.float64) @ rows.astype(np.float64).T).max(axis=1, initial=-2)
    found = may_reach(blocks, queries, least)
    certain = np.abs(best - least) > 1e-4
    assert (found == (best >= least))[certain].all()
    assert found[best >= least].all()


def test_where_many_come_near_it_may_say_that_one_reaches() -> None:
    """Rows that are alike in the dimensions that are looked at first, and differ in the others."""
    rng = np.random.default_rng(0)
    tails = unit_rows(rng, 101, 40, alike=0.0)
    rows = np.concatenate([np.full((101, 20), 0.6 / 20**0.5), 0.8 * tails], axis=1).astype(np.float32)
    assert float((rows[1:] @ rows[0]).max()) < 0.9
    assert may_reach([rows[1:41]], rows[:1], 0.9).tolist() == [False]
    assert may_reach([rows[1:]], rows[:1], 0.9).tolist() == [True]


def test_two_rows_are_wanted_where_one_is_the_query_itself() -> None:
    rows = unit_rows(np.random.default_rng(3), 10, 30, alike=0.0)
    twins = np.concatenate([rows, rows[4:5]])
    assert not may_reach([rows], rows, 0.95, rows_wanted=2).any()
    assert np.flatnonzero(may_reach([twins[:6], twins[6:]], rows, 0.95, rows_wanted=2)).tolist() == [4]


def test_many_queries_are_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows = unit_rows(rng, 50, 30, alike=0.0)
    queries = np.concatenate([unit_rows(rng, 10, 30, alike=0.0), rows[40:45]])
    whole = may_reach([rows], queries, 0.95)
    monkeypatch.setattr(reach, "QUERIES_AT_ONCE", 3)
    monkeypatch.setattr(reach, "ROWS_AT_ONCE", 4)
    assert (may_reach([rows], queries, 0.95) == whole).all()
    assert whole[10:].all()


@pytest.mark.parametrize("kind", [ExactIndex, AutoIndex])
def test_an_index_tells_of_its_rows_as_they_are_now(kind: type[ExactIndex | AutoIndex]) -> None:
    rng = np.random.default_rng(2)
    rows = unit_rows(rng, 20, 32, alike=0.0)
    index = kind(32)
    assert not index.may_reach(rows, 0.9).any()
    index.add(range(20), rows)
    index.remove([3])
    found = index.may_reach(3 * rows, 0.9)
    assert found.tolist() == [number != 3 for number in range(20)]
    index.close()
