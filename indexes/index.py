"""What finds the nearest vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
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

    I1  `search` gives the true top-k by cosine, best first, ties by the lowest id. A quantised index may miss some:
        of the true ten nearest it finds 99 in 100 on average. What it gives has its true score and stands in the true
        order; of equal rows, those with the lowest ids come. It gives as many as an exact one does.
    I2  A k larger than the index gives what there is; an empty index gives nothing, never -1.
    I3  A removed id never comes back; an id added twice is replaced.
    I4  Rows or queries of another dimension raise `DimensionMismatchError`, which states both.
    I5  `save` and `load` give the same answers, and the watermark. A file that is missing, damaged or of another
        kind raises `IndexFileError`. What changes while it is being saved is not in the file, and does not wait.
    I6  A non-finite row or query is refused; a zero row or query scores 0. Never NaN.
    I7  Searches may run at the same time as each other and as `add` and `remove`: every id that
        comes back was in the index at that time.
    I8  A change that is broken off (no memory, an interrupt) can be made again, and is whole then.
    I9  A process that is forked off while others use the index has a copy, as it was between two changes.

    Ids are non-negative integers of the caller's. Rows and queries are normalised on the way in.
    """

    @property
    def dim(self) -> int: ...

    @property
    def fingerprint(self) -> str:
        """What makes the rows, in the words of the caller (model and dimension); may be empty."""
        ...

    @property
    def watermark(self) -> str:
        """What the caller noted with the file from which this was loaded; empty for an index that was not loaded."""
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

    def may_reach(self, queries: Matrix, least: float, *, rows_wanted: int = 1) -> npt.NDArray[np.bool_]:
        """bool `[m]`: False where fewer rows than wanted have a cosine of `least` or more to a query of `[m, dim]`.

        True is not certain; see `indexes/reach.py`.
        """
        ...

    def save(self, path: Path, *, watermark: str = "") -> None:
        """Write the index as it is now to one file, replacing it whole or not at all.

        Args:
            path: where to; its folder exists.
            watermark: what the caller wants to know when the file is loaded, such as up to which change of
                their own the rows are right.
        """
        ...

    def saver(self, *, watermark: str = "") -> Callable[[Path], None]:
        """What writes the index as it is now, whatever happens to it until that is called; as `save` with its path."""
        ...

    @classmethod
    def load(cls, path: Path, *, fingerprint: str | None = None) -> Self:
        """Read what `save` has written; a file with another `fingerprint` is refused, unless that is None."""
        ...

    def settle(self) -> None:
        """Wait until nothing goes on in the background."""
        ...

    def close(self) -> None:
        """End what goes on in the background; closing twice is closing once. The index stays of use."""
        ...
