"""Real bullets to measure with: lines of the cheatsheets that models wrote in published runs, or texts of our own."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.calibrate import RUNS
from benchmarks.calibration.labelled import read_lookups, read_pairs
from benchmarks.collapse import read_runs
from benchmarks.tasks.ticket_routing import load
from cheatsheet.errors import TaskError
from cheatsheet.memory.formats.dynamic_cheatsheet import DynamicCheatsheetFormat
from cheatsheet.memory.gate.stand_ins import stand_ins

HELP: Final = (
    f"published runs, or a file with a text in every line (default: {RUNS}, or where it is not, our own texts)"
)

FEWEST_WORDS: Final = 5
"""Of a line that counts: shorter ones are headings and the ends of formulas."""

_MARKS: Final = " \t-*•#>"


@dataclass(frozen=True, slots=True)
class Bullets:
    """Distinct texts, in an order that does not follow their origin.

    Attributes:
        source: where they come from, as a report says it.
        real: so many are as somebody wrote them; those behind are repeats that a number makes distinct.
    """

    texts: tuple[str, ...]
    source: str
    real: int

    def at_least(self, n: int) -> Bullets:
        """These, and as many repeats as make `n`."""
        repeats = (
            f"{text} (case {turn})" for turn in range(2, n // max(1, self.real) + 3) for text in self.texts[: self.real]
        )
        missing = max(0, n - len(self.texts))
        return Bullets((*self.texts, *(next(repeats) for _ in range(missing))), self.source, self.real)

    def told(self, n: int) -> str:
        """What the first `n` are, as a sentence."""
        words = sum(len(text.split()) for text in self.texts[:n]) / n
        made = f"; above {self.real:,}, repeats made distinct by a number" if n > self.real else ""
        return f"Bullets: {self.source}, {words:.0f} words each on average{made}."


def read_bullets(path: Path | None) -> Bullets:
    """The lines of a file, the cheatsheets of a folder of published runs, or what there is without either.

    Raises:
        SetupError: there is nothing at `path`.
    """
    if path is None and not RUNS.is_dir():
        return _mixed(_own(), "the labelled texts and tickets of this repository")
    found = path or RUNS
    if found.is_dir():
        return _mixed(_published(found), "lines of the published Dynamic Cheatsheet runs")
    if not found.is_file():
        raise TaskError(
            f"There is no file or folder {found}. Give published runs, or a file with a text in every line."
        )
    return _mixed(found.read_text(encoding="utf-8").splitlines(), f"the lines of {found.name}")


def _mixed(texts: Iterable[str], source: str) -> Bullets:
    distinct = list(dict.fromkeys(text.strip(_MARKS) for text in texts if len(text.split()) >= FEWEST_WORDS))
    if not distinct:
        raise TaskError(f"There is no text of {FEWEST_WORDS} words or more: {source}.")
    random.Random(0).shuffle(distinct)
    return Bullets(tuple(distinct), source, len(distinct))


def _published(folder: Path) -> Iterator[str]:
    """Every line of every item that any version of a cheatsheet has; words in the place of others are left out."""
    read = DynamicCheatsheetFormat().read
    for run in read_runs(folder):
        items = dict.fromkeys(entry.draft.content for sheet in run.cheatsheets for entry in read(sheet).entries)
        yield from (line for item in items if not stand_ins(item) for line in item.splitlines())


def _own() -> Iterator[str]:
    for pair in read_pairs():
        yield from (pair.first, pair.second)
    for lookup in read_lookups(()):
        yield from (*lookup.questions, *lookup.texts)
    yield from (str(row["input"]) for row in load(0))
