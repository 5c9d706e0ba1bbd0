"""Arrays that grow, and the ids of an index: which id stands at which position."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from indexes.errors import VectorError

Number = TypeVar("Number", bound=np.number)


class GrowingArray(Generic[Number]):
    """An array `[n, *shape]` that takes one more entry in constant time, on average.

    Its room doubles when it is full, as that of a list does.
    """

    def __init__(self, shape: tuple[int, ...], dtype: type[Number]) -> None:
        self._room = np.empty((0, *shape), dtype=dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def view(self) -> npt.NDArray[Number]:
        """What is there, `[n, *shape]`, without a copy; it is out of date after the next `append`."""
        return self._room[: self._count]

    def append(self, entries: npt.NDArray[Number]) -> None:
        needed = self._count + len(entries)
        if needed > len(self._room):
            grown = np.empty((max(needed, 2 * len(self._room)), *self._room.shape[1:]), dtype=self._room.dtype)
            grown[: self._count] = self.view
            self._room = grown
        self._room[self._count : needed] = entries
        self._count = needed

    def truncate(self, count: int) -> None:
        self._count = count


def as_ids(ids: Sequence[int]) -> npt.NDArray[np.int64]:
    """`ids` as int64 `[n]`.

    Raises:
        VectorError: an id is not an integer, is negative, or does not fit into 63 bits.
    """
    numbers = np.asarray(ids)
    if numbers.size == 0:
        return np.empty(0, dtype=np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.max() > np.iinfo(np.int64).max:
        raise VectorError(f"Ids must be whole numbers from 0 to 2**63 - 1, one a row; got {ids!r:.80}.")
    if numbers.min() < 0:
        raise VectorError(f"Ids must not be negative; got {numbers.min()}.")
    return numbers.astype(np.int64)


def last_of_each(ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where in `ids` each distinct id stands for the last time, in the order given."""
    last = {number: place for place, number in enumerate(ids.tolist())}
    return np.sort(np.fromiter(last.values(), dtype=np.int64, count=len(last)))


class Numbering:
    """Ids at the positions 0 … n-1, without gaps."""

    def __init__(self) -> None:
        self._position: dict[int, int] = {}
        self._ids: GrowingArray[np.int64] = GrowingArray((), np.int64)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: int) -> bool:
        return id in self._position

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """int64 `[n]`, the id at every position."""
        return self._ids.view

    def find(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """int64 `[len(ids)]`: the position of each id, -1 where there is none."""
        return np.fromiter((self._position.get(number, -1) for number in ids.tolist()), np.int64, len(ids))

    def positions(self, ids: Collection[int]) -> npt.NDArray[np.int64]:
        """int64 `[m]`: the positions of those of `ids` that are here, ascending, each once."""
        places = {self._position[number] for number in ids if number in self._position}
        return np.sort(np.fromiter(places, np.int64, len(places)))

    def append(self, ids: npt.NDArray[np.int64]) -> None:
        """Put new ids behind those that are here."""
        start = len(self._ids)
        self._ids.append(ids)
        self._position.update(zip(ids.tolist(), range(start, start + len(ids)), strict=True))

    def drop(self, places: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Forget the ids at `places` and close the gaps with the last ones.

        Args:
            places: int64 `[m]`, distinct positions.

        Returns:
            The positions from where, and to where, entries have moved; both int64 of one length.
        """
        kept = len(self) - len(places)
        holes = places[places < kept]
        movers = np.setdiff1d(np.arange(kept, len(self)), places, assume_unique=True)
        for number in self.ids[places].tolist():
            del self._position[number]
        self.ids[holes] = self.ids[movers]
        self._position.update(zip(self.ids[holes].tolist(), holes.tolist(), strict=True))
        self._ids.truncate(kept)
        return movers, holes
