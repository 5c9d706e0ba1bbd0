"""What a quantised index finds, judged by `ExactIndex`; the promises that all indexes keep are in tests/contracts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from indexes.exact import ExactIndex
from indexes.faiss_codes import Codes
from indexes.faiss_pq import FaissPQIndex
from indexes.index import Hits
from indexes.vectors import Matrix, Vector, normalise
from tests.indexes.implementations import EarlyPQIndex, assert_same_hits
from tests.indexes.test_faiss_codes import made_anew

DIM = 64
COUNT = 8_000


@pytest.fixture(scope="module")
def clustered() -> Matrix:
    """Rows around 400 centres, as texts lie around topics."""
    random = np.random.default_rng(5)
    centres = normalise(random.standard_normal((400, DIM)))
    return normalise(centres[random.integers(400, size=COUNT)] + 0.1 * random.standard_normal((COUNT, DIM)))


@pytest.fixture(scope="module")
def even() -> Matrix:
    """Rows in no order at all: the hardest there are, because no row is much nearer than the next."""
    return normalise(np.random.default_rng(6).standard_normal((COUNT, DIM)))


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows the codes were asked for, each time."""
    asked: list[int] = []
    nearest = Codes.nearest

    def recorded(codes: Codes, query: Vector, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        asked.append(count)
        return nearest(codes, query, count)

    monkeypatch.setattr(Codes, "nearest", recorded)
    return asked


def both(matrix: Matrix) -> tuple[FaissPQIndex, ExactIndex]:
    quantised, exact = FaissPQIndex(matrix.shape[1]), ExactIndex(matrix.shape[1])
    for index in (quantised, exact):
        index.add(range(len(matrix)), matrix)
    return quantised, exact


def share_found(got: Hits, expected: Hits) -> float:
    return len(np.intersect1d(got.ids, expected.ids)) / len(expected.ids)


def assert_true_scores(got: Hits, matrix: Matrix, query: Vector) -> None:
    judge = ExactIndex(matrix.shape[1])
    judge.add(got.ids.tolist(), matrix[got.ids])
    assert_same_hits(got, judge.search(query, len(got.ids)))


@pytest.mark.parametrize("kind", ["clustered", "even"])
@pytest.mark.parametrize("k", [1, 10, 40])
def test_i1_99_of_100_of_the_true_nearest_are_found(
    kind: str, k: int, request: pytest.FixtureRequest, scans: list[int]
) -> None:
    matrix = request.getfixturevalue(kind)
    quantised, exact = both(matrix)
    queries = normalise(matrix[:100] + 0.05 * np.random.default_rng(9).standard_normal((100, DIM)))
    hits = [quantised.search(query, k) for query in queries]
    found = [share_found(got, exact.search(query, k)) for got, query in zip(hits, queries, strict=True)]
    assert np.mean(found) >= 0.99
    assert len(scans) >= len(queries)
    for got, query in zip(hits[:10], queries, strict=False):
        assert len(got.ids) == k
        assert_true_scores(got, matrix, query)


@pytest.mark.parametrize("copies", [2, 300, 3_000])
def test_i1_a_tie_of_any_size_is_cut_by_the_lowest_id(copies: int, clustered: Matrix) -> None:
    """Experiences with one query have one vector: the oldest of them come."""
    matrix = clustered.copy()
    places = np.random.default_rng(copies).choice(COUNT, copies, replace=False)
    matrix[places] = clustered[17]
    quantised, exact = both(matrix)
    query = normalise(clustered[17] + 0.02 * np.random.default_rng(1).standard_normal(DIM))[0]
    for k in (1, 5, 10):
        assert_same_hits(quantised.search(query, k), exact.search(query, k))


@pytest.mark.parametrize("share", [0.001, 0.05, 0.5, 1.0])
def test_f08_what_is_left_out_takes_no_place_among_the_k(share: float, clustered: Matrix, scans: list[int]) -> None:
    """Few rows are compared one by one; of many, the codes name more."""
    quantised, exact = both(clustered)
    random = np.random.default_rng(3)
    found = []
    for query in clustered[:40]:
        among = random.choice(COUNT, int(share * COUNT), replace=False).tolist()
        got, expected = quantised.search(query, 10, among=among), exact.search(query, 10, among=among)
        assert len(got.ids) == len(expected.ids)
        assert set(got.ids.tolist()) <= set(among)
        found.append(share_found(got, expected))
    assert np.mean(found) >= 0.99
    assert bool(scans) == (share > 0.01)


def test_f05_f08_removed_rows_are_never_found_and_live_ones_always(clustered: Matrix) -> None:
    """The nearest are removed, in one batch, and what is left is found as if they had never been there."""
    quantised, exact = both(clustered)
    nearest = exact.search(clustered[0], 3_000).ids.tolist()
    assert quantised.remove(nearest) == exact.remove(nearest) == 3_000
    got, expected = quantised.search(clustered[0], 10), exact.search(clustered[0], 10)
    assert not set(got.ids.tolist()) & set(nearest)
    assert share_found(got, expected) >= 0.9
    assert quantised._codes is not None
    assert len(quantised._codes) == len(quantised) == COUNT - 3_000


def test_no_row_is_compared_twice(even: Matrix, scans: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the codes are asked again, and name the same rows once more."""
    quantised, _ = both(even)
    compared: list[int] = []
    products_at = Codes.products_at

    def recorded(codes: Codes, block: Matrix, offsets: npt.NDArray[np.int64], query: Vector) -> npt.NDArray[np.float32]:
        compared.extend(offsets.tolist())
        return products_at(codes, block, offsets, query)

    monkeypatch.setattr(Codes, "products_at", recorded)
    monkeypatch.setattr("indexes.quantised.NAMED", 300)
    for within in (None, range(0, COUNT, 2)):
        scans.clear()
        compared.clear()
        quantised.search(even[0] + even[1], 10, among=within)
        assert len(scans) > 1
        assert len(compared) == len(set(compared)) > 0


def test_codes_stay_those_of_the_rows_whatever_changes(clustered: Matrix) -> None:
    index, random = EarlyPQIndex(DIM), np.random.default_rng(8)
    for _ in range(60):
        ids = random.integers(0, 300, random.integers(1, 40))
        index.add(ids.tolist(), clustered[random.integers(COUNT, size=len(ids))])
        index.remove(random.integers(0, 300, random.integers(0, 30)).tolist())
    assert index._codes is not None
    everything = index._rows[np.arange(len(index))]
    np.testing.assert_array_equal(index._codes.parts()["codes"], made_anew(index._codes, everything).parts()["codes"])


def test_f06_below_the_threshold_there_are_no_codes(clustered: Matrix) -> None:
    index = FaissPQIndex(DIM)
    index.add(range(1_023), clustered[:1_023])
    assert index._codes is None
    index.add([1_023], clustered[1_023:1_024])
    assert index._codes is not None


def test_codes_are_made_anew_when_there_are_four_times_as_many_rows(clustered: Matrix) -> None:
    """So that rows of other topics, which came later, get codes of their own."""
    index, trained_on = FaissPQIndex(DIM), []
    for start in range(0, COUNT, 1_000):
        index.add(range(start, start + 1_000), clustered[start : start + 1_000])
        trained_on.append(index._codes.trained_on if index._codes else 0)
    assert trained_on == [0, *[2_000] * 6, 8_000]


def test_a_row_that_is_there_already_costs_nothing(clustered: Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    quantised, _ = both(clustered)
    written: list[int] = []
    monkeypatch.setattr(Codes, "put", lambda codes, places, rows: written.append(len(places)))
    quantised.add(range(100), clustered[:100])
    quantised.add([4, 5], clustered[[4, 7]])
    assert written == [0, 1]


def test_codes_are_saved_with_the_rows_and_not_made_again(
    clustered: Matrix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index"
    quantised, _ = both(clustered)
    quantised.save(path, watermark="41")

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("Codes were made again.")

    monkeypatch.setattr(Codes, "trained", refused)
    monkeypatch.setattr(Codes, "append", refused)
    loaded = FaissPQIndex.load(path)
    assert loaded.watermark == "41"
    assert_same_hits(loaded.search(clustered[3], 10), quantised.search(clustered[3], 10))


def test_where_rows_find_no_memory_none_is_added(clustered: Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    quantised, exact = both(clustered[:7_000])
    append = Codes.append

    def full(codes: Codes, rows: Matrix) -> None:
        append(codes, rows[: len(rows) // 2])
        raise MemoryError("no room")

    monkeypatch.setattr(Codes, "append", full)
    with pytest.raises(MemoryError):
        quantised.add(range(7_000, 8_000), clustered[7_000:])
    monkeypatch.undo()
    assert len(quantised) == 7_000
    assert_same_hits(quantised.search(clustered[7_500], 10), exact.search(clustered[7_500], 10))
    quantised.add(range(7_000, 8_000), clustered[7_000:])
    assert quantised.search(clustered[7_500], 1).ids.tolist() == [7_500]


@pytest.mark.parametrize("dim", [8, 10, 37])
def test_any_dimension_will_do(dim: int) -> None:
    """Also few, where many rows share a code, and those that four do not divide."""
    matrix = normalise(np.random.default_rng(dim).standard_normal((3_000, dim)))
    quantised, exact = both(matrix)
    found = [share_found(quantised.search(query, 10), exact.search(query, 10)) for query in matrix[:40]]
    assert np.mean(found) >= 0.99


def test_zero_rows_among_others_score_0(clustered: Matrix) -> None:
    matrix = clustered[:2_000].copy()
    matrix[::2] = 0
    quantised, exact = both(matrix)
    for query in (-clustered[0], clustered[5]):
        got = quantised.search(query, 1_500)
        assert_same_hits(got, exact.search(query, 1_500))
        assert (got.scores[got.ids % 2 == 0] == 0).all()
