"""A memory that is searched, and the oracle that says what has to be found."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cheatsheet.memory.bullet import number_of
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.history.journal import Change, Committed
from cheatsheet.memory.operations import Add, Draft, Operation
from cheatsheet.memory.search.index_file import IndexFolder
from cheatsheet.memory.search.local import LocalNeighbours
from cheatsheet.memory.search.neighbours import IndexKind, Progress
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store import MemoryStore
from indexes.cached import CachedEmbedder
from indexes.embedder import TextKind
from indexes.exact import ExactIndex
from indexes.hashing import HashingEmbedder
from indexes.index import Hits
from indexes.vectors import Matrix, Vector

NOW = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)
DIM = 24
Pairs = list[tuple[int, float]]


class OtherModel(HashingEmbedder):
    """Vectors of the same length and of another meaning."""

    model_id = "other"

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        return super().embed([text[::-1] for text in texts], kind)[:, ::-1].copy()


class GatedEmbedder(HashingEmbedder):
    """In one thread, embedding a text with `slow` in it waits until the gate is opened: a model call in flight."""

    def __init__(self) -> None:
        super().__init__(DIM)
        self.entered = threading.Event()
        self.gate = threading.Event()
        self._held: int | None = None

    def hold(self) -> None:
        """From now on the calling thread waits."""
        self._held = threading.get_ident()

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        if threading.get_ident() == self._held and any("slow" in text for text in texts):
            self.entered.set()
            assert self.gate.wait(60)
        return super().embed(texts, kind)


class World:
    """A store with what finds in it."""

    def __init__(
        self,
        path: Path | str = ":memory:",
        *,
        embedder: HashingEmbedder | None = None,
        namespace: str = "default",
        make_index: IndexKind = ExactIndex,
        keep: bool = False,
        store: MemoryStore | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.namespace = namespace
        self.store = store or SqliteStore(path)
        self.embedder = CachedEmbedder(embedder or HashingEmbedder(DIM), self.store)
        self.neighbours = LocalNeighbours(
            self.store,
            self.embedder,
            namespace=namespace,
            make_index=make_index,
            folder=IndexFolder(Path(f"{path}.index")) if keep else None,
            progress=progress,
        )

    def commit(self, *operations: Operation, **more: object) -> Committed:
        values: dict[str, object] = {"at": NOW, "cause": "user", "operations": operations} | more
        return self.store.commit(self.namespace, Change.model_validate(values))

    def learn(self, *contents: str, queries: Sequence[str] = ()) -> None:
        lived = tuple(Experience(query=query, answer="an answer", created_at=NOW) for query in queries)
        self.commit(*map(add, contents), experiences=lived)

    def vector(self, text: str) -> Vector:
        row: Vector = self.embedder.embed([text], "query")[0]
        return row

    def bullets(self, text: str, k: int = 100) -> Pairs:
        return pairs(self.neighbours.bullets(self.vector(text), k))

    def experiences(self, text: str, k: int = 100) -> Pairs:
        return pairs(self.neighbours.experiences(self.vector(text), k))

    def right_bullets(self, text: str) -> Pairs:
        """What an index made from the store just now gives."""
        found = self.store.bullets(self.namespace)
        return self._right({number_of(bullet.id) or 0: bullet.content for bullet in found}, text)

    def right_experiences(self, text: str) -> Pairs:
        found = self.store.experiences(self.namespace)
        return self._right({number_of(lived.id) or 0: lived.query for lived in found}, text)

    def check(self, *texts: str) -> None:
        for text in texts:
            assert self.bullets(text) == self.right_bullets(text)
            assert self.experiences(text) == self.right_experiences(text)

    def close(self) -> None:
        self.neighbours.close()
        self.store.close()

    def _right(self, texts: dict[int, str], text: str) -> Pairs:
        index = ExactIndex(self.embedder.dim)
        index.add(list(texts), self.embedder.embed(list(texts.values())))
        return pairs(index.search(self.vector(text), 100))


def add(content: str) -> Add:
    return Add(draft=Draft(content=content))


def pairs(hits: Hits) -> Pairs:
    return list(zip(hits.ids.tolist(), hits.scores.tolist(), strict=True))


def numbers(found: Pairs) -> list[int]:
    return [number for number, _ in found]
