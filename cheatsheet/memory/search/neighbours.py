"""What knows which bullets and experiences of a namespace are near a vector."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from indexes.index import Hits, VectorIndex
from indexes.vectors import Vector

Progress = Callable[[int, int], None]
"""Called with how many texts are embedded and how many there are."""

IndexFactory = Callable[[int], VectorIndex]
"""Makes an empty index for vectors of a dimension."""


class Neighbours(Protocol):
    """The active bullets, by their content, and the active experiences, by their query, of one namespace of a store.

    N1  Numbers of what is active in the store when it is asked, whoever wrote it; never of another namespace.
    N2  Best first, ties by the lowest number; nothing where k is 0 or less.
    N3  Vectors of another embedding model are never used. A text without a vector of this one is embedded first.
    N4  Searches run beside each other and beside a search that has to embed or to build something first.
    """

    def bullets(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        """The k nearest bullets to `query` `[dim]`, of all or only of those with a number in `among`."""
        ...

    def experiences(self, query: Vector, k: int) -> Hits:
        """The k experiences with the nearest queries."""
        ...

    def close(self) -> None:
        """Keep what saves work at the next opening; closing twice is closing once."""
        ...
