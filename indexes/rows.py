"""Rows of vectors that grow without being copied, and that can be written to a file while they change."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from indexes.vectors import Matrix, Vector

BLOCK_BYTES = 1 << 27
"""Room of a block, at most: larger ones take longer to copy under a snapshot, smaller ones to gather rows from."""

FIRST_ROWS = 64

NUMBERS_AT_ONCE = 1 << 18
"""Numbers that are multiplied at one time. From 460,800 on, OpenBLAS (0.3) takes a second thread. That makes one search
a little faster on an idle machine, and many times slower where another thread library is at work."""


ProductsAt = Callable[[Matrix, npt.NDArray[np.int64], Vector], npt.NDArray[np.float32]]
"""float32 `[m]`: the inner products of a query `[dim]` with `m` rows of a block, which stand at these offsets in it."""


def rows_per_block(dim: int) -> int:
    """How many rows stand in one block: a power of two, so that a position is taken apart by its bits."""
    return 1 << max((BLOCK_BYTES // (4 * dim)).bit_length() - 1, 0)


class Snapshot:
    """The rows as they were at one moment, whatever happens to them afterwards. Let go of it when it is not needed.

    Attributes:
        blocks: `[m, dim]` each.
        count: how many rows there are in them.
    """

    def __init__(self, blocks: list[Matrix], count: int) -> None:
        self._whole = blocks
        self.count = count

    @property
    def blocks(self) -> list[Matrix]:
        return list(_filled(self._whole, self.count))

    def holds(self, number: int, block: Matrix) -> bool:
        """Whether `block` is still the one that was taken as number `number`."""
        return number < len(self._whole) and self._whole[number] is block


class BlockRows:
    """Rows `[n, dim]` in blocks of one size; the last is part full.

    One matrix would have to be copied whole each time it is full: 1.5 GB at a million rows of dimension 384,
    beside the 1.5 that are there. A block that a snapshot holds is copied before a row in it changes.

    Whoever writes must be alone; any number may read.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._step = rows_per_block(dim)
        self._blocks: list[Matrix] = []
        self._count = 0
        self._snapshots: weakref.WeakSet[Snapshot] = weakref.WeakSet()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, places: npt.NDArray[np.int64]) -> Matrix:
        """A copy of the rows at `places`, `[len(places), dim]`."""
        if len(self._blocks) == 1:
            only: Matrix = self._blocks[0][places]
            return only
        rows = np.empty((len(places), self._dim), dtype=np.float32)
        for number, which, offsets in self._split(places):
            rows[which] = self._blocks[number][offsets]
        return rows

    def __setitem__(self, places: npt.NDArray[np.int64], rows: Matrix) -> None:
        for number, which, offsets in self._split(places):
            self._own(number, int(offsets.min()))
            self._blocks[number][offsets] = rows[which]

    def blocks(self) -> Iterator[Matrix]:
        """All rows, in blocks, without a copy."""
        return _filled(self._blocks, self._count)

    def products(self, query: Vector) -> npt.NDArray[np.float32]:
        """float32 `[n]`: the inner product of `query` `[dim]` with every row, on one thread."""
        products = np.empty(self._count, dtype=np.float32)
        start = 0
        for block in self.blocks():
            for piece in _pieces(block, self._dim):
                np.dot(piece, query, out=products[start : start + len(piece)])
                start += len(piece)
        return products

    def products_at(
        self, places: npt.NDArray[np.int64], query: Vector, *, by: ProductsAt | None = None
    ) -> npt.NDArray[np.float32]:
        """float32 `[len(places)]`: the inner product of `query` `[dim]` with the rows at `places`, on one thread."""
        multiply = by or _products_at
        products = np.empty(len(places), dtype=np.float32)
        for number, which, offsets in self._split(places):
            products[which] = multiply(self._blocks[number], offsets, query)
        return products

    def append(self, rows: Matrix) -> None:
        """Put rows `[m, dim]` behind those that are there."""
        while len(rows):
            number, offset = divmod(self._count, self._step)
            taken = min(len(rows), self._step - offset)
            self._make_room(number, offset + taken)
            self._own(number, offset)
            self._blocks[number][offset : offset + taken] = rows[:taken]
            self._count += taken
            rows = rows[taken:]

    def truncate(self, count: int) -> None:
        """Keep the first `count` rows."""
        self._count = count
        del self._blocks[-(-count // self._step) :]

    def snapshot(self) -> Snapshot:
        """All rows as they are now; nothing is copied before it changes."""
        taken = Snapshot(self._blocks.copy(), self._count)
        self._snapshots.add(taken)
        return taken

    @classmethod
    def of(cls, dim: int, blocks: Sequence[Matrix]) -> BlockRows:
        """Rows that stand in `blocks` of `rows_per_block(dim)` rows each, but for the last; they are not copied."""
        rows = cls(dim)
        rows._blocks = list(blocks)
        rows._count = sum(map(len, blocks))
        return rows

    def _split(
        self, places: npt.NDArray[np.int64]
    ) -> Iterator[tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Number of a block, which of `places` lie in it, and where in it they lie."""
        numbers, offsets = np.divmod(places, self._step)
        order = np.argsort(numbers, kind="stable")
        bounds = np.searchsorted(numbers[order], np.arange(len(self._blocks) + 1))
        for number, (start, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            if start < end:
                which = order[start:end]
                yield number, which, offsets[which]

    def _own(self, number: int, offset: int) -> None:
        """Copy a block before the row at `offset` in it, or one behind that, changes under a snapshot."""
        place = number * self._step + offset
        block = self._blocks[number]
        if any(place < taken.count and taken.holds(number, block) for taken in self._snapshots):
            self._blocks[number] = block.copy()

    def _make_room(self, number: int, needed: int) -> None:
        """Let block `number` have room for `needed` rows. It doubles up to its full size, as a list does."""
        if number == len(self._blocks):
            self._blocks.append(np.empty((0, self._dim), dtype=np.float32))
        block = self._blocks[number]
        if needed > len(block):
            size = self._step if number else min(max(needed, 2 * len(block), FIRST_ROWS), self._step)
            grown = np.empty((size, self._dim), dtype=np.float32)
            grown[: len(block)] = block
            self._blocks[number] = grown


def _filled(blocks: list[Matrix], count: int) -> Iterator[Matrix]:
    for block in blocks:
        yield block[:count]
        count -= len(block)


def _pieces(entries: npt.NDArray[Any], dim: int) -> Iterator[npt.NDArray[Any]]:
    """As many of `entries`, of one row each, at a time as are multiplied at a time."""
    step = max(NUMBERS_AT_ONCE // dim, 1)
    return (entries[start : start + step] for start in range(0, len(entries), step))


def _products_at(block: Matrix, offsets: npt.NDArray[np.int64], query: Vector) -> npt.NDArray[np.float32]:
    products = [block[piece] @ query for piece in _pieces(offsets, len(query))]
    return np.concatenate(products)
