"""An embedder that remembers what it has embedded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple, Protocol

import numpy as np

from indexes.embedder import Embedder, TextKind
from indexes.errors import DimensionMismatchError
from indexes.locks import ReadWriteLock
from indexes.vectors import Matrix, Vector, is_unit, normalise


class CacheKey(NamedTuple):
    """What a cached vector belongs to.

    Attributes:
        model_id: of the embedder.
        kind: "document" for every text of a symmetric embedder.
        sha256: of the text in UTF-8, in hexadecimal; the text itself is not kept.
    """

    model_id: str
    kind: TextKind
    sha256: str


def keys_of(texts: Sequence[str], embedder: Embedder, kind: TextKind = "document") -> list[CacheKey]:
    """Under which keys the vectors of texts are kept that the embedder makes."""
    shared: TextKind = "document" if embedder.symmetric else kind
    # A lone surrogate, left by a broken JSON escape, is no UTF-8; it still belongs to the text's identity.
    encoded = (text.encode("utf-8", "surrogatepass") for text in texts)
    return [CacheKey(embedder.model_id, shared, sha256(text).hexdigest()) for text in encoded]


class VectorCache(Protocol):
    """A place that keeps vectors longer than a process lives. Several threads may call it at once."""

    def get_many(self, keys: Sequence[CacheKey]) -> Mapping[CacheKey, Vector]:
        """The vectors `[dim]` of those keys that are known."""
        ...

    def put_many(self, vectors: Mapping[CacheKey, Vector]) -> None:
        """Keep all of `vectors`; those that are known already stay or are replaced by their equals."""
        ...


class MemoryVectorCache:
    """A `VectorCache` that lives in this process; for tests, and where nothing is to be kept."""

    def __init__(self) -> None:
        self._vectors: dict[CacheKey, Vector] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def get_many(self, keys: Sequence[CacheKey]) -> dict[CacheKey, Vector]:
        return {key: self._vectors[key] for key in keys if key in self._vectors}

    def put_many(self, vectors: Mapping[CacheKey, Vector]) -> None:
        self._vectors.update(vectors)


class CachedEmbedder:
    """An embedder with the vectors of recent texts at hand, and a lasting cache behind them.

    Recalling must not write, so the vector of a *query* goes into the lasting cache only when the
    same text is later embedded as a document (possible where the embedder is symmetric); until then it is
    at hand in this process. Each distinct text of a call is embedded at most once. Promises: see `Embedder`.

    Args:
        inner: does the work for texts that are not known.
        cache: keeps the vectors of documents.
        memory_items: how many vectors stay at hand, those used least recently leave first; one
            takes 1.5 KiB at dimension 384.

    Attributes:
        hits: distinct texts, counted per call, whose vector was at hand or in the cache.
        misses: distinct texts, counted per call, that had to be embedded.
    """

    def __init__(self, inner: Embedder, cache: VectorCache, *, memory_items: int = 2048) -> None:
        self.hits = 0
        self.misses = 0
        self._inner = inner
        self._cache = cache
        self._recent = _Recent(memory_items)
        self._counting = ReadWriteLock()

    @property
    def model_id(self) -> str:
        return self._inner.model_id

    @property
    def dim(self) -> int:
        return self._inner.dim

    @property
    def symmetric(self) -> bool:
        return self._inner.symmetric

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        if isinstance(texts, str):
            raise TypeError("embed() takes a sequence of texts; put a single text into a list.")
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        keys = keys_of(texts, self, kind)
        known = self._find(dict(zip(keys, texts, strict=True)), kind)
        if kind == "document":
            self._write(known)
        self._recent.put(known)
        return np.stack([known[key].vector for key in keys])

    def _find(self, wanted: Mapping[CacheKey, str], kind: TextKind) -> dict[CacheKey, _Known]:
        """The vectors of all distinct texts: at hand, from the cache, or embedded now."""
        known = self._recent.get(wanted)
        known |= self._from_cache([key for key in wanted if key not in known])
        missing = [key for key in wanted if key not in known]
        with self._counting.writing():
            self.hits += len(known)
            self.misses += len(missing)
        if missing:
            rows = _unit_rows(self._inner.embed([wanted[key] for key in missing], kind))
            known |= {key: _Known(_kept(row), written=False) for key, row in zip(missing, rows, strict=True)}
        return known

    def _from_cache(self, keys: Sequence[CacheKey]) -> dict[CacheKey, _Known]:
        found = self._cache.get_many(keys) if keys else {}
        for vector in found.values():
            if np.shape(vector) != (self.dim,):
                raise DimensionMismatchError(expected=self.dim, got=np.size(vector), what="cached vectors")
        return {key: _Known(_kept(vector), written=True) for key, vector in found.items()}

    def _write(self, known: dict[CacheKey, _Known]) -> None:
        unwritten = {key: each.vector for key, each in known.items() if not each.written}
        if unwritten:
            self._cache.put_many(unwritten)
            known |= {key: _Known(vector, written=True) for key, vector in unwritten.items()}


class _Known(NamedTuple):
    """A vector at hand, and whether the lasting cache has it."""

    vector: Vector
    written: bool


def _unit_rows(rows: Matrix) -> Matrix:
    """The rows; made those of an `Embedder` where somebody's own has given others, so that no others are kept.

    Raises:
        NonFiniteVectorError: a row holds NaN or infinity.
    """
    return rows if all(map(is_unit, rows)) else normalise(rows)


def _kept(row: Vector) -> Vector:
    """A copy, so that neither the rest of its batch stays in memory nor the caller can change it.

    A vector over bytes of its own is neither part of a batch nor can it be changed: it is kept as it is.
    """
    if isinstance(row.base, bytes) and len(row.base) == row.nbytes and row.dtype == np.float32:
        return row
    vector = np.array(row, dtype=np.float32)
    vector.flags.writeable = False
    return vector


class _Recent:
    """The vectors used last, at most `room` of them."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._known: OrderedDict[CacheKey, _Known] = OrderedDict()
        self._lock = ReadWriteLock()

    def get(self, keys: Iterable[CacheKey]) -> dict[CacheKey, _Known]:
        with self._lock.reading():
            return {key: self._known[key] for key in keys if key in self._known}

    def put(self, known: Mapping[CacheKey, _Known]) -> None:
        """Keep them, unless they would take more than half of the room.

        Whoever loads a whole memory asks once for each, and would push out what is asked again and again.
        """
        if 2 * len(known) > self._room:
            return
        with self._lock.writing():
            self._known.update(known)
            for key in known:
                self._known.move_to_end(key)
            while len(self._known) > self._room:
                self._known.popitem(last=False)
