"""All implementations of the ground's protocols, and the doubles that their tests share."""

from __future__ import annotations

import functools
import hashlib
import math
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest import mock

import numpy as np

from indexes.auto import AutoIndex
from indexes.cached import CachedEmbedder, MemoryVectorCache
from indexes.embedder import Embedder, TextKind
from indexes.exact import ExactIndex
from indexes.faiss_flat import FaissFlatIndex
from indexes.faiss_pq import FaissPQIndex
from indexes.hashing import HashingEmbedder
from indexes.index import Hits
from indexes.litellm_embedder import LiteLLMEmbedder
from indexes.onnx_embedder import OnnxEmbedder, Precision
from indexes.sentence_transformer import SentenceTransformerEmbedder
from indexes.vectors import Matrix, Vector, normalise

Index = ExactIndex | FaissFlatIndex | FaissPQIndex | AutoIndex


class EarlyPQIndex(FaissPQIndex):
    """Has codes from few rows on, makes them anew often, and looks at as many rows as the codes name."""

    kind: ClassVar[str] = "early-pq"
    threshold: ClassVar[int] = 3
    retrain: ClassVar[int] = 2
    give_up: ClassVar[float] = 1.0


class EarlyAutoIndex(AutoIndex):
    """As `EarlyPQIndex`, in the background."""

    kind: ClassVar[str] = "early-auto"
    threshold: ClassVar[int] = 3
    retrain: ClassVar[int] = 2
    give_up: ClassVar[float] = 1.0


INDEXES: tuple[type[Index], ...] = (ExactIndex, FaissFlatIndex, FaissPQIndex, AutoIndex, EarlyPQIndex, EarlyAutoIndex)
EXACT: tuple[type[Index], ...] = (ExactIndex, FaissFlatIndex)


def settled(index: Index) -> Index:
    """`index`, when nothing goes on in its background any more."""
    index.settle()
    return index


class NaiveIndex:
    """One loop and one exactly rounded sum per score: slow, and plainly right."""

    def __init__(self) -> None:
        self.rows: dict[int, Vector] = {}

    def add(self, ids: Sequence[int], rows: Matrix) -> None:
        self.rows |= dict(zip(ids, normalise(rows), strict=True))

    def remove(self, ids: Collection[int]) -> int:
        return len([self.rows.pop(id) for id in set(ids) if id in self.rows])

    def search(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        unit = normalise(query)[0].tolist()
        scores = {id: _score(unit, row) for id, row in self.rows.items() if among is None or id in among}
        ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[: max(k, 0)]
        return Hits(
            np.array([id for id, _ in ranked], dtype=np.int64),
            np.array([score for _, score in ranked], dtype=np.float32),
        )


def _score(unit: list[float], row: Vector) -> float:
    exact = math.fsum(a * b for a, b in zip(unit, row.tolist(), strict=True))
    return float(np.clip(np.float32(exact), -1, 1))


def assert_same_hits(got: Hits, expected: Hits) -> None:
    assert got.ids.tolist() == expected.ids.tolist()
    assert got.scores.tolist() == expected.scores.tolist()


class CountingEmbedder:
    """`HashingEmbedder`, with a record of what it was asked to embed."""

    def __init__(self, *, dim: int = 16, symmetric: bool = True, model_id: str = "counting") -> None:
        self.calls: list[tuple[list[str], TextKind]] = []
        self.dim = dim
        self.symmetric = symmetric
        self.model_id = model_id
        self._inner = HashingEmbedder(dim)

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        self.calls.append((list(texts), kind))
        marked = texts if self.symmetric else [f"{kind} {text}" for text in texts]
        return self._inner.embed(marked, kind)


@functools.cache
def default_embedder() -> SentenceTransformerEmbedder:
    """Loaded once for all tests; loading takes seconds."""
    return SentenceTransformerEmbedder()


@functools.cache
def exported_embedder(precision: Precision) -> OnnxEmbedder:
    """The default model on ONNX Runtime; exported once for all test processes."""
    return OnnxEmbedder(cache=exports(), precision=precision)


def exports() -> Path:
    """Where exported models are kept for the time of the tests."""
    return Path(os.environ["TEST_EXPORTS"])


class FakeProvider:
    """Answers `litellm.embedding` with vectors made from the text alone, last text first."""

    def __init__(self, dim: int = 8) -> None:
        self.dim = dim
        self.requests: list[dict[str, Any]] = []

    def __call__(self, **request: Any) -> SimpleNamespace:
        self.requests.append(request)
        items = [
            {"index": place, "embedding": self.vector(text + str(request.get("input_type", ""))), "object": "embedding"}
            for place, text in enumerate(request["input"])
        ]
        return SimpleNamespace(data=items[::-1])

    def vector(self, text: str) -> list[float]:
        return [byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[: self.dim]]


@contextmanager
def provider(answer: Any) -> Iterator[Any]:
    """Let `answer` stand in for `litellm.embedding`."""
    import litellm

    with mock.patch.object(litellm, "embedding", answer):
        yield answer


EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "hashing": HashingEmbedder,
    "sentence-transformers": default_embedder,
    "cached": lambda: CachedEmbedder(HashingEmbedder(), MemoryVectorCache()),
    "litellm": lambda: LiteLLMEmbedder("fake/model", batch_size=3),
    "onnx": lambda: exported_embedder("fp32"),
    "onnx-int8": lambda: exported_embedder("int8"),
}
