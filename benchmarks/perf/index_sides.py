"""The kinds of index that `benchmarks.perf.index` fills and asks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

from benchmarks.perf.index_rivals import RIVALS, RaBitQIndex
from benchmarks.perf.mixture import Mixture
from indexes.auto import AutoIndex
from indexes.exact import ExactIndex
from indexes.faiss_flat import FaissFlatIndex
from indexes.faiss_pq import FaissPQIndex

_ALL: Final[Sequence[type[ExactIndex]]] = (
    *(ExactIndex, FaissFlatIndex, FaissPQIndex, RaBitQIndex, AutoIndex),
    *RIVALS,
)
KINDS: Final[Mapping[str, type[ExactIndex]]] = {kind.kind: kind for kind in _ALL}
OURS: Final = (ExactIndex, FaissFlatIndex, FaissPQIndex, AutoIndex)
"""Those that can be changed and kept."""

USUAL: Final = tuple(name for name, kind in KINDS.items() if kind not in RIVALS)


def fill(kind: str, mixture: Mixture, count: int) -> tuple[ExactIndex, float]:
    """An index of this kind with rows numbered from 0, at its best, and the seconds that took, without the mixing."""
    index, taken_s = KINDS[kind](mixture.real.shape[1]), 0.0
    for rows in mixture.batches(count):
        started = time.perf_counter()
        index.add(range(len(index), len(index) + len(rows)), rows)
        taken_s += time.perf_counter() - started
    started = time.perf_counter()
    index.settle()
    build = getattr(index, "build", None)
    if build is not None:
        build()
    return index, taken_s + time.perf_counter() - started
