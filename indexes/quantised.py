"""A search that asks short codes first and exact rows last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from indexes.exact import ExactIndex
from indexes.files import Part
from indexes.named import Named
from indexes.quantising import Quantising, codes_class
from indexes.ranking import closest
from indexes.vectors import Matrix, Vector

if TYPE_CHECKING:
    from indexes.faiss_codes import Codes

NAMED, NAMED_SHARE = 1_024, 256
"""Rows that the codes name at first: so many, or one in so many. Naming some more costs next to nothing."""

FIRST, PER_HIT = 256, 16
"""Rows that are compared exactly at first, at least, and for each of the k."""

WIDER = 4
"""So many times as many rows are named where those named were not enough."""

SPARSE = 128
"""Where fewer than one row in so many may be found, all of those are compared exactly."""


class QuantisedIndex(ExactIndex):
    """All rows in float32, and from `threshold` rows on a code of each, which says which rows to look at.

    What is found has the scores and the order that an exact search gives it. How many rows are looked at depends on
    the query: from the rows at hand it is known how far the codes are off, and more are taken until the k-th score lies
    well above all that the codes left out, or until an exact search costs no more. Equal rows have equal codes, so a
    tie is never cut: while a hit seems no nearer than the last row taken, its equals may be among the others.

    When codes are made, and in which thread, is for an implementation to say.
    """

    threshold: ClassVar[int]
    """Rows from which on codes are made."""

    retrain: ClassVar[int] = 4
    """Codes are made anew when there are so many times as many rows as when they were made."""

    give_up: ClassVar[float] = 1 / 8
    """Share of the rows that are looked at before all are."""

    def __init__(self, dim: int, *, fingerprint: str = "") -> None:
        super().__init__(dim, fingerprint=fingerprint)
        self._codes: Codes | None = None
        self._quantising: Quantising | None = None

    def _candidates(self, query: Vector, limit: int, within: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
        found = None
        if self._codes is not None and (within is None or len(within) * SPARSE > len(self._rows)):
            found = self._by_codes(self._codes, query, limit, within)
        return super()._candidates(query, limit, within) if found is None else found

    def _by_codes(
        self, codes: Codes, query: Vector, limit: int, within: npt.NDArray[np.int64] | None
    ) -> npt.NDArray[np.int64] | None:
        """What `_candidates` gives; None where too many rows would have to be looked at."""
        count, most = len(self._rows), int(self.give_up * len(self._rows))
        wanted = max(NAMED, count // NAMED_SHARE, PER_HIT * limit) * count // (count if within is None else len(within))
        named = Named(count, within)
        while limit <= most:
            taken = min(wanted, most)
            places, rough = codes.nearest(query, taken)
            if len(places) < taken:
                return None
            named.extend(places, rough)
            found = self._compared(codes, query, limit, named)
            if found is not None or taken == most:
                return found
            wanted *= WIDER
        return None

    def _compared(self, codes: Codes, query: Vector, limit: int, named: Named) -> npt.NDArray[np.int64] | None:
        """Compare the rows named, the nearest first, until the true top of `limit` is known, and give their positions.

        None while it may be among what was not named.
        """
        while True:
            if len(named.scores) >= limit:
                chosen = closest(named.scores, limit, self._dim)
                if named.suffices(chosen, limit):
                    return named.places[chosen]
            following = named.following(max(FIRST, PER_HIT * limit, 2 * len(named.scores)))
            if not len(following):
                return None
            named.compared(self._rows.products_at(following, query, by=codes.products_at))

    # Codes change before their rows: a change that was broken off is made again, and a row that stands there already
    # would be passed over.

    def _put(self, places: npt.NDArray[np.int64], rows: Matrix) -> None:
        if self._quantising is not None:
            self._quantising.changed(places)
        if self._codes is not None:
            self._codes.put(places, rows)
        super()._put(places, rows)

    def _append(self, rows: Matrix) -> None:
        if self._codes is not None:
            self._codes.append(rows)
        super()._append(rows)

    def _truncate(self, count: int) -> None:
        if self._quantising is not None:
            self._quantising.truncated(count)
        if self._codes is not None:
            self._codes.truncate(count)
        super()._truncate(count)

    def _parts(self) -> Mapping[str, Part]:
        return {} if self._codes is None else self._codes.parts()

    def _restore(self, parts: Mapping[str, Part]) -> None:
        if parts:
            self._codes = codes_class().of(self._dim, parts)

    def _begin(self) -> Quantising | None:
        """What makes codes, where they are due and nobody makes them."""
        if not self._due():
            return None
        with self._lock.writing():
            if self._due():
                self._quantising = Quantising(self._rows, self._lock)
                return self._quantising
        return None

    def _due(self) -> bool:
        if self._quantising is not None and not self._quantising.is_orphaned:
            return False
        trained_on = self._codes.trained_on if self._codes is not None else 0
        return len(self._rows) >= max(self.threshold, self.retrain * trained_on)

    def _quantise(self, quantising: Quantising, *, stopped: Callable[[], bool] = lambda: False) -> None:
        """Make codes, and search by them from then on; nothing changes where it is stopped or fails."""
        try:
            codes = quantising.train()
            while not stopped() and quantising.step(codes):
                pass
            with self._lock.writing():
                if not stopped():
                    quantising.finish(codes)
                    self._codes = codes
                self._quantising = None
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        with self._lock.writing():
            self._quantising = None
