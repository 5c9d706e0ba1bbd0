"""One vector index in this process, in step with the store."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from cheatsheet.memory.search.index_file import IndexFile, Reached
from cheatsheet.memory.search.neighbours import IndexKind, Part, Progress
from cheatsheet.memory.store import MemoryStore
from indexes.cached import CachedEmbedder
from indexes.embedder import Embedder
from indexes.exact import ExactIndex
from indexes.index import Hits, VectorIndex
from indexes.vectors import Matrix, Vector

Row = tuple[int, str, bool]
"""A number, its text, and whether it is active."""

LEAST_PAGE = 256
MOST_PAGES = 100
"""Many texts are embedded in so many pages at most, and progress is told after each."""

_log = logging.getLogger("cheatsheet")
_all: WeakSet[IndexInStep] = WeakSet()


class IndexInStep:
    """The active bullets or the active experiences of one namespace, as an index that catches up before every search.

    An index is a cache. It is loaded, or else built from the store, when it is first asked. What changed since is
    embedded by the first search that needs it, without any lock that another one needs: those that find the index up to
    date go on beside it, and only those that need the same change wait for it. A thread inside a commit of its own
    waits for nobody, for others may be waiting for that commit; what it has not stored yet stays out of the index.

    Args:
        file: where the index is kept between two openings of the memory; None where it is not.
        progress: told while many texts have to be embedded, as after a change of the embedding model, and not while
            their vectors are only read.
    """

    def __init__(
        self,
        store: MemoryStore,
        embedder: Embedder,
        *,
        namespace: str,
        part: Part,
        make_index: IndexKind,
        file: IndexFile | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._namespace = namespace
        self._part = part
        self._make_index = make_index
        self._file = file
        self._progress = progress
        self._reached: Reached | None = None
        self._torn = False  # the index holds a part of a newer version
        self._changing = threading.Lock()
        _all.add(self)

    def search(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        """The k nearest to `query` `[dim]` of what is active now."""
        if self._store.reads_apart:
            return self._search_beside(query, k, among)
        return self._up_to_date().search(query, k, among=among)

    def may_reach(self, queries: Matrix, least: float, *, rows_wanted: int = 1) -> npt.NDArray[np.bool_]:
        """bool `[m]`: False where fewer rows than wanted have a cosine of `least` or more to a query of `[m, dim]`."""
        if self._store.reads_apart:
            return np.ones(len(queries), dtype=bool)
        return self._up_to_date().may_reach(queries, least, rows_wanted=rows_wanted)

    def close(self) -> None:
        """Keep the index for the next opening, where that saves work."""
        if self._file is not None:
            self._file.close(self._still)
        if self._reached is not None:
            self._reached.index.close()

    def begin_anew_in_child(self) -> None:
        """Go on in a process that was forked off: the thread that was changing the index, if any, is not here."""
        if self._changing.locked():
            self._reached, self._torn = None, False
        self._changing = threading.Lock()

    def _up_to_date(self) -> VectorIndex:
        """The index of the memory as it is."""
        # In this order: read after it, the version of the memory cannot be the older one.
        reached = self._reached
        version = self._store.version(self._namespace)
        if reached is not None and reached.version == version:
            return reached.index
        with self._changing:
            self._reached = self._reached or self._opened()
            if version < self._reached.version:
                self._send_back(self._reached)
            if self._reached.version < version:
                self._catch_up(self._reached)
            return self._reached.index

    @contextmanager
    def _still(self) -> Iterator[Reached | None]:
        """The index, which does not change while the block lasts; None where it is that of no one version."""
        with self._changing:
            yield None if self._torn else self._reached

    def _opened(self) -> Reached:
        loaded = None
        if self._file is not None:
            loaded = self._file.load(self._make_index, fingerprint=self._fingerprint)
        return loaded or self._empty()

    def _empty(self) -> Reached:
        return Reached(self._make_index(self._embedder.dim, fingerprint=self._fingerprint), 0)

    @property
    def _fingerprint(self) -> str:
        return f"{self._embedder.model_id} [{self._embedder.dim}]"

    def _send_back(self, reached: Reached) -> None:
        """Begin anew where the memory is older than the index, and not only the version that somebody has read."""
        if self._store.version(self._namespace) >= reached.version:
            return
        _log.warning(
            "The memory went back behind version %d, as after the restoring of a backup: the index of the %s in %r is "
            "built anew.",
            reached.version,
            self._part,
            self._namespace,
        )
        reached.index.close()
        self._reached = self._empty()

    def _catch_up(self, reached: Reached) -> None:
        """Bring what changed since into the index; where embedding fails, a part of it, which does not count yet."""
        version, rows = self._changed_since(reached)
        self._torn = True
        self._embed_into(reached.index, [(number, text) for number, text, active in rows if active])
        # Last, so that a search beside this one misses nothing that it should find.
        reached.index.remove([number for number, _, active in rows if not active])
        self._reached, self._torn = Reached(reached.index, version), False
        if self._file is not None:
            self._file.changed(reached.index, self._still, rows=len(rows))

    def _changed_since(self, reached: Reached) -> tuple[int, Sequence[Row]]:
        """The version of the memory, and what its rows changed since; both of one moment."""
        with self._store.pinned():
            touched = self._store.touched(self._namespace, after=reached.version)
        return touched.version, touched.bullets if self._part == "bullets" else touched.experiences

    def _embed_into(self, index: VectorIndex, texts: Sequence[tuple[int, str]]) -> None:
        page = max(LEAST_PAGE, -(-len(texts) // MOST_PAGES))
        embedded = 0
        for start in range(0, len(texts), page):
            some = texts[start : start + page]
            vectors, new = self._vectors([text for _, text in some])
            index.add([number for number, _ in some], vectors)
            embedded += new
            if self._progress and embedded > LEAST_PAGE:
                self._progress(start + len(some), len(texts))

    def _vectors(self, texts: Sequence[str]) -> tuple[Matrix, int]:
        """float32 `[n, dim]`, and how many of the texts had to be embedded now."""
        if not isinstance(self._embedder, CachedEmbedder):
            return self._embedder.embed(texts, "document"), len(texts)
        before = self._embedder.misses
        return self._embedder.embed(texts, "document"), self._embedder.misses - before

    def _search_beside(self, query: Vector, k: int, among: Collection[int] | None) -> Hits:
        """As `search`, with what changed since in an index of its own, which only this search knows."""
        reached = self._reached or self._empty()
        _, rows = self._changed_since(reached)
        changed = {number for number, _, _ in rows}
        index = ExactIndex(self._embedder.dim)
        self._embed_into(index, [(number, text) for number, text, active in rows if active])
        known = reached.index.search(query, k + len(changed), among=among)
        return _best([_without(known, changed), index.search(query, k, among=among)], k)


def _without(hits: Hits, numbers: Collection[int]) -> Hits:
    kept = ~np.isin(hits.ids, list(numbers))
    return Hits(hits.ids[kept], hits.scores[kept])


def _best(found: Iterable[Hits], k: int) -> Hits:
    """The k best of several lists that have no number in common, ties by the lowest number."""
    lists = list(found)
    ids = np.concatenate([hits.ids for hits in lists])
    scores = np.concatenate([hits.scores for hits in lists])
    order = np.lexsort((ids, -scores))[: max(k, 0)]
    return Hits(ids[order], scores[order])


def _begin_anew_in_child() -> None:
    for index in _all:
        index.begin_anew_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew_in_child)
