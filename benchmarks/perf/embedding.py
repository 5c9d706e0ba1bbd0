"""The default embedding model by torch and by ONNX Runtime: how soon, how fast, and whether the vectors agree.

    python -m benchmarks.perf.embedding [TEXTS] [--texts 256] [--rounds 5] [--threads 1,2] [--batches 8,32,128] [--json]

- *start*: a fresh process, from its beginning to its first vector; imports and the opening of the model included.
- *query*: one text at a time.
- *texts*: many at once, in batches of texts of like length as the product does it, and in batches as the texts come,
  where the short ones are padded to the longest. int8 takes text by text, because there a vector depends on its batch.
- *agreement* with torch in full precision: the largest difference of any number, the lowest cosine of a text's two
  vectors, and of the ten texts that lie nearest to each, the share that is the same.

In every round all sides are called one after the other. Ratios are those of each round; quartiles stand beside them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.perf import figures
from benchmarks.perf.embedders import NEAREST, START, TORCH, Agreement, Embed, Side, agreement, sides_of
from benchmarks.perf.figures import Ratio, Times, notice
from benchmarks.perf.processes import Processes
from benchmarks.perf.texts import HELP, read_bullets
from cheatsheet.errors import SetupError


@dataclass(frozen=True, slots=True)
class Measured:
    """One thing that a side did.

    Attributes:
        what: `start`, `query` or `texts`.
        threads, batch: that it was allowed; 0 where that does not matter.
        by_length: whether texts of like length went together.
        ms: of one process, one query, or all texts of a round.
        per_s: texts a second, median; 0 for a start.
        torch_over: how many times as long torch took for the same, round by round; None for torch itself.
    """

    side: str
    what: str
    threads: int
    batch: int
    by_length: bool
    ms: Times
    per_s: float
    torch_over: Ratio | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 2 where something given cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.perf.embedding",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", type=Path, nargs="?", metavar="TEXTS", help=HELP)
    parser.add_argument("--texts", type=int, default=256, help="at once (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of starts and of texts (default: %(default)s)")
    parser.add_argument("--queries", type=int, default=100, help="one at a time (default: %(default)s)")
    parser.add_argument("--threads", type=figures.sizes, default=[1, 2], help="(default: 1,2); texts: the last of them")
    parser.add_argument("--batches", type=figures.sizes, default=[8, 32, 128], help="(default: 8,32,128)")
    parser.add_argument("--exports", type=Path, help="folder of exported models, to be kept")
    parser.add_argument("--json", action="store_true", help="print one object")
    options = parser.parse_args(arguments)
    try:
        bullets = read_bullets(options.source).at_least(options.texts)
    except SetupError as error:
        notice(str(error))
        return 2
    with tempfile.TemporaryDirectory() as folder:
        exports = (options.exports or Path(folder) / "exports").absolute()
        sides = sides_of(exports)
        texts = bullets.texts[: options.texts]
        notice("comparing vectors …")
        agreements = [agreement(side, sides[0], texts) for side in sides[1:]]
        measured = [
            *starts(exports, Processes(Path(folder) / "bytecode"), options.rounds),
            *queries(sides, texts, options.queries, options.threads),
            *many(sides, texts, options.rounds, options.threads[-1], options.batches),
        ]
    if options.json:
        figures.print_json({"texts": bullets.told(len(texts)), "measured": measured, "agreement": agreements})
    else:
        print(f"{as_table(measured)}\n\n{agreement_table(agreements)}\n\n{bullets.told(len(texts))}")
    return 0


def starts(exports: Path, run: Processes, rounds: int) -> list[Measured]:
    """From the beginning of a process to its first vector."""
    notice(f"starting {rounds} processes of each side …")
    programs = {name: program.format(exports=str(exports)) for name, program in START.items()}
    calls = {name: partial(_started, run, program) for name, program in programs.items()}
    times = figures.in_turn(calls, rounds, uncounted=1)
    return [_measured(name, "start", times) for name in calls]


def queries(sides: Sequence[Side], texts: Sequence[str], rounds: int, threads: Sequence[int]) -> list[Measured]:
    """One text at a time, with each number of threads."""
    found: list[Measured] = []
    for allowed in threads:
        notice(f"embedding {rounds} queries with {allowed} threads …")
        calls = {side.name: partial(_one, side.embed(allowed, 32), texts) for side in sides}
        times = figures.in_turn(calls, rounds)
        found += [_measured(name, "query", times, threads=allowed, texts=1) for name in calls]
    return found


def many(
    sides: Sequence[Side], texts: Sequence[str], rounds: int, threads: int, batches: Sequence[int]
) -> list[Measured]:
    """All texts at once, for each batch size, with texts of like length together and as they come."""
    found: list[Measured] = []
    for batch in batches:
        for by_length in (True, False):
            notice(
                f"embedding {len(texts)} texts in batches of {batch}, {'by length' if by_length else 'as they come'} …"
            )
            taking = [side for side in sides if side.batched or (batch == batches[0] and by_length)]
            at_once = len(texts) if by_length else batch  # the embedders sort what they are given at once
            calls = {side.name: partial(_all, side.embed(threads, batch), texts, at_once) for side in taking}
            times = figures.in_turn(calls, rounds, uncounted=1)
            for side in taking:
                measured = _measured(side.name, "texts", times, threads=threads, texts=len(texts))
                found.append(replace(measured, batch=batch if side.batched else 1, by_length=by_length))
    return found


def as_table(measured: Sequence[Measured]) -> str:
    """A Markdown table."""
    rows = [
        (one.side, one.what, one.threads or "", one.batch or "", *_told(one), str(one.torch_over or "–"))
        for one in measured
    ]
    titles = ("side", "what", "threads", "batch", "by length", "ms p50", "p90", "texts/s", "torch takes times as long")
    return figures.table(titles, rows)


def agreement_table(agreements: Sequence[Agreement]) -> str:
    """A Markdown table."""
    rows = [
        (one.side, one.n, f"{one.largest_difference:.1e}", f"{one.lowest_cosine:.4f}", f"{one.same_nearest:.3f}")
        for one in agreements
    ]
    titles = ("side", "texts", "largest difference", "lowest cosine", f"same among the nearest {NEAREST}")
    return figures.table(titles, rows)


def _told(one: Measured) -> tuple[str, str, str, str]:
    by_length = {True: "yes", False: "no"}[one.by_length] if one.what == "texts" else ""
    per_s = f"{one.per_s:,.0f}" if one.per_s else ""
    return by_length, figures.number(one.ms.p50), figures.number(one.ms.p90), per_s


def _measured(
    side: str, what: str, times: Mapping[str, Sequence[float]], *, threads: int = 0, texts: int = 0
) -> Measured:
    ms = figures.summary(times[side])
    over = None if side == TORCH else figures.ratio(times[TORCH], times[side])
    return Measured(
        side=side,
        what=what,
        threads=threads,
        batch=0,
        by_length=False,
        ms=ms,
        per_s=figures.rounded(1_000 * texts / ms.p50),
        torch_over=over,
    )


def _started(run: Processes, program: str, _round: int) -> None:
    run([sys.executable, "-c", program])


def _one(embed: Embed, texts: Sequence[str], round: int) -> None:
    embed([texts[round % len(texts)]])


def _all(embed: Embed, texts: Sequence[str], at_once: int, _round: int) -> None:
    for start in range(0, len(texts), at_once):
        embed(texts[start : start + at_once])


if __name__ == "__main__":
    sys.exit(main())
