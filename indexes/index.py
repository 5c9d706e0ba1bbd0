"""What finds the nearest vectors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from indexes.vectors import Matrix, Vector


class Hits(NamedTuple):
    """The neighbours of one query, best first.

    Attributes:
        ids: int64 `[m]`, m ≤ k.
        scores: float32 `[m]`, cosine in [-1, 1].
    """

    ids: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]


class VectorIndex(Protocol):
    """A set of numbered unit rows that can be searched by cosine.

    I1  `search` gives the true top-k by cosine, best first, ties by the lowest id.
    I2  A k larger than the index gives what there is; an empty index gives nothing, never -1.
    I3  A removed id never comes back; an id added twice is replaced.
    I4  Rows or queries of another dimension raise `DimensionMismatchError`, which states both.
    I5  `save` and `load` give the same answers. A file that is missing, damaged or of another
        kind raises `IndexFileError`.
    I6  A non-finite row or query is refused; a zero row or query scores 0. Never NaN.
    I7  Searches may run at the same time as each other and as `add` and `remove`: every id that
        comes back was in the index at that time.

    Ids are non-negative integers of the caller's. Rows and queries are normalised on the way in.
    """

    @property
    def dim(self) -> int: ...

    @property
    def fingerprint(self) -> str:
        """What makes the rows, in the words of the caller (model and dimension); may be empty."""
        ...

    def __len__(self) -> int: ...

    def __contains__(self, id: int) -> bool: ...

    def add(self, ids: Sequence[int], rows: Matrix) -> None:
        """Add rows `[n, dim]` under `ids` (n of them); all or none. Of an id given twice the last row stays."""
        ...

    def remove(self, ids: Collection[int]) -> int:
        """Remove what is there of `ids` and return how many that were."""
        ...

    def search(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        """The k nearest to `query` `[dim]`, of all rows or only of those with an id in `among`.

        A k of 0 or less gives nothing; ids in `among` that are not in the index are passed over.
        """
        ...

    def save(self, path: Path) -> None:
        """Write the index to one file, replacing it whole or not at all."""
        ...

    @classmethod
    def load(cls, path: Path, *, fingerprint: str | None = None) -> Self:
        """Read what `save` has written; a file with another `fingerprint` is refused, unless that is None."""
        ...
