"""Exact search with FAISS: every row in float32, no training, nothing approximated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from indexes.flat import FlatIndex
from indexes.ranking import margin
from indexes.vectors import Matrix, Vector

SPARE = 16
"""Rows fetched beyond k. They show whether ties go on behind the k-th; it costs nothing that can be measured."""


class FaissFlatIndex(FlatIndex):
    """`faiss.IndexFlatIP` behind ids of the caller's. Promises: see `VectorIndex`.

    The ids are kept here and not in an `IndexIDMap2`, whose every removal renumbers the whole map.
    """

    kind: ClassVar[str] = "faiss-flat"

    def __init__(self, dim: int, *, fingerprint: str = "") -> None:
        import faiss

        super().__init__(dim, fingerprint=fingerprint)
        # Any: the stubs in the wheel describe the C++ constructors, not the Python ones around them.
        self._faiss: Any = faiss
        self._index: Any = self._faiss.IndexFlatIP(dim)

    def _rows(self) -> Matrix:
        count = self._index.ntotal
        if not count:
            return np.empty((0, self._dim), dtype=np.float32)
        flat = self._faiss.rev_swig_ptr(self._index.get_xb(), count * self._dim)
        return cast(Matrix, flat.reshape(count, self._dim))

    def _append(self, rows: Matrix) -> None:
        self._index.add(rows)

    def _truncate(self, count: int) -> None:
        self._index.remove_ids(self._faiss.IDSelectorRange(count, self._index.ntotal))

    def _candidates(self, query: Vector, limit: int, within: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
        available = self._index.ntotal if within is None else len(within)
        fetch = min(limit + SPARE, available)
        options = self._only(within)
        with self._one_thread():
            scores, found = self._index.search(query[None], fetch, params=options)
            floor = float(scores[0, limit - 1]) - margin(self._dim)
            if fetch < available and scores[0, -1] >= floor:
                # The ties go on beyond what was fetched: take all that reach the floor.
                _, _, reached = self._index.range_search(query[None], floor, params=options)
                return cast("npt.NDArray[np.int64]", reached)
        return cast("npt.NDArray[np.int64]", found[0][scores[0] >= floor])

    def _only(self, within: npt.NDArray[np.int64] | None) -> Any:
        """Search parameters that let only the positions in `within` be found."""
        if within is None:
            return None
        allowed = np.zeros(self._index.ntotal, dtype=bool)
        allowed[within] = True
        bits = np.packbits(allowed, bitorder="little")
        return self._faiss.SearchParameters(sel=self._faiss.IDSelectorBitmap(bits))

    @contextmanager
    def _one_thread(self) -> Iterator[None]:
        """Let FAISS use one thread for what is called inside.

        One query on two threads takes 2 to 2.8 times as long as on one (measured on 2 cores,
        10,000 to 1,000,000 rows of dimension 384). The number is OpenMP's for the calling thread
        alone, so other threads and other libraries do not notice.
        """
        before = self._faiss.omp_get_max_threads()
        self._faiss.omp_set_num_threads(1)
        try:
            yield
        finally:
            self._faiss.omp_set_num_threads(before)
