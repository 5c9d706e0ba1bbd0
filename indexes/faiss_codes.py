"""Rows in four bits for every four numbers, scanned by FAISS: what a search of many rows asks first.

Product quantisation with the scan in registers ("FastScan"): André, Kermarrec, Le Scouarnec, Cache locality is not
enough, VLDB 2015; Jégou, Douze, Schmid, Product Quantization for Nearest Neighbor Search, TPAMI 2011.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Self, cast

import faiss
import numpy as np
import numpy.typing as npt

from indexes.vectors import Matrix, Vector

# Any: the stubs in the wheel describe the C++ functions, not the Python ones around them.
_FAISS: Final[Any] = faiss

NUMBERS_A_CODE = 4
"""A row of dimension 384 takes 48 bytes, a 32nd of what it takes in float32."""

CENTROIDS = 16
"""As many as four bits tell apart; FAISS needs as many rows to train."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let FAISS use one thread for what is called inside.

    One query on two threads takes 2 to 2.8 times as long as on one (measured on 2 cores, 10,000 to 1,000,000 rows of
    dimension 384), and training on as many threads as there are cores takes 20 times as long where others use the cores
    as well: its threads wait for each other in loops. The number is OpenMP's for the calling thread alone, so other
    threads and other libraries do not notice.
    """
    before = _FAISS.omp_get_max_threads()
    _FAISS.omp_set_num_threads(1)
    try:
        yield
    finally:
        _FAISS.omp_set_num_threads(before)


class Codes:
    """A code for every row at the positions 0 … n-1.

    FAISS can take rows out of such an index only by rewriting all that stand behind them. A code is written over in
    its place instead, and what is removed is filled with the last, so that there are no tombstones to search around.

    Args:
        dim: length of a row; where four do not divide it, rows are filled up with zeros.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._pieces = -(-dim // NUMBERS_A_CODE)
        self._index: Any = _FAISS.IndexPQFastScan(
            self._pieces * NUMBERS_A_CODE, self._pieces, 4, _FAISS.METRIC_INNER_PRODUCT
        )
        self._packer: Any = self._index.get_CodePacker()
        self.trained_on = 0

    @classmethod
    def trained(cls, sample: Matrix, count: int, *, seed: int = 0) -> Self:
        """Codes for rows like those in `sample`, `[m, dim]`, which stand for `count` rows; none is encoded yet."""
        codes = cls(sample.shape[1])
        clustering = codes._index.pq.cp
        clustering.seed = seed
        clustering.min_points_per_centroid = 1  # else FAISS writes a warning to stderr
        enough = np.resize(sample, (max(len(sample), CENTROIDS), sample.shape[1]))
        clustering.max_points_per_centroid = len(enough)
        with one_thread():
            codes._index.train(codes._padded(enough))
        codes.trained_on = count
        return codes

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def append(self, rows: Matrix) -> None:
        """Put codes of rows `[m, dim]` behind those that are there."""
        if len(rows):
            with one_thread():
                self._index.add(self._padded(rows))

    def put(self, places: npt.NDArray[np.int64], rows: Matrix) -> None:
        """Put codes of rows `[m, dim]` in place of those at `places`."""
        for place, code in zip(places.tolist(), self._encoded(rows), strict=True):
            self._write(place, code)

    def truncate(self, count: int) -> None:
        """Keep the first `count` codes."""
        # FAISS writes new codes with "or" into what must be zero.
        nothing, together = np.zeros(self._index.code_size, dtype=np.uint8), self._packer.nvec
        kept = -(-count // together)
        for place in range(count, min(kept * together, len(self))):
            self._write(place, nothing)
        self._blocks()[kept:] = 0
        self._index.ntotal, self._index.ntotal2 = count, kept * together

    def nearest(self, query: Vector, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Positions of the `count` rows that seem nearest to `query` `[dim]`, best first, and their rough cosines.

        Equal rows seem equally near. Fewer than `count` come back where FAISS keeps no place for the very farthest.
        """
        with one_thread():
            scores, places = self._index.search(self._padded(query[None]), count)
        found = places[0] >= 0
        return places[0][found], scores[0][found]

    def products_at(self, block: Matrix, offsets: npt.NDArray[np.int64], query: Vector) -> npt.NDArray[np.float32]:
        """As `ProductsAt` of `indexes/rows.py`.

        numpy copies the rows first, and takes 1.7 times as long (measured: 4,096 and 16,384 of a million rows).
        """
        products, pointer = np.empty(len(offsets), dtype=np.float32), _FAISS.swig_ptr
        with one_thread():
            _FAISS.fvec_inner_products_by_idx(
                *(pointer(array) for array in (products, query, block, offsets)), self._dim, 1, len(offsets)
            )
        return products

    def parts(self) -> dict[str, npt.NDArray[Any]]:
        """A copy of all that is needed to have these codes again."""
        centroids = _FAISS.vector_to_array(self._index.pq.centroids)
        return {
            "centroids": centroids.reshape(self._pieces, CENTROIDS, NUMBERS_A_CODE),
            "codes": self._blocks().copy(),
            "trained_on": np.array([len(self), self.trained_on], dtype=np.int64),
        }

    @classmethod
    def of(cls, dim: int, parts: Mapping[str, npt.NDArray[Any]]) -> Self:
        """The codes from which `parts` were taken. FAISS writes them into its own files in the same order."""
        codes = cls(dim)
        index = codes._index
        _FAISS.copy_array_to_vector(np.ascontiguousarray(parts["centroids"].reshape(-1)), index.pq.centroids)
        count, codes.trained_on = parts["trained_on"].tolist()
        index.codes.resize(parts["codes"].size)
        index.is_trained, index.ntotal, index.ntotal2 = True, count, len(parts["codes"]) * codes._packer.nvec
        codes._blocks()[:] = parts["codes"]
        return codes

    def _write(self, place: int, code: npt.NDArray[np.uint8]) -> None:
        number, offset = divmod(place, self._packer.nvec)
        # One block, for in a longer array FAISS (1.15) refuses places that are there.
        self._packer.pack_1(code, offset, self._blocks()[number : number + 1])

    def _encoded(self, rows: Matrix) -> npt.NDArray[np.uint8]:
        """uint8 `[m, bytes]`."""
        codes = np.zeros((len(rows), self._index.code_size), dtype=np.uint8)
        padded = self._padded(rows)
        with one_thread():
            self._index.compute_codes(_FAISS.swig_ptr(codes), len(rows), _FAISS.swig_ptr(padded))
        return codes

    def _blocks(self) -> npt.NDArray[np.uint8]:
        """uint8 `[blocks, bytes]`: where the codes of 32 rows at a time lie, woven into each other; no copy."""
        count = -(-len(self) // self._packer.nvec)
        flat = _FAISS.rev_swig_ptr(self._index.codes.get(), count * self._packer.block_size)
        return cast("npt.NDArray[np.uint8]", flat.reshape(count, self._packer.block_size))

    def _padded(self, rows: Matrix) -> Matrix:
        width = self._index.d - self._dim
        return np.pad(rows, ((0, 0), (0, width))) if width else np.ascontiguousarray(rows)
