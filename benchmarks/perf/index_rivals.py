"""Other ways of FAISS to find what is near, each refined by the exact rows as ours is.

They can be filled once, searched, and no more: it is for `benchmarks.perf.index` to say whether one of them would be
worth more than that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Final, Self, cast

import faiss
import numpy as np
import numpy.typing as npt

from indexes.exact import ExactIndex
from indexes.faiss_codes import Codes, one_thread
from indexes.quantised import QuantisedIndex
from indexes.ranking import closest
from indexes.vectors import Matrix, Vector

# Any: the stubs in the wheel describe the C++ functions, not the Python ones around them.
_FAISS: Final[Any] = faiss

SAMPLE = 50_000
"""Rows that an IVF is trained on, at most."""


class RaBitQCodes(Codes):
    """One bit for every number of a row, and what corrects it: Gao, Long, RaBitQ, SIGMOD 2024."""

    @classmethod
    def trained(cls, sample: Matrix, count: int, *, seed: int = 0) -> Self:
        codes = cls.__new__(cls)
        codes._dim, codes.trained_on = sample.shape[1], count
        codes._index = _FAISS.IndexRaBitQFastScan(codes._dim, faiss.METRIC_INNER_PRODUCT)
        with one_thread():
            codes._index.train(sample)
        return codes


class RaBitQIndex(QuantisedIndex):
    """Compares as many rows as `FaissPQIndex` does, by the same rule."""

    kind: ClassVar[str] = "faiss-rabitq"
    threshold: ClassVar[int] = 1_024

    def build(self) -> None:
        """Make the codes of all rows."""
        count = len(self._rows)
        if count >= self.threshold:
            codes = RaBitQCodes.trained(self._rows[np.arange(min(count, 8_192))], count)
            for block in self._rows.blocks():
                codes.append(block)
            self._codes = codes


class _Refined(ExactIndex):
    """An index of FAISS that names ten times as many rows as are wanted, which are compared exactly."""

    def __init__(self, dim: int, *, fingerprint: str = "") -> None:
        super().__init__(dim, fingerprint=fingerprint)
        self._index: Any = None

    def build(self) -> None:
        """Make the index of all rows."""
        self._index = self._made(len(self._rows))
        for block in self._rows.blocks():
            self._index.add(block)

    def _candidates(self, query: Vector, limit: int, within: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
        with one_thread():
            named = self._index.search(query[None], 10 * limit)[1][0]
        places = named[named >= 0]
        nearest = closest(self._rows.products_at(places, query), min(limit, len(places)), self._dim)
        return cast("npt.NDArray[np.int64]", places[nearest])

    @abstractmethod
    def _made(self, count: int) -> Any:
        """An empty index of FAISS for so many rows."""


class HnswIndex(_Refined):
    """A graph: Malkov, Yashunin, TPAMI 2018."""

    kind: ClassVar[str] = "faiss-hnsw"

    def _made(self, count: int) -> Any:
        index = _FAISS.IndexHNSWSQ(self._dim, _FAISS.ScalarQuantizer.QT_fp16, 32, _FAISS.METRIC_INNER_PRODUCT)
        index.hnsw.efSearch = 128
        index.train(self._rows[np.arange(min(count, SAMPLE))])
        return index


class IvfIndex(_Refined):
    """Lists around centroids, with eight bits a number, of which an eighth is scanned."""

    kind: ClassVar[str] = "faiss-ivf"

    def _made(self, count: int) -> Any:
        lists = max(int(np.sqrt(count)), 1)
        index = _FAISS.index_factory(self._dim, f"IVF{lists},SQ8", _FAISS.METRIC_INNER_PRODUCT)
        index.nprobe = max(lists // 8, 1)
        index.cp.min_points_per_centroid = 1  # else FAISS warns on stderr, between the notices
        index.train(self._rows[np.arange(min(count, SAMPLE))])
        return index


RIVALS: Sequence[type[ExactIndex]] = (HnswIndex, IvfIndex)
