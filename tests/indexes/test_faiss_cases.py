"""Failures reported of other systems' FAISS indexes (F01 to F17), as far as the ground can rule them out.

What an index cannot know, because it belongs to the memory above: that the store and the index hold the
same bullets (F03, F14), when to embed again (F12, F13), and who else writes the file (F15).
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from indexes.errors import IndexFileError, NonFiniteVectorError
from indexes.faiss_codes import Codes, one_thread
from indexes.numbering import Numbering
from indexes.vectors import Matrix
from tests.indexes.implementations import INDEXES, Index

every_index = pytest.mark.parametrize("make", INDEXES, ids=lambda make: make.kind)


def unit_rows(count: int, dim: int = 8) -> Matrix:
    """`count` rows of which no two are equal."""
    return np.random.default_rng(count).standard_normal((count, dim)).astype(np.float32)


@every_index
def test_f01_fewer_rows_than_asked_for_give_no_fillers(make: type[Index]) -> None:
    index = make(8)
    index.add([0, 1], unit_rows(2))
    assert sorted(index.search(unit_rows(2)[0], 4).ids.tolist()) == [0, 1]


@every_index
@pytest.mark.parametrize("k", [1, 3])
def test_f02_an_empty_index_gives_nothing(make: type[Index], k: int) -> None:
    assert make(8).search(unit_rows(1)[0], k).ids.tolist() == []


@every_index
def test_f03_a_removal_takes_the_vector_along(make: type[Index]) -> None:
    index, matrix = make(8), unit_rows(3)
    index.add([10, 11, 12], matrix)
    index.remove([11])
    assert index.search(matrix[2], 1).ids.tolist() == [12]
    assert sorted(index.search(matrix[1], 9).ids.tolist()) == [10, 12]
    assert len(index) == 2


@every_index
def test_f04_ids_stay_with_their_rows_when_positions_move(make: type[Index]) -> None:
    index, matrix = make(8), unit_rows(4)
    index.add([0, 1, 2, 3], matrix)
    index.remove([1])
    assert [index.search(matrix[id], 1).ids.tolist() for id in (0, 2, 3)] == [[0], [2], [3]]


@every_index
def test_f05_every_index_can_remove(make: type[Index]) -> None:
    """Also one whose codes FAISS can only rewrite: a code that goes is filled with the last, in its place."""
    index, matrix = make(8), unit_rows(50)
    index.add(range(50), matrix)
    assert index.remove(range(0, 50, 2)) == 25
    assert all(id % 2 for id in index.search(matrix[0], 50).ids.tolist())


@every_index
def test_f06_few_rows_are_enough_for_every_index(make: type[Index]) -> None:
    """Also where codes have to be trained, for which FAISS wants 16 rows: below its threshold an index is exact."""
    index, matrix = make(8), unit_rows(4)
    index.add(range(4), matrix)
    assert index.search(matrix[3], 1).ids.tolist() == [3]


@every_index
def test_f08_what_was_removed_or_left_out_takes_no_place_among_the_k(make: type[Index]) -> None:
    index, query = make(2), np.array([1, 0], dtype=np.float32)
    near = np.array([[1, 0.01 * step] for step in range(5)], dtype=np.float32)
    far = np.array([[1, 5 + step] for step in range(5)], dtype=np.float32)
    index.add(range(10), np.concatenate([near, far]))
    assert index.search(query, 3, among=range(5, 10)).ids.tolist() == [5, 6, 7]
    index.remove(range(5))
    assert index.search(query, 3).ids.tolist() == [5, 6, 7]


# F09, adding and removing while another thread searches, is I7 in tests/contracts/test_index.py.


@every_index
def test_f10_a_higher_score_is_nearer(make: type[Index]) -> None:
    """Scores are cosines, so `score >= threshold` keeps the near row and not the far one."""
    index = make(2)
    index.add([0, 1], np.array([[1, 0.1], [-1, 0.5]], dtype=np.float32))
    hits = index.search(np.array([1, 0], dtype=np.float32), 2)
    assert hits.ids[hits.scores >= 0.8].tolist() == [0]


@every_index
@pytest.mark.parametrize("dim", [3, 384])
def test_f11_no_score_is_outside_of_minus_1_to_1(make: type[Index], dim: int) -> None:
    """A row of float32 has length 1 only to 1e-7, and more often so where it is short."""
    matrix = unit_rows(200, dim)
    index, opposite = make(dim), make(dim)
    index.add(range(200), matrix)
    opposite.add(range(200), -matrix)
    for row in matrix:
        assert 0.999999 < index.search(row, 1).scores[0] <= 1
        assert -1 <= opposite.search(row, 200).scores[-1] < -0.999999


@every_index
@pytest.mark.parametrize("active", ["m-large/768", "m-b/384", ""], ids=["F12", "F13", "unnamed"])
def test_f12_f13_an_index_made_by_another_model_is_refused(make: type[Index], active: str, tmp_path: Path) -> None:
    """Also where the dimension is the same. It is for the memory above to say which model is in use."""
    index = make(384, fingerprint="m-a/384")
    index.add([0], unit_rows(1, 384))
    index.save(tmp_path / "index")
    with pytest.raises(IndexFileError, match=f"made by 'm-a/384', but '{active}' is in use"):
        make.load(tmp_path / "index", fingerprint=active)
    assert len(make.load(tmp_path / "index", fingerprint="m-a/384")) == 1


@every_index
def test_f14_an_index_tells_which_rows_it_lacks(make: type[Index]) -> None:
    """So that the memory above can add what is missing instead of finding nothing."""
    index = make(8)
    index.add(range(9), unit_rows(9))
    assert (len(index), [id for id in range(10) if id not in index]) == (9, [9])


@every_index
def test_f15_a_batch_is_removed_at_once_and_stays_removed(
    make: type[Index], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renumbered: list[int] = []
    drop = Numbering.drop

    def recorded(self: Numbering, places: npt.NDArray[np.int64]) -> Any:
        renumbered.append(len(places))
        return drop(self, places)

    monkeypatch.setattr(Numbering, "drop", recorded)
    index, matrix = make(8), unit_rows(1500)
    index.add(range(1500), matrix)
    index.save(tmp_path / "index")
    assert index.remove(range(1000)) == 1000
    assert renumbered == [1000]
    index.save(tmp_path / "index")
    again = make.load(tmp_path / "index")
    assert sorted(again.search(matrix[3], 2000).ids.tolist()) == list(range(1000, 1500))


@every_index
def test_f17_a_long_vector_does_not_win_by_its_length(make: type[Index]) -> None:
    index = make(2)
    index.add([0, 1], np.array([[10, 0], [0.9, 0.1]], dtype=np.float32))
    assert index.search(np.array([0.9, 0.1], dtype=np.float32), 2).ids.tolist() == [1, 0]
    with pytest.raises(NonFiniteVectorError):
        index.search(np.array([np.nan, 0], dtype=np.float32), 2)


def test_searching_with_one_thread_leaves_the_thread_number_of_others_alone() -> None:
    import faiss

    codes = Codes.trained(unit_rows(100), 100)
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(before + 1)
    try:
        seen: list[int] = []
        with one_thread():
            seen.append(faiss.omp_get_max_threads())
            other = threading.Thread(target=lambda: seen.append(faiss.omp_get_max_threads()))
            other.start()
            other.join()
        codes.append(unit_rows(100))
        codes.nearest(unit_rows(1)[0], 3)
        assert seen[0] == 1
        assert seen[1] > 1 or before == 1
        assert faiss.omp_get_max_threads() == before + 1
    finally:
        faiss.omp_set_num_threads(before)
