"""What one step costs, ours and that of others, on the same bullets, in one process and run.

    python -m benchmarks.perf.peers [TEXTS] [--sizes 100,1000,10000] [--rounds 3] [--json] [--chart FILE.svg]

A step is what a side does when a question comes and a bullet is learnt from it; `benchmarks/perf/rivals/` says for each
what that is. All have the same embedder, and the same vectors of the bullets that they are filled with. In every round
all take their steps one after the other (of a short one several, whose median counts), every other round backwards; a
ratio is that of each round, with its quartiles. No language model is asked by any side. What is known after each size
is told on stderr; where a side of others fails, the rest goes on.

`ace-framework` and `mem0ai` are measured where they are installed. They bring much that a memory does not need, so give
them an environment of their own:

    python -m venv peers && peers/bin/pip install '.[onnx,report]' ace-framework mem0ai
    peers/bin/python -m benchmarks.perf.peers

What is marked ≈ was measured in part and reckoned from that: passes over more than `--embed-at-most` bullets, and the
pairs of more than `--compare-at-most` skills.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.perf import figures
from benchmarks.perf.costs import Cost, Found, costs_at, growth_of, middle
from benchmarks.perf.figures import notice
from benchmarks.perf.peers_chart import check_chart, write_chart
from benchmarks.perf.peers_tables import as_text
from benchmarks.perf.rivals.full_history import FullHistory
from benchmarks.perf.rivals.mem0_store import Mem0
from benchmarks.perf.rivals.ours import Ours
from benchmarks.perf.rivals.reembedding import ReEmbedding
from benchmarks.perf.rivals.rival import MOST_STEPS, Maker, Rival, Took
from benchmarks.perf.rivals.skillbook import SkillbookDetector
from benchmarks.perf.texts import HELP, Bullets, read_bullets
from cheatsheet.errors import EmbedderUnavailableError, MissingExtraError, SetupError
from cheatsheet.interfaces.embedders import embedder_of
from cheatsheet.settings import load_settings
from indexes.embedder import Embedder
from indexes.errors import first_line

SIZES = [100, 1_000, 10_000]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 2 where something given cannot be used."""
    options = _parser().parse_args(arguments)
    makers: list[Maker] = [
        Ours,
        FullHistory,
        partial(ReEmbedding, most=options.embed_at_most),
        partial(SkillbookDetector, most=options.compare_at_most),
        Mem0,
    ]
    try:
        if options.chart:
            check_chart(options.chart)
        embedder = _embedder(options.embedder)
        found = measure(read_bullets(options.texts), embedder, makers, sizes=options.sizes, rounds=options.rounds)
    except (SetupError, EmbedderUnavailableError) as error:
        notice(str(error))
        return 2
    if options.json:
        figures.print_json(found)
    else:
        print(as_text(found), flush=True)
    if options.chart:
        write_chart(found, options.chart)
    return 0


def measure(
    bullets: Bullets, embedder: Embedder, makers: Sequence[Maker], *, sizes: Sequence[int], rounds: int
) -> Found:
    """Every side at every size; ours is among them."""
    fresh = 2 * MOST_STEPS * (rounds + 1)
    pool = bullets.at_least(max(sizes) + fresh)
    texts, kept = pool.texts[:fresh], pool.texts[fresh : fresh + max(sizes)]
    steps = list(zip(texts[::2], texts[1::2], strict=True))
    notice(f"embedding {len(kept):,} bullets …")
    vectors = embedder.embed(kept)
    costs: list[Cost] = []
    missing: dict[str, None] = {}
    for size in sizes:
        trying = _Trying(size, missing)
        with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
            notice(f"{size:,} bullets: filling …")
            sides = list(_made(makers, embedder, Path(folder), opened, missing))
            for side in sides:
                trying(side, partial(side.fill, kept[:size], vectors[:size]))
            taken = _in_turn(sides, steps, rounds, trying)
        costs += costs_at(size, [side for side in sides if side.name not in trying.failed], taken)
        found = Found(
            embedder=embedder.model_id,
            texts=pool.told(fresh + len(kept)),
            costs=tuple(costs),
            growth=growth_of(costs),
            missing=tuple(missing),
        )
        notice(as_text(found))
    return found


class _Trying:
    """Calls sides, and none again that has failed: what others raise is not to end what took minutes."""

    def __init__(self, size: int, missing: dict[str, None]) -> None:
        self.failed: set[str] = set()
        self._size = size
        self._missing = missing

    def __call__(self, side: Rival, call: Callable[[], object]) -> None:
        if side.name in self.failed:
            return
        try:
            call()
        except Exception as error:
            if side.name == Ours.name:
                raise
            self.failed.add(side.name)
            self._missing[f"{side.name} failed with {self._size:,} bullets: {first_line(error)}"] = None


def _made(
    makers: Sequence[Maker], embedder: Embedder, folder: Path, opened: ExitStack, missing: dict[str, None]
) -> Iterator[Rival]:
    """The sides that are installed, each with a folder of its own; what is not is noted."""
    for place, make in enumerate(makers):
        own = folder / str(place)
        own.mkdir()
        try:
            side = make(embedder, own)
        except MissingExtraError as error:
            missing[str(error)] = None
            continue
        opened.callback(side.close)
        yield side


def _in_turn(
    sides: Sequence[Rival], steps: Sequence[tuple[str, str]], rounds: int, trying: _Trying
) -> dict[str, list[Took]]:
    """What every side took in every round; a first round, of the short ones only, does not count."""
    taken: dict[str, list[Took]] = {side.name: [] for side in sides}
    for place in range(rounds + 1):
        notice(f"  round {place} of {rounds} …")
        for side in sides[:: 1 if place % 2 else -1]:
            if place or side.steps > 1:
                own = steps[MOST_STEPS * place :][: side.steps]
                trying(side, partial(_take, side, own, taken[side.name]))
    return {name: each[-rounds:] for name, each in taken.items()}


def _take(side: Rival, steps: Sequence[tuple[str, str]], taken: list[Took]) -> None:
    taken.append(middle([side.step(question, bullet) for question, bullet in steps]))


def _embedder(name: str) -> Embedder:
    """As the setting names it, on ONNX Runtime where the model was exported."""
    return embedder_of(load_settings(embedder=name))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.perf.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("texts", type=Path, nargs="?", help=HELP)
    parser.add_argument("--sizes", type=figures.sizes, default=SIZES, help="numbers of bullets, separated by commas")
    parser.add_argument("--rounds", type=int, default=3, help="at each size (default: %(default)s)")
    parser.add_argument("--embedder", default="auto", help="as the setting of this name (default: %(default)s)")
    parser.add_argument("--embed-at-most", type=int, default=10_000, help="bullets of a pass (default: %(default)s)")
    parser.add_argument("--compare-at-most", type=int, default=1_000, help="skills in pairs (default: %(default)s)")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw it into this .svg or .png file")
    parser.add_argument("--json", action="store_true", help="print one object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
