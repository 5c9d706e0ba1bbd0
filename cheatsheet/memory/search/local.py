"""Vector indexes in this process, in step with the store."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from cheatsheet.memory.search.in_step import IndexInStep
from cheatsheet.memory.search.index_file import IndexFile, IndexFolder
from cheatsheet.memory.search.neighbours import IndexKind, Part, Progress
from cheatsheet.memory.store import MemoryStore
from indexes.embedder import Embedder
from indexes.index import Hits
from indexes.vectors import Matrix, Vector


class LocalNeighbours:
    """Keeps an index over the active bullets and one over the active experiences. Promises: see `Neighbours`.

    Each is there from when it is first asked, so that a mode that shows no experiences embeds no questions.

    Args:
        make_index: the kind of the indexes.
        folder: where they are kept between two openings of the memory; None where they are not.
        progress: told while many texts have to be embedded, as after a change of the embedding model.
    """

    def __init__(
        self,
        store: MemoryStore,
        embedder: Embedder,
        *,
        namespace: str,
        make_index: IndexKind,
        folder: IndexFolder | None = None,
        progress: Progress | None = None,
    ) -> None:
        def index(part: Part) -> IndexInStep:
            file = None if folder is None else IndexFile(folder, store, namespace=namespace, part=part)
            return IndexInStep(
                store, embedder, namespace=namespace, part=part, make_index=make_index, file=file, progress=progress
            )

        self._bullets = index("bullets")
        self._experiences = index("experiences")

    def bullets(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        return self._bullets.search(query, k, among=among)

    def experiences(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        return self._experiences.search(query, k, among=among)

    def may_reach(self, queries: Matrix, least: float, *, rows_wanted: int = 1) -> npt.NDArray[np.bool_]:
        return self._bullets.may_reach(queries, least, rows_wanted=rows_wanted)

    def close(self) -> None:
        self._bullets.close()
        self._experiences.close()
