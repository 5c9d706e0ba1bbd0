"""A retriever without any library for its index: for small memories, benchmarks and tests."""

from __future__ import annotations

from cheatsheet.memory.search.local import LocalNeighbours
from cheatsheet.memory.search.retriever import Retriever
from cheatsheet.memory.store import MemoryStore
from indexes.embedder import Embedder
from indexes.exact import ExactIndex


def exact_retriever(store: MemoryStore, embedder: Embedder, *, namespace: str) -> Retriever:
    """A retriever that compares a query with every vector."""
    neighbours = LocalNeighbours(store, embedder, namespace=namespace, make_index=ExactIndex)
    return Retriever(store, embedder, namespace=namespace, neighbours=neighbours)
