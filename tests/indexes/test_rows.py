"""Rows in blocks are one array to whoever reads them, and a snapshot of them does not change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from indexes import rows
from indexes.rows import BlockRows, Snapshot, rows_per_block
from indexes.vectors import Matrix

DIM = 2
counts = st.integers(0, 9)


def numbered(start: int, count: int) -> Matrix:
    return np.arange(start * DIM, (start + count) * DIM, dtype=np.float32).reshape(count, DIM)


class RowsMachine(RuleBasedStateMachine):
    """Any sequence of calls, made to rows in blocks of four and to one array."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = BlockRows(DIM)
        self.array = numbered(0, 0)
        self.made = 0
        self.snapshots: list[tuple[Snapshot, Matrix]] = []

    def new(self, count: int) -> Matrix:
        self.made += count
        return numbered(self.made, count)

    @rule(count=counts)
    def append(self, count: int) -> None:
        more = self.new(count)
        self.rows.append(more)
        self.array = np.concatenate([self.array, more])

    @precondition(lambda self: len(self.array) > 0)
    @rule(data=st.data())
    def put(self, data: st.DataObject) -> None:
        places = np.array(data.draw(st.lists(st.integers(0, len(self.array) - 1), unique=True)), dtype=np.int64)
        other = self.new(len(places))
        self.rows[places] = other
        self.array[places] = other

    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        count = data.draw(st.integers(0, len(self.array)))
        self.rows.truncate(count)
        self.array = self.array[:count].copy()

    @rule()
    def take_a_snapshot(self) -> None:
        self.snapshots.append((self.rows.snapshot(), self.array.copy()))

    @precondition(lambda self: len(self.snapshots) > 0)
    @rule()
    def let_go_of_a_snapshot(self) -> None:
        self.snapshots.pop(0)

    @invariant()
    def is_as_one_array(self) -> None:
        assert len(self.rows) == len(self.array)
        assert joined(list(self.rows.blocks())).tolist() == self.array.tolist()
        backwards = np.arange(len(self.array))[::-1]
        assert self.rows[backwards].tolist() == self.array[::-1].tolist()
        query = np.array([1, 2], dtype=np.float32)
        assert self.rows.products(query).tolist() == (self.array @ query).tolist()
        assert self.rows.products_at(backwards, query).tolist() == (self.array[::-1] @ query).tolist()

    @invariant()
    def snapshots_stay(self) -> None:
        for snapshot, array in self.snapshots:
            assert joined(snapshot.blocks).tolist() == array.tolist()


def joined(blocks: list[Matrix]) -> Matrix:
    return np.concatenate([numbered(0, 0), *blocks])


def test_rows_in_blocks_are_one_array_and_snapshots_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BLOCK_BYTES", 4 * 4 * DIM)
    assert rows_per_block(DIM) == 4
    run_state_machine_as_test(RowsMachine, settings=settings(max_examples=60, stateful_step_count=20, deadline=None))


def test_nothing_is_copied_for_a_snapshot_before_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BLOCK_BYTES", 4 * 4 * DIM)
    held = BlockRows(DIM)
    held.append(numbered(0, 6))
    snapshot = held.snapshot()
    held.append(numbered(6, 2))
    assert all(np.shares_memory(*pair) for pair in zip(held.blocks(), snapshot.blocks, strict=True))
    held[np.array([5])] = numbered(9, 1)
    assert [np.shares_memory(*pair) for pair in zip(held.blocks(), snapshot.blocks, strict=True)] == [True, False]


@pytest.mark.parametrize(("dim", "expected"), [(384, 1 << 16), (1, 1 << 25), (1 << 26, 1)])
def test_a_block_takes_at_most_128_mib_but_one_row(dim: int, expected: int) -> None:
    assert rows_per_block(dim) == expected
