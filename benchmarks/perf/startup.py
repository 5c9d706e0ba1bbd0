"""From a command typed to its answer: fresh processes, with the embedding model exported and the memory filled.

    python -m benchmarks.perf.startup [TEXTS] [--bullets 400] [--rounds 20] [--home FOLDER] [--json]

In every round each command is run once, one after the other, so that what else the machine does meets all alike. The
bare interpreter stands beside them: it is what no command can do without. `recall` is asked for one of the bullets,
and must answer with it. Without `--home` a new one is made and warmed, which takes up to a minute.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.perf import figures
from benchmarks.perf.figures import notice
from benchmarks.perf.processes import COMMAND, Ended, Processes
from benchmarks.perf.texts import HELP, read_bullets
from cheatsheet.errors import SetupError
from cheatsheet.interfaces.embedders import embedder_of
from cheatsheet.interfaces.stores import open_store
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.store import DEFAULT_NAMESPACE
from cheatsheet.settings import Settings, load_settings
from indexes.cached import CachedEmbedder

BARE: Final = "python -c pass"
RECALL: Final = "recall"


@dataclass(frozen=True, slots=True)
class Startup:
    """What one command took, in seconds.

    Attributes:
        cpu_s_p50: of the processor; less than the wall where it waited, more where threads worked side by side.
    """

    command: str
    n: int
    wall_s_p50: float
    wall_s_p90: float
    cpu_s_p50: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 2 where something given cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.perf.startup",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("texts", type=Path, nargs="?", help=HELP)
    parser.add_argument("--bullets", type=int, default=400, help="in the memory (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="processes for each command (default: %(default)s)")
    parser.add_argument("--home", type=Path, help="a home that is kept; its memory must be absent, or made by this")
    parser.add_argument("--embedder", default="auto", help="as the setting of this name (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    try:
        bullets = read_bullets(options.texts).at_least(options.bullets).texts[: options.bullets]
        with tempfile.TemporaryDirectory() as folder:
            home = options.home or Path(folder) / "home"
            settings = load_settings(home=home, path=str(home / "startup.db"), embedder=options.embedder)
            found = measure(settings, bullets, options.rounds, bytecode=Path(folder) / "bytecode")
    except SetupError as error:
        notice(str(error))
        return 2
    figures.show(found, as_table, as_json=options.json)
    return 0


def measure(settings: Settings, bullets: Sequence[str], rounds: int, *, bytecode: Path) -> list[Startup]:
    """Warm, fill, and run every command in every round."""
    run = Processes(bytecode, _environment(settings))
    if settings.embedder == "auto":
        run([*COMMAND, "warm"])
    _fill(settings, bullets)
    commands = _commands(bullets[0])
    ended: dict[str, list[Ended]] = {name: [] for name in commands}
    for place in range(-1, rounds):
        notice(f"round {place + 1} of {rounds} …")
        for name, command in commands.items():
            one = run(command)
            _check(name, one, bullets[0])
            if place >= 0:  # the first one compiles, and reads what the machine then has at hand
                ended[name].append(one)
    return [_startup(name, each) for name, each in ended.items()]


def as_table(found: Sequence[Startup]) -> str:
    """A Markdown table."""
    rows = [
        (one.command, one.n, f"{one.wall_s_p50:.2f}", f"{one.wall_s_p90:.2f}", f"{one.cpu_s_p50:.2f}") for one in found
    ]
    return figures.table(("command", "n", "wall s p50", "wall s p90", "CPU s p50"), rows)


def _environment(settings: Settings) -> Mapping[str, str]:
    return {
        "CHEATSHEET_HOME": str(settings.home_folder.absolute()),
        "CHEATSHEET_PATH": str(Path(settings.memory_path).absolute()),
        "CHEATSHEET_EMBEDDER": settings.embedder,
    }


def _fill(settings: Settings, bullets: Sequence[str]) -> None:
    """Store the bullets with their vectors, unless the memory was filled before."""
    store = open_store(settings)
    if not store.count_bullets(DEFAULT_NAMESPACE):
        CachedEmbedder(embedder_of(settings), store).embed(bullets, "document")
        adds = tuple(Add(draft=Draft(content=text)) for text in bullets)
        store.commit(DEFAULT_NAMESPACE, Change(at=datetime.now(UTC), cause="import", operations=adds))
    store.close()


def _commands(question: str) -> dict[str, list[str]]:
    bare, given = (
        [sys.executable, "-c", "pass"],
        (["--help"], ["show", "--limit", "10"], ["context"], [RECALL, question]),
    )
    return {BARE: bare} | {words[0]: [*COMMAND, *words] for words in given}


def _check(name: str, ended: Ended, bullet: str) -> None:
    if name == RECALL and bullet not in ended.out:
        raise AssertionError(f"recall did not answer with the bullet that it was asked for: {bullet!r}.")


def _startup(name: str, ended: Sequence[Ended]) -> Startup:
    wall, cpu = figures.summary([one.wall_s for one in ended]), figures.summary([one.cpu_s for one in ended])
    return Startup(name, len(ended), wall.p50, wall.p90, cpu.p50)


if __name__ == "__main__":
    sys.exit(main())
