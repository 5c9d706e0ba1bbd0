"""A small memory for tests of what works on it."""

from __future__ import annotations

from datetime import UTC, datetime

from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.likeness.grow import Grown, grow
from cheatsheet.memory.operations import Add, Draft, Operation
from cheatsheet.memory.search.exact import exact_retriever
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store_view import StoreView
from indexes.cached import CachedEmbedder
from indexes.hashing import HashingEmbedder
from indexes.vectors import Matrix

NOW = datetime(2026, 1, 5, tzinfo=UTC)


class AllAlike(HashingEmbedder):
    """Every text is as near as can be to every other, so that only the words can tell them apart."""

    def embed(self, texts: object, kind: object = "document") -> Matrix:
        rows = super().embed([str(text) for text in texts], "document")  # type: ignore[attr-defined]  # a sequence
        rows[:] = 0
        rows[:, 0] = 1
        return rows


class Memory:
    """A store, its view and an embedder."""

    def __init__(self, embedder: HashingEmbedder) -> None:
        self.store = SqliteStore(":memory:")
        self.embedder = CachedEmbedder(embedder, self.store)
        self.retriever = exact_retriever(self.store, self.embedder, namespace="default")
        self.view = StoreView(self.store, self.retriever, namespace="default")

    def commit(self, *operations: Operation) -> None:
        self.store.commit("default", Change(at=NOW, cause="user", operations=operations))

    def grow(self, *operations: Operation, threshold: float = 0.9) -> Grown:
        return grow(operations, self.view, self.embedder, threshold=threshold)


def add(content: str, **more: object) -> Add:
    return Add(draft=Draft.model_validate({"content": content} | more))
