"""The rows that codes take for the nearest to a query, and whether the true nearest are among them."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

MISSED = 0.001
"""Share of the k rows that a search may miss, as expected from how far the codes are off.

At one million mixtures of 2,000 real bullets 0.0005 to 0.005 find 0.9995 to 1.0 of the ten nearest, at a p50 of 2.6 ms.
At one million mixtures of 190 texts only, 0.005 finds 0.991 in 3.5 ms, 0.001 finds 0.995 in 7.1 ms, 0.0001 0.997 in
7.4 ms (400 questions each, the indexes of `python -m benchmarks.perf.index`, 2026-12-01).
"""


class Named:
    """What one search has learnt from the codes, and of the rows themselves.

    Args:
        count: how many rows there are.
        within: the only positions that may be found; None for all.

    Attributes:
        places: int64 `[m]`, the positions of the rows named.
        scores: float32 `[c]`, exact cosines of the first c of them.
    """

    def __init__(self, count: int, within: npt.NDArray[np.int64] | None) -> None:
        self.places = np.empty(0, dtype=np.int64)
        self.scores = np.empty(0, dtype=np.float32)
        self._rough = np.empty(0, dtype=np.float32)
        self._count = count
        self._open = np.full(count, within is None)
        if within is not None:
            self._open[within] = True
        self._all = False
        self._last = np.float32(np.inf)

    def extend(self, places: npt.NDArray[np.int64], rough: npt.NDArray[np.float32]) -> None:
        """The codes name more: the nearest at `places`, best first, with what they take for their cosines."""
        new = self._open[places]
        self._open[places] = False
        self.places = np.concatenate([self.places, places[new]])
        self._rough = np.concatenate([self._rough, rough[new]])
        self._last, self._all = rough[-1], len(places) == self._count

    def following(self, stop: int) -> npt.NDArray[np.int64]:
        """The positions of those that are compared next, so that the first `stop` are."""
        return self.places[len(self.scores) : stop]

    def compared(self, scores: npt.NDArray[np.float32]) -> None:
        """The exact cosines of the next ones."""
        self.scores = np.concatenate([self.scores, scores])

    def suffices(self, chosen: npt.NDArray[np.int64], limit: int) -> bool:
        """Whether `chosen` of those that were compared hold the true top of `limit`, of all rows that may be found."""
        count = len(self.scores)
        if count == len(self.places) and self._all:
            return True
        last = self._rough[count - 1] if count < len(self.places) else self._last
        if self._rough[chosen].min() <= last:
            return False
        # The farther half: the nearest come first because the codes take them for too near, unlike the rest.
        errors = (self.scores - self._rough[:count])[count // 2 :]
        # About as many rows as were compared lie only a little below the last of them.
        spreads = NormalDist().inv_cdf(1 - MISSED * limit / count)
        return bool(self.scores[chosen].min() >= last + errors.mean() + spreads * errors.std())
