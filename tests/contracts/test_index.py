"""The promises I1 to I7 of `VectorIndex`, kept by every implementation; of I8 and I9, see tests/indexes.

`ExactIndex` is judged by a naive loop, and everything else by `ExactIndex`. All of them compare
scores bit by bit: an index may be fast in its own way, but may not have an opinion of its own. A quantised index may
miss a hit where there are many rows; in the small ones here it looks at all that its codes name, which are all.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from indexes.errors import DimensionMismatchError, IndexFileError, NonFiniteVectorError, VectorError
from indexes.exact import ExactIndex
from indexes.files import SavedIndex, write_index
from indexes.vectors import Matrix, Vector
from tests.indexes.implementations import EXACT, INDEXES, Index, NaiveIndex, assert_same_hits, settled

DIM = 3
WIDE = 16
"""Of rows in which four bits a code tell rows apart; in fewer dimensions a quantised index has to look at all rows."""

every_index = pytest.mark.parametrize("make", INDEXES, ids=lambda make: make.kind)
ids = st.integers(min_value=0, max_value=12)
# Few directions in many lengths: duplicates, zero rows and ties are the rule here, not the exception.
directions = np.random.default_rng(2).integers(-3, 4, (3, WIDE))
rows = st.lists(st.integers(-2, 2), min_size=3, max_size=3).map(lambda row: (row @ directions).astype(np.float32))
nudges = st.sampled_from([0.0, 1e-7, 1e-6, 1e-5])


class IndexMachine(RuleBasedStateMachine):
    """Any sequence of calls, made to an index and to its judge."""

    make: type[Index]
    judge: Callable[[], Any]

    def __init__(self) -> None:
        super().__init__()
        self.index = self.make(WIDE, fingerprint="model")
        self.oracle = type(self).judge()
        self.folder = tempfile.TemporaryDirectory()

    @rule(items=st.lists(st.tuples(ids, rows, nudges), max_size=6))
    def add(self, items: list[tuple[int, Vector, float]]) -> None:
        given_ids = [id for id, _, _ in items]
        matrix = np.array([row + nudge for _, row, nudge in items], dtype=np.float32).reshape(-1, WIDE)
        self.index.add(given_ids, matrix)
        self.oracle.add(given_ids, matrix)

    @rule(gone=st.lists(ids, max_size=5))
    def remove(self, gone: list[int]) -> None:
        assert self.index.remove(gone) == self.oracle.remove(gone)

    @rule(query=rows, extra=st.integers(-3, 3))
    def search(self, query: Vector, extra: int) -> None:
        k = len(self.index) + extra
        assert_same_hits(self.index.search(query, k), self.oracle.search(query, k))

    @rule(query=rows, k=st.integers(0, 4), among=st.sets(ids))
    def search_among(self, query: Vector, k: int, among: set[int]) -> None:
        assert_same_hits(self.index.search(query, k, among=among), self.oracle.search(query, k, among=among))

    @rule()
    def save_and_load(self) -> None:
        path = Path(self.folder.name) / "index"
        self.index.save(path, watermark="so far")
        self.index.close()
        self.index = self.make.load(path, fingerprint="model")
        assert self.index.watermark == "so far"

    @invariant()
    def holds_what_was_added(self) -> None:
        everything = self.oracle.search(np.zeros(WIDE, dtype=np.float32), 100).ids.tolist()
        assert len(self.index) == len(everything)
        assert [id for id in range(13) if id in self.index] == everything

    def teardown(self) -> None:
        self.index.close()
        self.folder.cleanup()


@every_index
def test_any_sequence_of_calls_is_answered_like_the_judge(make: type[Index]) -> None:
    """I1 to I3, I5 and I6 together."""
    judge = NaiveIndex if make is ExactIndex else lambda: ExactIndex(WIDE)
    machine = type("Machine", (IndexMachine,), {"make": make, "judge": staticmethod(judge)})
    run_state_machine_as_test(machine, settings=settings(max_examples=60, stateful_step_count=20, deadline=None))


@every_index
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 40), copies=st.integers(1, 60))
@settings(max_examples=25, deadline=None)
def test_i1_the_true_top_k_also_in_many_dimensions(make: type[Index], seed: int, k: int, copies: int) -> None:
    """With more equal rows than are fetched beyond k, so that a tie is cut by the lowest id."""
    random = np.random.default_rng(seed)
    distinct = random.standard_normal((20, 384)).astype(np.float32)
    matrix = np.repeat(distinct, copies, axis=0)
    order = random.permutation(len(matrix))
    index, naive = make(384), NaiveIndex()
    for each in (index, naive):
        each.add(order.tolist(), matrix)
    query = distinct[0] + random.standard_normal(384).astype(np.float32)
    assert_same_hits(index.search(query, k), naive.search(query, k))


@every_index
def test_i1_equal_rows_have_equal_scores_wherever_they_stand(make: type[Index]) -> None:
    """A matrix product alone gives equal rows different last bits, and ties in random order."""
    random = np.random.default_rng(7)
    row, query = random.standard_normal((2, 384)).astype(np.float32)
    index = make(384)
    for id in range(100):
        index.add([2 * id, 2 * id + 1], np.stack([row, random.standard_normal(384).astype(np.float32)]))
    hits = index.search(query, 200)
    equal = hits.ids % 2 == 0
    assert len(set(hits.scores[equal].tolist())) == 1
    assert hits.ids[equal].tolist() == sorted(hits.ids[equal].tolist())


@every_index
@pytest.mark.parametrize("shape", ["clustered", "even"])
def test_i1_of_many_rows_99_of_100_are_found_with_their_true_scores(make: type[Index], shape: str) -> None:
    """An exact index finds them all. Rows in no order at all are the hardest: none is much nearer than the next."""
    random = np.random.default_rng(12)
    matrix = random.standard_normal((12_000, WIDE)).astype(np.float32)
    if shape == "clustered":
        matrix = 0.3 * matrix + matrix[random.integers(200, size=len(matrix))]
    index, judge = make(WIDE), ExactIndex(WIDE)
    for each in (index, judge):
        each.add(range(len(matrix)), matrix)
    settled(index)
    found = 0
    for query in random.standard_normal((50, WIDE)).astype(np.float32):
        got, expected = index.search(query, 10), judge.search(query, 10)
        if make in EXACT:
            assert_same_hits(got, expected)
        assert_same_hits(got, judge.search(query, 10, among=got.ids.tolist()))
        found += len(np.intersect1d(got.ids, expected.ids))
    assert found >= 0.99 * 500


@every_index
@pytest.mark.parametrize("among", [None, range(50)])
def test_i2_what_there_is_and_never_a_filler(make: type[Index], among: range | None) -> None:
    index, query = make(DIM), np.ones(DIM, dtype=np.float32)
    assert index.search(query, 5, among=among).ids.tolist() == []
    index.add([4, 9], np.eye(DIM, dtype=np.float32)[:2])
    assert index.search(query, 50, among=among).ids.tolist() == [4, 9]
    assert [index.search(query, k, among=among).ids.tolist() for k in (0, -1)] == [[], []]


@every_index
def test_i3_a_removed_id_stays_away_and_one_added_twice_is_replaced(make: type[Index]) -> None:
    index = make(DIM)
    x, y, z = np.eye(DIM, dtype=np.float32)
    index.add([1, 2, 3], np.stack([x, y, z]))
    assert index.remove([2, 2, 7]) == 1
    assert 2 not in index
    assert 2 not in index.search(y, 10).ids
    index.add([1], y[None])
    index.add([5, 5], np.stack([x, z]))
    assert len(index) == 3
    assert index.search(y, 1).ids.tolist() == [1]
    assert index.search(x, 10).scores.tolist() == [0, 0, 0]
    assert index.search(z, 2).ids.tolist() == [3, 5]


@every_index
def test_i4_another_dimension_is_refused_with_both_numbers(make: type[Index]) -> None:
    """D11: vectors of 3 and of 5 numbers were compared on the 3 that they share."""
    index = make(3)
    index.add([0], np.array([[1, 0, 0]], dtype=np.float32))
    other = np.array([1, 0, 0, 9, 9], dtype=np.float32)
    for call in (lambda: index.add([1], other[None]), lambda: index.search(other, 1)):
        with pytest.raises(DimensionMismatchError, match="dimension 5, but dimension 3 is needed") as caught:
            call()
        assert (caught.value.expected, caught.value.got) == (3, 5)
    assert len(index) == 1


@every_index
def test_i4_no_rows_of_another_dimension_are_refused_as_well(make: type[Index]) -> None:
    index = make(3)
    index.add([], np.zeros((0, 3), dtype=np.float32))
    with pytest.raises(DimensionMismatchError):
        index.add([], np.zeros((0, 5), dtype=np.float32))


@every_index
@pytest.mark.parametrize("bad_ids", [[-1, 2], [0.5, 2.0], ["a", "b"], [2**63, 2], [1], [1, 2, 3], [True, False]])
def test_ids_that_are_no_ids_are_refused_and_nothing_is_added(make: type[Index], bad_ids: list[Any]) -> None:
    index = make(DIM)
    with pytest.raises(ValueError, match=r"[Ii]ds"):
        index.add(bad_ids, np.eye(DIM, dtype=np.float32)[:2])
    assert len(index) == 0


@every_index
def test_a_query_is_one_vector(make: type[Index]) -> None:
    with pytest.raises(VectorError, match="one vector"):
        make(DIM).search(np.eye(DIM, dtype=np.float32), 1)


@every_index
def test_an_index_has_a_dimension(make: type[Index]) -> None:
    with pytest.raises(VectorError, match="at least 1, not 0"):
        make(0)


def filled(make: type[Index]) -> Index:
    index = make(DIM, fingerprint="model-a/3")
    index.add([3, 1, 2], np.array([[1, 2, 3], [0, 0, 0], [-1, 0.5, 0]], dtype=np.float32))
    return index


@every_index
@pytest.mark.parametrize("count", [0, 3])
def test_i5_a_loaded_index_gives_the_same_answers_and_can_be_changed(
    make: type[Index], count: int, tmp_path: Path
) -> None:
    index = filled(make)
    index.remove(range(count, 4))
    index.save(tmp_path / "index")
    loaded = make.load(tmp_path / "index")
    query = np.array([1, 1, 1], dtype=np.float32)
    assert (loaded.dim, loaded.fingerprint, len(loaded)) == (index.dim, index.fingerprint, len(index))
    for each in (index, loaded):
        each.add([8], query[None])
        each.remove([3])
    assert_same_hits(loaded.search(query, 9), index.search(query, 9))


@every_index
def test_i5_a_loaded_index_holds_the_same_bits(make: type[Index], tmp_path: Path) -> None:
    """Scores that differ in their last bit would put ties into another order; normalising again does that."""
    index = make(DIM)
    index.add(range(300), np.random.default_rng(3).standard_normal((300, DIM)).astype(np.float32))
    settled(index).save(tmp_path / "first")
    settled(make.load(tmp_path / "first")).save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


@every_index
def test_i5_the_watermark_is_that_of_the_file(make: type[Index], tmp_path: Path) -> None:
    """It is the caller's, in their own words, and stays that of the file whatever changes afterwards."""
    index = filled(make)
    assert index.watermark == ""
    for watermark in ("", 'version 41, "ünïcode"\n'):
        index.save(tmp_path / "index", watermark=watermark)
        loaded = make.load(tmp_path / "index")
        loaded.remove([1])
        assert loaded.watermark == watermark


