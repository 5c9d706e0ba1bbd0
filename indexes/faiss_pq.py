"""A quantised index whose codes are made by whoever adds the rows for which they are due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from indexes.quantised import QuantisedIndex
from indexes.vectors import Matrix


class FaissPQIndex(QuantisedIndex):
    """Short codes scanned by FAISS, refined by exact scores. Promises: see `VectorIndex`."""

    kind: ClassVar[str] = "faiss-pq"
    threshold: ClassVar[int] = 1_024

    def add(self, ids: Sequence[int], rows: Matrix) -> None:
        super().add(ids, rows)
        quantising = self._begin()
        if quantising is not None:
            self._quantise(quantising)
