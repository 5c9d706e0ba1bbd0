"""What finding among so many vectors costs, with each kind of index, and how much of the truth it finds.

    python -m benchmarks.perf.index [--sizes 1000,10000,100000,1000000] [--rivals] [--even] [--json]

The vectors are mixtures of those of real bullets (`benchmarks.perf.mixture`), the questions are real bullets that are
none of these, and as many mixtures. All kinds of one size are asked in turn within one run: a few questions in a row by
one kind, then the same by the next, one search at a time. The truth is what `exact` finds. Files are opened just after
they were written, so that the system has them at hand. Memory is that of another process, which holds one index and
nothing else. What is known after each size is told on stderr.

Four kinds are the product's; `faiss-rabitq`, and with `--rivals` two more of FAISS, are measured to see whether they
would be better.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import numpy as np

from benchmarks.perf import figures, texts
from benchmarks.perf.index_sides import KINDS, OURS, USUAL, fill
from benchmarks.perf.mixture import Mixture
from cheatsheet.errors import EmbedderUnavailableError, SetupError
from cheatsheet.interfaces.embedders import build_embedder
from indexes.errors import IndexFileError
from indexes.exact import ExactIndex
from indexes.index import Hits
from indexes.vectors import Matrix

SIZES: Final = "1000,10000,100000,1000000"
K: Final = 10
IN_A_ROW: Final = 20
"""Questions that one kind is asked before the next is."""

CHANGED: Final = 100
"""Rows that are taken out one by one, and added again."""

_TITLES: Final = (
    *("rows", "index", "search ms p50 / p99", "recall@10", "build s"),
    *("memory MB (peak)", "file MB", "save / open s", "add / remove ms"),
)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Memory:
    """10^6 bytes of a process that holds one index and nothing else, with Python and its libraries."""

    resident_mb: float
    peak_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What keeping and changing an index costs; milliseconds are the median of single rows."""

    file_mb: float
    save_s: float
    open_s: float
    add_ms: float
    remove_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One kind of index at one size.

    Attributes:
        recall_at_10: share of the true ten nearest that it finds, on average over the questions.
        build_s: seconds until all rows are in and it is at its best; rows come 10,000 at a time. What is made in the
            background may be made while the next ones are mixed, which is not counted.
        memory: None where it was not asked for, or the system does not tell.
        kept: None for what can be filled and searched only, or where there is no room on the disk.
    """

    rows: int
    kind: str
    search_ms: figures.Times
    recall_at_10: float
    build_s: float
    memory: Memory | None
    kept: Kept | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 2 where something given cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        kinds = _chosen(options.kinds, rivals=options.rivals)
        real = _embedded(options.texts, options.embedder, options.real + options.questions)
    except (SetupError, EmbedderUnavailableError) as error:
        print(error, file=sys.stderr)
        return 2
    mixture = Mixture(real[options.questions :], "even" if options.even else "texts")
    questions = _questions(real[: options.questions], mixture)
    found: list[Measured] = []
    for size in options.sizes:
        found += measure(size, kinds, mixture, questions, memory=options.memory)
        figures.notice(as_table(found))
    figures.show(found, as_table, as_json=options.json)
    return 0


def measure(size: int, kinds: Sequence[str], mixture: Mixture, questions: Matrix, *, memory: bool) -> list[Measured]:
    """All kinds at one size."""
    indexes, build_s = {}, {}
    for kind in kinds:
        figures.notice(f"{size:,} rows: filling {kind} …")
        indexes[kind], build_s[kind] = fill(kind, mixture, size)
    figures.notice(f"{size:,} rows: {len(questions)} questions to each …")
    hits, times = _asked(indexes, questions)
    measured = []
    for kind in kinds:
        figures.notice(f"{size:,} rows: keeping {kind} …")
        index = indexes.pop(kind)
        measured.append(
            Measured(
                rows=size,
                kind=kind,
                search_ms=figures.summary(times[kind]),
                recall_at_10=round(_recall(hits[kind], hits[ExactIndex.kind]), 4),
                build_s=figures.rounded(build_s[kind]),
                memory=_memory(kind, size, mixture) if memory else None,
                kept=_kept(index, mixture) if KINDS[kind] in OURS else None,
            )
        )
    return measured


def as_table(found: Sequence[Measured]) -> str:
    """A Markdown table."""
    return figures.table(_TITLES, [_row(each) for each in found])


def _row(one: Measured) -> list[str]:
    number, kept, memory = figures.number, one.kept, one.memory
    return [
        f"{one.rows:,}",
        one.kind,
        f"{number(one.search_ms.p50)} / {number(one.search_ms.p99)}",
        f"{one.recall_at_10:.4f}",
        number(one.build_s),
        f"{number(memory.resident_mb)} ({number(memory.peak_mb)})" if memory else "–",
        number(kept.file_mb) if kept else "–",
        f"{number(kept.save_s)} / {number(kept.open_s)}" if kept else "–",
        f"{number(kept.add_ms)} / {number(kept.remove_ms)}" if kept else "–",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.perf.index",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=figures.sizes, default=SIZES, help="numbers of rows (default: %(default)s)")
    parser.add_argument("--kinds", help=f"only these, separated by commas, besides 'exact': {', '.join(KINDS)}")
    parser.add_argument("--rivals", action="store_true", help="all kinds; HNSW takes hours at a million")
    parser.add_argument("--even", action="store_true", help="rows in no order at all, the hardest there are")
    parser.add_argument(
        "--questions", type=int, default=200, help="of real texts, and as many mixed (default: %(default)s)"
    )
    parser.add_argument("--real", type=int, default=2_000, help="real texts that are mixed (default: %(default)s)")
    parser.add_argument("--texts", type=Path, help=texts.HELP)
    parser.add_argument("--embedder", default="auto", help="as the setting of this name (default: %(default)s)")
    parser.add_argument("--no-memory", dest="memory", action="store_false", help="do not measure it, which fills anew")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    return parser


def _chosen(kinds: str | None, *, rivals: bool) -> list[str]:
    """The kinds to measure, the judge first.

    Raises:
        SetupError: one of them does not exist.
    """
    named = kinds.split(",") if kinds else KINDS if rivals else USUAL
    unknown = [kind for kind in named if kind not in KINDS]
    if unknown:
        raise SetupError(f"Unknown kind {unknown[0]!r}. Choose of {', '.join(KINDS)}.")
    return list(dict.fromkeys([ExactIndex.kind, *named]))


def _questions(apart: Matrix, mixture: Mixture) -> Matrix:
    """The vectors of texts of which nothing is mixed, where texts are searched, and as many others like the rows."""
    others = list(mixture.batches(len(apart), seed=1))
    return np.concatenate([apart, *others] if mixture.shape == "texts" else others)


def _embedded(path: Path | None, embedder: str, wanted: int) -> Matrix:
    """The vectors of so many real texts, each once; of fewer where there are not as many."""
    some = texts.read_bullets(path).texts[:wanted]
    figures.notice(f"embedding {len(some):,} texts …")
    return build_embedder(embedder).embed(some, "document")


def _asked(
    indexes: Mapping[str, ExactIndex], questions: Matrix
) -> tuple[dict[str, list[Hits]], dict[str, list[float]]]:
    """What each index answers, and in how many milliseconds; the first questions of each turn are not counted."""
    hits: dict[str, list[Hits]] = {kind: [] for kind in indexes}
    times: dict[str, list[float]] = {kind: [] for kind in indexes}
    for start in range(0, len(questions), IN_A_ROW):
        for kind, index in indexes.items():
            for question in questions[start - figures.UNCOUNTED : start] if start else questions[-figures.UNCOUNTED :]:
                index.search(question, K)
            for question in questions[start : start + IN_A_ROW]:
                started = time.perf_counter()
                hits[kind].append(index.search(question, K))
                times[kind].append(1_000 * (time.perf_counter() - started))
    return hits, times


def _recall(found: Sequence[Hits], truth: Sequence[Hits]) -> float:
    shares = [np.isin(true.ids, got.ids).mean() for got, true in zip(found, truth, strict=True)]
    return float(np.mean(shares))


def _kept(index: ExactIndex, mixture: Mixture) -> Kept | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        try:
            _, save_s = _seconds(partial(index.save, path))
        except IndexFileError as error:
            figures.notice(str(error))
            return None
        add_ms, remove_ms = _changed(index, next(mixture.batches(CHANGED, seed=2)))
        index.close()
        _, open_s = _seconds(partial(type(index).load, path))
        file_mb = figures.rounded(path.stat().st_size / 1e6)
    return Kept(file_mb=file_mb, save_s=save_s, open_s=open_s, add_ms=add_ms, remove_ms=remove_ms)


def _changed(index: ExactIndex, rows: Matrix) -> tuple[float, float]:
    """Median milliseconds to add a row, and to remove one from the middle."""
    count = len(index)
    adds = [figures.timed(partial(index.add, [count + place], row[None])) for place, row in enumerate(rows)]
    removes = [figures.timed(partial(index.remove, [count // 2 + place])) for place in range(min(CHANGED, count // 2))]
    return figures.summary(adds).p50, figures.summary(removes).p50


def _memory(kind: str, size: int, mixture: Mixture) -> Memory | None:
    dim = str(mixture.real.shape[1])
    command = [sys.executable, "-m", "benchmarks.perf.index_memory", kind, str(size), dim, mixture.shape]
    done = subprocess.run(command, input=mixture.real.tobytes(), stdout=subprocess.PIPE, check=False)
    if done.returncode:  # there may be no memory for it, beside what this process holds
        figures.notice(f"The process that holds {kind} alone ended with {done.returncode}.")
        return None
    found = json.loads(done.stdout)
    return Memory(**{name: figures.rounded(value) for name, value in found.items()}) if found else None


def _seconds(call: Callable[[], Result]) -> tuple[Result, float]:
    started = time.perf_counter()
    result = call()
    return result, figures.rounded(time.perf_counter() - started)


if __name__ == "__main__":
    sys.exit(main())