@every_index
def test_i5_what_changes_while_it_is_saved_neither_waits_nor_is_in_the_file(
    make: type[Index], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that waits for a reader would keep all later readers waiting for as long as the disk takes."""
    random = np.random.default_rng(11)
    matrix = random.standard_normal((200, WIDE)).astype(np.float32)
    index, before = make(WIDE), make(WIDE)
    for each in (index, before):
        each.add(range(100), matrix[:100])
        settled(each)

    def meanwhile(path: Path, saved: SavedIndex) -> None:
        index.remove(range(10, 60))
        index.add([0, 1], matrix[100:102])
        index.add(range(100, 198), matrix[102:])
        assert len(index.search(matrix[0], 500).ids) == 148
        write_index(path, saved)

    monkeypatch.setattr("indexes.flat.write_index", meanwhile)
    index.save(tmp_path / "index")
    assert_same_hits(make.load(tmp_path / "index").search(matrix[0], 500), before.search(matrix[0], 500))


@every_index
def test_i5_a_missing_file_or_a_folder_is_named(make: type[Index], tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(IndexFileError, match="There is no index file to read"):
            make.load(path)


@every_index
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_i5_damage_anywhere_is_found(make: type[Index], data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "index"
    settled(filled(make)).save(path, watermark="so far")
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    flipped = bytes([whole[place] ^ data.draw(st.integers(1, 255))])
    damaged = data.draw(st.sampled_from([whole[:place], whole[:place] + flipped + whole[place + 1 :], whole + b"\0"]))
    path.write_bytes(damaged)
    with pytest.raises(IndexFileError, match="Delete the file and build the index again"):
        make.load(path)


@every_index
def test_i5_a_file_of_another_kind_is_refused(make: type[Index], tmp_path: Path) -> None:
    other = next(each for each in INDEXES if each is not make)
    filled(other).save(tmp_path / "index")
    with pytest.raises(IndexFileError, match=f"kind '{other.kind}', not '{make.kind}'"):
        make.load(tmp_path / "index")


@every_index
def test_i5_a_failing_save_leaves_the_old_file_and_no_other(
    make: type[Index], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index"
    filled(make).save(path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(IndexFileError, match="cannot be written: No space left on device"):
        make(DIM).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@every_index
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_i6_what_is_not_finite_is_refused_and_nothing_is_added(make: type[Index], bad: float) -> None:
    index = make(DIM)
    matrix = np.eye(DIM, dtype=np.float32)
    matrix[1, 2] = bad
    with pytest.raises(NonFiniteVectorError, match="Row 1 holds NaN or infinity"):
        index.add([0, 1, 2], matrix)
    with pytest.raises(NonFiniteVectorError):
        index.search(matrix[1], 1)
    assert len(index) == 0


@every_index
def test_i6_a_zero_row_scores_0(make: type[Index]) -> None:
    """D15: the zero row of an empty text must neither be NaN nor push out what is near."""
    index = make(2)
    index.add([0, 1, 2], np.array([[0, 1], [0.6, 0.8], [0, 0]], dtype=np.float32))
    query = np.array([0, 1], dtype=np.float32)
    assert index.search(query, 2).ids.tolist() == [0, 1]
    assert index.search(query, 3).scores.tolist() == pytest.approx([1, 0.8, 0])


@every_index
def test_i6_a_zero_query_scores_0_with_everything(make: type[Index]) -> None:
    index, nothing = filled(make), np.zeros(DIM, dtype=np.float32)
    for among, expected in ((None, [1, 2]), ([3, 2], [2, 3])):
        hits = index.search(nothing, 2, among=among)
        assert (hits.ids.tolist(), hits.scores.tolist()) == (expected, [0, 0])


@every_index
def test_i7_searches_run_while_rows_come_and_go(make: type[Index]) -> None:
    """F09. An id that comes back had been given to `add`, and its `remove` had not returned before the search."""
    index, random = make(16), np.random.default_rng(1)
    matrix = random.standard_normal((1000, 16)).astype(np.float32)
    added: set[int] = set()
    removed: set[int] = set()
    wrong: list[Any] = []
    done = threading.Event()

    def write() -> None:
        for id in range(1000):
            added.add(id)
            index.add([id], matrix[id : id + 1])
            if id % 3 == 2:
                index.remove([id - 2])
                removed.add(id - 2)
        done.set()

    def read(query: Vector) -> None:
        while not done.is_set():
            gone = removed.copy()
            hits = index.search(query, 5)
            # Only ids are told apart here: every id is added once, so none in `gone` may come back.
            wrong.extend(id for id in hits.ids.tolist() if id not in added or id in gone)
            wrong.extend(score for score in hits.scores.tolist() if not -1 <= score <= 1)

    threads = [threading.Thread(target=write)] + [threading.Thread(target=read, args=(matrix[i],)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert wrong == []
    assert len(index) == 1000 - 333
    assert_same_hits(index.search(matrix[5], 10), judged(matrix, removed).search(matrix[5], 10))


def judged(matrix: Matrix, removed: set[int]) -> NaiveIndex:
    naive = NaiveIndex()
    naive.add(range(len(matrix)), matrix)
    naive.remove(removed)
    return naive
