"""Our own step: recall for the question, learn the bullet, and wait for the disk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.perf.rivals.rival import Took, clock_ms
from cheatsheet.engine.engine import Engine
from cheatsheet.events import CommitEvent, Event
from cheatsheet.interfaces.stores import open_store
from cheatsheet.interfaces.wiring import Given, build_engine
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.store import DEFAULT_NAMESPACE
from cheatsheet.settings import load_settings
from indexes.cached import CachedEmbedder
from indexes.embedder import Embedder, TextKind
from indexes.vectors import Matrix

RECALL: Final = "recall"
AT_ONCE: Final = 5_000


class Ours:
    """A memory in a file, with the settings that it has when nothing is set."""

    name = "ours"
    what = "embed question and bullet, search, compile the context, grow, guard, commit durably"
    steps = 10

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = _Timed(embedder)
        self._settings = load_settings(path=str(folder / "memory.db"), mode="retrieval")
        self._commit_ms = 0.0
        self._engine: Engine | None = None

    def fill(self, bullets: Sequence[str], vectors: Matrix) -> None:
        store = open_store(self._settings)
        known = CachedEmbedder(_Known(self._embedder, bullets, vectors), store)
        for start in range(0, len(bullets), AT_ONCE):
            texts = bullets[start : start + AT_ONCE]
            known.embed(texts, "document")
            adds = tuple(Add(draft=Draft(content=text)) for text in texts)
            store.commit(DEFAULT_NAMESPACE, Change(at=datetime.now(UTC), cause="import", operations=adds))
        store.close()
        self._engine = build_engine(self._settings, Given(embedder=self._embedder))
        self._engine.events.listeners.append(self._listen)
        self._engine.recall("so that the index is there before anything is timed")

    def step(self, question: str, bullet: str) -> Took:
        assert self._engine is not None, "fill comes first"
        self._embedder.ms = self._commit_ms = 0.0
        begun = clock_ms()
        recalled = self._engine.recall(question)
        asked, recall_embedding_ms = clock_ms(), self._embedder.ms
        lesson = self._engine.learn(recalled, "an answer", feedback=f"wrong: {bullet}")
        ended = clock_ms()
        if not lesson.operations:
            raise AssertionError(f"Nothing was learnt from {bullet!r}: this would measure something else.")
        learn_ms = ended - asked
        learn_embedding_ms = self._embedder.ms - recall_embedding_ms
        parts = {
            RECALL: asked - begun,
            "embedding the question": recall_embedding_ms,
            "learn": learn_ms,
            "embedding the bullet": learn_embedding_ms,
            "commit": self._commit_ms,
        }
        return Took(ended - begun, parts=parts)

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()

    def _listen(self, event: Event) -> None:
        if isinstance(event, CommitEvent):
            self._commit_ms += 1_000 * event.seconds


class _Timed:
    """An embedder that adds up how long it takes."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.model_id, self.dim, self.symmetric = inner.model_id, inner.dim, inner.symmetric
        self.ms = 0.0

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        begun = clock_ms()
        rows = self._inner.embed(texts, kind)
        self.ms += clock_ms() - begun
        return rows


class _Known:
    """An embedder whose vectors of certain texts were made before."""

    def __init__(self, inner: Embedder, texts: Sequence[str], vectors: Matrix) -> None:
        self.model_id, self.dim, self.symmetric = inner.model_id, inner.dim, inner.symmetric
        self._vectors = vectors
        self._places = {text: place for place, text in enumerate(texts)}

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        return self._vectors[[self._places[text] for text in texts]]
