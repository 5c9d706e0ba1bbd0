"""What the thresholds `grow_threshold` and `similarity_threshold` are worth, with an embedding model.

    python -m benchmarks.calibrate [../shared/data/dc_runs] [--embedder NAME] [--json]

*Growing.* A new bullet may be the same as an old one from a cosine of `grow_threshold` on, and is merged where nothing
tells the two apart. For labelled pairs of advice (`benchmarks.calibration.labelled`) and for pairs of published bullets
(`benchmarks.calibration.published`) each threshold from 0.50 to 0.99 is tried, by the cosine alone and as the product
decides, through `grow`: how many of the merges are right, and how many of the right ones are made.

*Showing.* The mode `retrieval` shows the `top_k` bullets and experiences that lie nearest to the question, down to a
cosine of `similarity_threshold`. Labelled questions, support tickets and the questions of published runs are put to
memories: how many are shown what answers them, and how much else.

Where the folder of published runs is absent, the rest is measured. Every text is embedded once, which takes nearly all
of the time: with the published runs some three minutes of processor time, without them some seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from benchmarks.calibration import merging, showing
from benchmarks.calibration.advice import advise_growing, advise_showing
from benchmarks.calibration.labelled import Lookup, read_lookups, read_pairs
from benchmarks.calibration.merging import Judged
from benchmarks.calibration.merging_tables import merging_tables
from benchmarks.calibration.published import Published, read_published
from benchmarks.calibration.showing import Asked
from benchmarks.calibration.showing_tables import showing_tables
from benchmarks.calibration.tickets import read_ticket_lookups
from cheatsheet.errors import EmbedderUnavailableError, SetupError
from cheatsheet.evaluation.table import show
from cheatsheet.interfaces.embedders import build_embedder
from indexes.cached import CachedEmbedder, MemoryVectorCache
from indexes.embedder import Embedder

RUNS: Final = Path("../shared/data/dc_runs")
EMBEDDED_AT_ONCE: Final = 256


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 2 where something given cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibrate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", help=f"the published runs (default: {RUNS}, where it is)")
    parser.add_argument("--embedder", default="auto", help="as the setting of this name (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one object with every threshold")
    options = parser.parse_args(arguments)
    try:
        judged, asked = measure(_published(options.folder), build_embedder(options.embedder))
    except (SetupError, EmbedderUnavailableError) as error:
        print(error, file=sys.stderr)
        return 2
    write = _print_json if options.json else _print_tables
    write(judged, asked)
    return 0


def measure(published: Published, embedder: Embedder) -> tuple[list[Judged], list[Asked]]:
    """Every pair judged, and every question asked; each text is embedded once."""
    pairs = (*read_pairs(), *published.pairs)
    lookups = (*read_lookups(published.bullets), *read_ticket_lookups(), *published.lookups)
    kept = CachedEmbedder(embedder, MemoryVectorCache(), memory_items=10_000)
    _embed([text for pair in pairs for text in (pair.first, pair.second)], lookups, kept)
    return merging.judge(pairs, kept), [showing.ask(lookup, kept) for lookup in lookups]


def _published(folder: Path | None) -> Published:
    """The runs of a folder that was named, or of the usual one where that is."""
    if folder is None and not RUNS.is_dir():
        _notice(f"There are no published runs in {RUNS}: only what is labelled here is measured.\n")
        return Published()
    return read_published(folder or RUNS)


def _embed(pieces: Sequence[str], lookups: Sequence[Lookup], embedder: Embedder) -> None:
    """Embed all that will be asked for, and tell how far that is."""
    texts = list(dict.fromkeys((*pieces, *(text for lookup in lookups for text in lookup.texts))))
    for start in range(0, len(texts), EMBEDDED_AT_ONCE):
        embedder.embed(texts[start : start + EMBEDDED_AT_ONCE])
        _notice(f"\rembedded {min(start + EMBEDDED_AT_ONCE, len(texts)):,} of {len(texts):,} texts")
    _notice("\n")


def _print_tables(judged: Sequence[Judged], asked: Sequence[Asked]) -> None:
    for title, table in (*merging_tables(judged), *showing_tables(asked)):
        print(f"## {title}\n")
        show(table, sys.stdout)
        print()


def _print_json(judged: Sequence[Judged], asked: Sequence[Asked]) -> None:
    found = {
        "advice": [asdict(advise_growing(judged)), asdict(advise_showing(asked))],
        "pairs": [{"id": each.pair.id, "cosine": each.cosine, "says_same": each.says_same} for each in judged],
        "merges": merging.sweep(judged),
        "shown": showing.sweep(asked),
    }
    print(json.dumps(found, indent=2))


def _notice(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
