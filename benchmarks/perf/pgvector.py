"""What searching on a PostgreSQL server costs, by a scan and by an HNSW index, and how much of the truth it finds.

    python -m benchmarks.perf.pgvector [--sizes 10000,30000,100000] [--dim 384] [--json]

A server is started for it (`benchmarks.perf.postgres_server`). Vectors lie around centres, 50 around each, at cosines
of about 0.8 to one another; questions are vectors near some of them. The same memory is searched with and without an
index, in turn within one run; the truth is what comparing with every vector finds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.perf import figures
from benchmarks.perf.figures import notice, rounded
from benchmarks.perf.postgres_server import PostgresServer
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft
from indexes.embedder import TextKind
from indexes.exact import ExactIndex
from indexes.vectors import Matrix, normalise

if TYPE_CHECKING:
    from cheatsheet.memory.postgres.postgres_neighbours import PostgresNeighbours
    from cheatsheet.memory.postgres.postgres_store import PostgresStore

SIZES: Final = (10_000, 30_000, 100_000)
QUESTIONS: Final = 100
K: Final = 10
FILL_AT_ONCE: Final = 5_000
_TITLES: Final = (
    "rows",
    "scan ms p50 / p99",
    "index ms p50 / p99",
    "scan / index",
    "recall@10",
    "ef_search",
    "build s",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Searches at one size.

    Attributes:
        ef_search: candidates that a search in the index keeps, as was found when it was built; 0 where it finds too
            little, and the rows are scanned.
        build_s: of the index, and of finding that out.
    """

    rows: int
    dim: int
    scan_ms: figures.Times
    index_ms: figures.Times
    scan_over_index: figures.Ratio
    recall_at_10: float
    ef_search: int
    build_s: float


class Given:
    """An embedder of texts that are the numbers of given rows."""

    symmetric = True

    def __init__(self, rows: Matrix, model_id: str = "given") -> None:
        self.rows = rows
        self.dim = rows.shape[1]
        self.model_id = model_id

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        return self.rows[[int(text) for text in texts]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=figures.sizes, default=SIZES, help="numbers of bullets, separated by commas")
    parser.add_argument("--dim", type=int, default=384, help="length of the vectors")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    with PostgresServer() as server:
        found = [measure(f"{server.url}&schema=rows_{size}", size, options.dim) for size in options.sizes]
    figures.show(found, as_table, as_json=options.json)


def measure(url: str, size: int, dim: int) -> Measured:
    """Fill an empty memory, and search it in both ways in turn."""
    from cheatsheet.memory.postgres.postgres_neighbours import PostgresNeighbours
    from cheatsheet.memory.postgres.postgres_store import PostgresStore

    notice(f"{size:,} vectors …")
    rows, questions = clustered(size, dim), near(clustered(size, dim), QUESTIONS)
    with closing(PostgresStore(url)) as store:
        for space in ("scanned", "indexed"):
            fill(store, range(size), space)
        scanned = PostgresNeighbours(store, Given(rows), namespace="scanned", index_from=size + 1)
        indexed = PostgresNeighbours(store, Given(rows), namespace="indexed", index_from=0)
        with closing(scanned), closing(indexed):
            scanned.settle()
            started = time.perf_counter()
            indexed.settle()
            build_s = time.perf_counter() - started
            sides = {
                "scan": lambda place: scanned.bullets(questions[place % len(questions)], K),
                "index": lambda place: indexed.bullets(questions[place % len(questions)], K),
            }
            times = figures.in_turn(sides, len(questions))
            return Measured(
                rows=size,
                dim=dim,
                scan_ms=figures.summary(times["scan"]),
                index_ms=figures.summary(times["index"]),
                scan_over_index=figures.ratio(times["scan"], times["index"]),
                recall_at_10=rounded(recall(indexed, rows, questions)),
                ef_search=indexed.ef_search("bullets"),
                build_s=rounded(build_s),
            )


def clustered(n: int, dim: int) -> Matrix:
    """Unit rows `[n, dim]` around one centre for each 50 of them; the same each time."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((max(1, n // 50), dim))
    return normalise(centres[random.integers(0, len(centres), n)] + 0.5 * random.standard_normal((n, dim)))


def near(rows: Matrix, n: int) -> Matrix:
    """`n` unit rows, each near one of `rows`."""
    random = np.random.default_rng(1)
    chosen = rows[random.integers(0, len(rows), n)]
    return normalise(chosen + 0.3 * random.standard_normal(chosen.shape) / np.sqrt(chosen.shape[1]))


def fill(store: PostgresStore, numbers: range, namespace: str = "default") -> None:
    """Store bullets whose contents are these numbers, as `Given` embeds them."""
    at = datetime(2026, 1, 5, tzinfo=UTC)
    for start in range(0, len(numbers), FILL_AT_ONCE):
        adds = tuple(Add(draft=Draft(content=str(number))) for number in numbers[start : start + FILL_AT_ONCE])
        store.commit(namespace, Change(at=at, cause="import", operations=adds))


def recall(neighbours: PostgresNeighbours, rows: Matrix, questions: Matrix) -> float:
    """The share of the true nearest ten that is found; bullet `n + 1` has row `n`."""
    exact = ExactIndex(rows.shape[1])
    exact.add(list(range(1, len(rows) + 1)), rows)
    shares = []
    for question in questions:
        truth = set(exact.search(question, K).ids.tolist())
        shares.append(len(truth & set(neighbours.bullets(question, K).ids.tolist())) / len(truth))
    return float(np.mean(shares))


def as_table(found: Sequence[Measured]) -> str:
    """For people."""
    rows = [
        (
            f"{one.rows:,}",
            f"{figures.number(one.scan_ms.p50)} / {figures.number(one.scan_ms.p99)}",
            f"{figures.number(one.index_ms.p50)} / {figures.number(one.index_ms.p99)}",
            one.scan_over_index,
            f"{one.recall_at_10:.3f}",
            one.ef_search,
            figures.number(one.build_s),
        )
        for one in found
    ]
    return figures.table(_TITLES, rows, f"Dimension {found[0].dim if found else 0}; scan / index: quartiles.")


if __name__ == "__main__":
    main()
