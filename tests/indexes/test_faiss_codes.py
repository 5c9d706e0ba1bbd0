"""Codes that are written over in their place are those that FAISS would have made anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.faiss_codes import Codes
from indexes.vectors import Matrix, normalise

counts = st.integers(0, 70)
"""More than two of the blocks of 32 rows in which FAISS keeps codes."""


def unit_rows(count: int, dim: int, seed: int = 0) -> Matrix:
    return normalise(np.random.default_rng(seed).standard_normal((count, dim)))


def made_anew(codes: Codes, rows: Matrix) -> Codes:
    parts = codes.parts()
    empty = Codes.of(rows.shape[1], parts | {"codes": parts["codes"][:0], "trained_on": np.array([0, 1])})
    empty.append(rows)
    return empty


@pytest.mark.parametrize("dim", [1, 3, 4, 10, 64])
@given(data=st.data())
@settings(max_examples=25)
def test_any_sequence_of_changes_leaves_the_codes_of_the_rows(dim: int, data: st.DataObject) -> None:
    """Also where four do not divide the dimension."""
    pool = unit_rows(80, dim)
    codes, rows = Codes.trained(pool, len(pool)), pool[:0]
    for change in data.draw(st.lists(st.sampled_from(["append", "put", "truncate"]), max_size=8)):
        if change == "append":
            more = pool[: data.draw(counts)]
            codes.append(more)
            rows = np.concatenate([rows, more])
        elif change == "put":
            places = np.unique(np.array(data.draw(st.lists(counts)), dtype=np.int64))
            places = places[places < len(rows)]
            codes.put(places, pool[::-1][: len(places)])
            rows[places] = pool[::-1][: len(places)]
        else:
            rows = rows[: max(len(rows) - data.draw(counts), 0)].copy()
            codes.truncate(len(rows))
        assert len(codes) == len(rows)
    np.testing.assert_array_equal(codes.parts()["codes"], made_anew(codes, rows).parts()["codes"])


def test_codes_are_written_over_however_many_there_are() -> None:
    """FAISS takes a place behind so many blocks for one that is not there."""
    rows = unit_rows(3_000, 4)
    codes = Codes.trained(rows, len(rows))
    codes.append(rows)
    codes.put(np.array([2_999, 5]), rows[:2])
    rows[[2_999, 5]] = rows[:2]
    codes.truncate(2_950)
    np.testing.assert_array_equal(codes.parts()["codes"], made_anew(codes, rows[:2_950]).parts()["codes"])


def test_equal_rows_seem_equally_near_wherever_they_stand() -> None:
    """By this a tie that is cut is noticed."""
    rows = np.tile(unit_rows(50, 64), (40, 1))
    codes = Codes.trained(rows, len(rows))
    codes.append(rows)
    places, rough = codes.nearest(rows[7], len(rows))
    assert len(places) == len(rows)
    for number in range(50):
        assert len(set(rough[places % 50 == number].tolist())) == 1


def test_the_nearest_come_first_with_about_their_cosines() -> None:
    rows = unit_rows(2_000, 64)
    codes = Codes.trained(rows, len(rows))
    codes.append(rows)
    places, rough = codes.nearest(rows[3], 50)
    assert places[0] == 3
    assert (np.diff(rough) <= 0).all()
    # Four bits for four numbers keep about two thirds of what they say.
    assert np.abs(rows[places] @ rows[3] - rough).mean() < 0.2


def test_the_same_sample_gives_the_same_codes() -> None:
    first, second = (Codes.trained(unit_rows(500, 24), 500) for _ in range(2))
    np.testing.assert_array_equal(first.parts()["centroids"], second.parts()["centroids"])


@pytest.mark.parametrize("count", [0, 1, 15, 100])
def test_no_number_of_rows_is_too_small_to_train_on(count: int, capfd: pytest.CaptureFixture[str]) -> None:
    """F06: FAISS refuses fewer rows than centroids, and writes a warning below 39 times as many."""
    codes = Codes.trained(unit_rows(count, 8), count)
    codes.append(unit_rows(20, 8))
    assert len(codes) == 20
    assert capfd.readouterr().err == ""


def test_codes_come_back_from_their_parts() -> None:
    rows = unit_rows(100, 24)
    codes = Codes.trained(rows, 100)
    codes.append(rows)
    again = Codes.of(24, codes.parts())
    for each in (codes, again):
        each.truncate(37)
        each.append(rows[:50])
        each.put(np.array([3]), rows[-1:])
    assert (len(again), again.trained_on) == (87, 100)
    np.testing.assert_array_equal(again.parts()["codes"], codes.parts()["codes"])
    assert again.nearest(rows[1], 5)[0].tolist() == codes.nearest(rows[1], 5)[0].tolist()
