"""What knows which bullets and experiences of a namespace are near a vector."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from indexes.index import Hits, VectorIndex
from indexes.vectors import Matrix, Vector

Part = Literal["bullets", "experiences"]
"""What of a memory is found: bullets by their content, experiences by their query."""

Progress = Callable[[int, int], None]
"""Called with how many texts are embedded and how many there are."""


class IndexKind(Protocol):
    """A class of indexes: makes an empty one, and loads one that was saved."""

    def __call__(self, dim: int, *, fingerprint: str = "") -> VectorIndex: ...

    def load(self, path: Path, *, fingerprint: str | None = None) -> VectorIndex: ...


@runtime_checkable
class Reaching(Protocol):
    """Neighbours that can also tell of many queries at once which of them have nothing near."""

    def may_reach(self, queries: Matrix, least: float, *, rows_wanted: int = 1) -> npt.NDArray[np.bool_]:
        """bool `[m]`: False where fewer bullets than wanted have a cosine of `least` or more to a query `[m, dim]`."""
        ...


class Neighbours(Protocol):
    """The active bullets, by their content, and the active experiences, by their query, of one namespace of a store.

    N1  Numbers of what is active in the store when it is asked, whoever wrote it; never of another namespace.
        Inside a commit, that is what the commit has made of it so far.
    N2  Best first, ties by the lowest number; nothing where k is 0 or less.
    N3  Vectors of another embedding model are never used. A text without a vector of this one is embedded first.
    N4  Searches run beside each other and beside a search that has to embed or to build something first; only one that
        needs just that waits for it. No commit ever waits for a search.
    """

    def bullets(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        """The k nearest bullets to `query` `[dim]`, of all or only of those with a number in `among`."""
        ...

    def experiences(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        """The k experiences with the nearest queries, of all or only of those with a number in `among`."""
        ...

    def close(self) -> None:
        """Keep what saves work at the next opening; closing twice is closing once."""
        ...
