"""Arrays that grow, and the ids of an index: which id stands at which position."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from indexes.errors import VectorError

MAX_ID = 2**63 - 1
RECENT = 4096
"""Changes that are kept apart before they are sorted in, at least; at most a sixteenth of what is there."""


class GrowingArray:
    """An array int64 `[n]` that takes one more entry in constant time, on average.

    Its room doubles when it is full, as that of a list does.
    """

    def __init__(self) -> None:
        self._room = np.empty(0, dtype=np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def view(self) -> npt.NDArray[np.int64]:
        """What is there, without a copy; it is out of date after the next `append`."""
        return self._room[: self._count]

    def append(self, entries: npt.NDArray[np.int64]) -> None:
        needed = self._count + len(entries)
        if needed > len(self._room):
            grown = np.empty(max(needed, 2 * len(self._room)), dtype=np.int64)
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
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.max() > MAX_ID:
        raise VectorError(f"Ids must be whole numbers from 0 to 2**63 - 1, one a row; got {ids!r:.80}.")
    if numbers.min() < 0:
        raise VectorError(f"Ids must not be negative; got {numbers.min()}.")
    return numbers.astype(np.int64)


def last_of_each(ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where in `ids` each distinct id stands for the last time, in the order given."""
    _, from_behind = np.unique(ids[::-1], return_index=True)
    return np.sort(len(ids) - 1 - from_behind)


class Numbering:
    """Ids at the positions 0 … n-1, without gaps.

    The way from an id to its position is kept in two arrays, 16 bytes an id, sorted by id, and what has changed
    since they were sorted in a dict beside them: a dict of all takes a hundred or more.
    """

    def __init__(self) -> None:
        self._ids = GrowingArray()
        self._sorted: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._places: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._recent: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: int) -> bool:
        return len(self.positions([id])) > 0

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """int64 `[n]`, the id at every position."""
        return self._ids.view

    def find(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """int64 `[len(ids)]`: the position of each id, -1 where there is none."""
        places = np.full(len(ids), -1, dtype=np.int64)
        at, here = self._in_sorted(ids)
        places[here] = self._places[at[here]]
        if self._recent:
            changed = [(place, number) for place, number in enumerate(ids.tolist()) if number in self._recent]
            for place, number in changed:
                places[place] = self._recent[number]
        return places

    def positions(self, ids: Collection[int]) -> npt.NDArray[np.int64]:
        """int64 `[m]`: the positions of those of `ids` that are here, ascending, each once."""
        possible = [number for number in ids if 0 <= number <= MAX_ID]
        places = np.sort(self.find(np.array(possible, dtype=np.int64)))
        # np.unique (numpy 2.4) takes twenty times as long as sorting.
        return places[np.diff(places, prepend=-1) > 0]

    def append(self, ids: npt.NDArray[np.int64]) -> None:
        """Put new ids behind those that are here."""
        start = len(self)
        self._ids.append(ids)
        self._note(ids, np.arange(start, start + len(ids)))

    def moves(self, places: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """From which positions to which ones entries have to move, before those at `places` are dropped.

        Args:
            places: int64 `[m]`, distinct positions.

        Returns:
            Both int64 of one length; the last entries move into the gaps.
        """
        kept = len(self) - len(places)
        return np.setdiff1d(np.arange(kept, len(self)), places, assume_unique=True), places[places < kept]

    def drop(self, places: npt.NDArray[np.int64]) -> None:
        """Forget the ids at `places`, and move others as `moves` says."""
        movers, holes = self.moves(places)
        gone = self.ids[places]
        # They change places, so that each id stands at one of them at any moment, and `mend` has something to go by.
        self.ids[np.concatenate([holes, movers])] = self.ids[np.concatenate([movers, holes])]
        self._ids.truncate(len(self) - len(places))
        self._note(gone, np.full(len(gone), -1, dtype=np.int64))
        self._note(self.ids[holes], holes)

    def mend(self) -> None:
        """Find the positions anew, after a change that was broken off."""
        order = np.argsort(self.ids, kind="stable")
        self._recent.clear()
        self._sorted, self._places = self.ids[order], order

    def _in_sorted(self, ids: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Where each of `ids` stands or would stand among the sorted ones, and whether it stands there."""
        at = np.searchsorted(self._sorted, ids)
        here = at < len(self._sorted)
        here[here] = self._sorted[at[here]] == ids[here]
        return at, here

    def _note(self, ids: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> None:
        """Remember the new positions of `ids`, distinct ones; -1 for those that are gone."""
        room = max(RECENT, len(self._sorted) // 16)
        if len(ids) + len(self._recent) <= room:
            self._recent.update(zip(ids.tolist(), places.tolist(), strict=True))
            return
        if self._recent:
            changed = np.array(list(self._recent.items()), dtype=np.int64)
            self._recent.clear()
            self._merge(changed[:, 0], changed[:, 1])
        self._merge(ids, places)

    def _merge(self, ids: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> None:
        at, here = self._in_sorted(ids)
        stays = np.ones(len(self._sorted), dtype=bool)
        stays[at[here]] = False
        live = places >= 0
        merged = np.concatenate([self._sorted[stays], ids[live]])
        # Two or more runs that are in order already: a stable sort merges them.
        order = np.argsort(merged, kind="stable")
        self._sorted = merged[order]
        self._places = np.concatenate([self._places[stays], places[live]])[order]
