"""Exact search with FAISS: every row in float32, no training, nothing approximated."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from indexes.exact import ExactIndex
from indexes.vectors import Vector


class FaissFlatIndex(ExactIndex):
    """Inner products by FAISS, on one thread whatever numpy is built with. Promises: see `VectorIndex`."""

    kind: ClassVar[str] = "faiss-flat"

    def __init__(self, dim: int, *, fingerprint: str = "") -> None:
        import faiss

        super().__init__(dim, fingerprint=fingerprint)
        # Any: the stubs in the wheel describe the C++ functions, not the Python ones around them.
        self._faiss: Any = faiss

    def _products(self, query: Vector) -> npt.NDArray[np.float32]:
        products = np.empty(len(self._rows), dtype=np.float32)
        pointer, start = self._faiss.swig_ptr, 0
        for block in self._rows.blocks():
            into = products[start : start + len(block)]
            self._faiss.fvec_inner_products_ny(pointer(into), pointer(query), pointer(block), self._dim, len(block))
            start += len(block)
        return products
