"""The engine's own time for `recall` and `learn`, without a model, at growing sizes of the memory.

    python -m benchmarks.perf.overhead [--sizes 100,1000,10000,100000] [--json]

The memory lies in a file, every `learn` stores one new bullet and one experience and waits for the disk. Embedding is
measured apart, with the real embedder: in the memory, texts get random unit vectors of the same dimension, so that
filling it does not take hours. What is timed is all that an agent waits for besides its model and the embedding.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path

import numpy as np

from benchmarks.perf import figures
from benchmarks.perf.figures import notice
from cheatsheet.engine.engine import Engine
from cheatsheet.interfaces.embedders import build_embedder
from cheatsheet.interfaces.wiring import Given, build_engine
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.settings import load_settings
from indexes.cached import CachedEmbedder
from indexes.embedder import Embedder, TextKind
from indexes.vectors import Matrix, normalise

DIM = 384  # of all-MiniLM-L6-v2
WORDS_A_BULLET = 26  # mean of the bullets in the published Dynamic Cheatsheet runs
SIZES = (100, 1_000, 10_000, 100_000)
FILL_AT_ONCE = 5_000
UNCOUNTED = 5
_VOCABULARY = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("a", "el", "im", "on", "ur", "est", "ing")]


@dataclass(frozen=True, slots=True)
class Overhead:
    """Times at one size, in milliseconds."""

    bullets: int
    recall_ms_p50: float
    recall_ms_p99: float
    learn_ms_p50: float
    learn_ms_p99: float
    embed_ms_p50: float


class RandomEmbedder:
    """A random unit vector for every text, the same each time: takes next to no time, and says nothing."""

    model_id = "random"
    dim = DIM
    symmetric = True

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        rows = np.empty((len(texts), DIM), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
            row[:] = np.random.default_rng(seed).standard_normal(DIM, dtype=np.float32)
        return normalise(rows) if len(texts) else rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=figures.sizes, default=SIZES, help="numbers of bullets, separated by commas")
    parser.add_argument("--repeat", type=int, default=300, help="recalls and learns at each size")
    parser.add_argument("--embedder", default="auto", help="whose time is measured apart")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    embed_ms = measure_embedding(build_embedder(options.embedder), options.repeat)
    results = [_measure_with_notice(size, options.repeat, embed_ms) for size in options.sizes]
    figures.show(results, as_table, as_json=options.json)


def measure(bullets: int, repeat: int, embed_ms: float) -> Overhead:
    """Fill a memory with so many bullets, then time recalls and learns."""
    rng = np.random.default_rng(bullets)
    with tempfile.TemporaryDirectory() as folder, _memory(Path(folder) / "memory.db", bullets, rng) as engine:
        recall_ms = _times(lambda text: engine.recall(text), repeat, rng)
        learn_ms = _times(lambda text: engine.learn(text, "an answer", feedback=f"wrong: {text}"), repeat, rng)
        grown = engine.stats().bullets - bullets
    if grown < repeat:
        raise AssertionError(f"Only {grown} of {repeat} lessons became bullets: this would measure something else.")
    recalls, learns = figures.summary(recall_ms), figures.summary(learn_ms)
    return Overhead(bullets, recalls.p50, recalls.p99, learns.p50, learns.p99, embed_ms)


def measure_embedding(embedder: Embedder, repeat: int) -> float:
    """Milliseconds for the embedding of one query, median."""
    rng = np.random.default_rng(0)
    return figures.summary(_times(lambda text: embedder.embed([text], "query"), repeat, rng)).p50


def as_table(results: Sequence[Overhead]) -> str:
    """A Markdown table."""
    titles = ("bullets", "recall ms p50 / p99", "learn ms p50 / p99", "embedding one query, ms p50")
    rows = [
        (
            f"{r.bullets:,}",
            f"{r.recall_ms_p50:.2f} / {r.recall_ms_p99:.2f}",
            f"{r.learn_ms_p50:.2f} / {r.learn_ms_p99:.2f}",
            f"{r.embed_ms_p50:.1f}",
        )
        for r in results
    ]
    return figures.table(titles, rows)


def _measure_with_notice(size: int, repeat: int, embed_ms: float) -> Overhead:
    notice(f"measuring {size:,} bullets …")
    return measure(size, repeat, embed_ms)


@contextmanager
def _memory(path: Path, bullets: int, rng: np.random.Generator) -> Iterator[Engine]:
    store = SqliteStore(path)
    embedder = CachedEmbedder(RandomEmbedder(), store)
    for start in range(0, bullets, FILL_AT_ONCE):
        texts = [random_text(rng) for _ in range(min(FILL_AT_ONCE, bullets - start))]
        embedder.embed(texts, "document")
        adds = tuple(Add(draft=Draft(content=text)) for text in texts)
        store.commit("default", Change(at=datetime.now(UTC), cause="import", operations=adds))
    store.close()
    settings = load_settings(path=str(path), mode="retrieval", counter="chars")
    with build_engine(settings, Given(embedder=RandomEmbedder())) as engine:
        engine.recall("so that the index is built before anything is timed")
        yield engine


def _times(call: Callable[[str], object], repeat: int, rng: np.random.Generator) -> list[float]:
    """Milliseconds of each call, after a few that do not count."""
    texts = [random_text(rng) for _ in range(UNCOUNTED + repeat)]
    return [figures.timed(partial(call, text)) for text in texts][UNCOUNTED:]


def random_text(rng: np.random.Generator, words: int = WORDS_A_BULLET) -> str:
    """Words that say nothing, so many as a bullet has."""
    return " ".join(rng.choice(_VOCABULARY, size=words))


if __name__ == "__main__":
    main()
