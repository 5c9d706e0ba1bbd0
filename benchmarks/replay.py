"""The published runs of Dynamic Cheatsheet, scored anew beside Table 1 of the paper, cell by cell.

    python -m benchmarks.replay ../shared/data/dc_runs [--json] [--rows]

Folders and files may be mixed; `benchmarks.published.runs` says which forms are read. No model is asked: the replies
were recorded. Each is read and scored twice:

- *ours*, by the paper's rules (`benchmarks.published.rules`). It must agree with the figure that was published.
- *strict*, by our engine's reading of replies and our scorers `integer`, `choice`, `equation` and `game-of-24`.

Every row on which they differ is named, with the reason of both. `--rows` also names those that are scored alike but
were not read as the authors recorded.

Exit codes: 0; 1 when a cell is more than one row away from the paper; 2 when a file cannot be used.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.published.cells import Cell, ScoredRow, score
from benchmarks.published.runs import find_files, read_run
from benchmarks.published.table_1 import ARMS, QUESTIONS
from cheatsheet.errors import SetupError
from cheatsheet.evaluation.table import Table, as_markdown

NEAR: Final = 1
"""Rows by which a cell may differ from the paper: its figures are rounded to one decimal."""

MOST_NAMED: Final = 5
"""Files that are left out are named up to so many."""

_TITLES: Final = ("task", "model", "arm", "n", "paper %", "ours %", "apart", "strict %", "differ")


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay and print; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.replay", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="recorded runs, or folders of them")
    parser.add_argument("--json", action="store_true", help="print a list of objects, one for each cell")
    parser.add_argument("--rows", action="store_true", help="name the rows that were only read otherwise, too")
    options = parser.parse_args(arguments)
    try:
        runs, others = find_files(options.paths)
        cells = replay(runs)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 2
    _tell(others, cells)
    if options.json:
        print(json.dumps([as_dict(cell, readings=options.rows) for cell in cells], ensure_ascii=False, indent=2))
    else:
        print(as_markdown(as_table(cells)))
        print("\n".join(_named(cells, readings=options.rows)))
    return int(any(cell.apart is not None and abs(cell.apart) > NEAR for cell in cells))


def replay(files: Sequence[Path]) -> list[Cell]:
    """The cells of recorded runs, in the order of the paper's table.

    Raises:
        TaskError: a file cannot be used; names it.
    """
    return sorted((score(read_run(file)) for file in files), key=_place)


def as_dict(cell: Cell, *, readings: bool = False) -> dict[str, Any]:
    """A cell for programs; `published` is per cent, `correct` and `strict` are rows.

    Args:
        readings: also the rows that were scored alike but not read as recorded.
    """
    made = {
        "task": cell.task,
        "model": cell.model,
        "arm": cell.arm,
        "n": cell.n,
        "correct": cell.correct,
        "published": None if cell.published is None else cell.published.percent,
        "rows_apart": cell.apart,
        "strict": cell.strict,
        "differences": [row.as_dict() for row in cell.differences],
        "file": cell.file.name,
        "skipped": list(cell.skipped),
    }
    return made | ({"readings": [row.as_dict() for row in _read_otherwise(cell)]} if readings else {})


def as_table(cells: Sequence[Cell]) -> Table:
    """Table 1 beside ours."""
    return Table(cells=(_TITLES, *map(_line, cells)), footnotes=(*_legend(), *_totals(cells)))


def _line(cell: Cell) -> tuple[str, ...]:
    return (
        cell.task,
        cell.model,
        cell.arm,
        str(cell.n),
        "–" if cell.published is None else f"{cell.published.percent:.1f}",
        f"{100 * cell.correct / cell.n:.1f}",
        "–" if cell.apart is None else f"{cell.apart:+d}" if cell.apart else "0",
        f"{100 * cell.strict / cell.n:.1f}",
        str(len(cell.differences)),
    )


def _legend() -> tuple[str, ...]:
    return (
        "paper: Table 1 of Dynamic Cheatsheet (arXiv 2504.07952). ours: the recorded replies, read and scored anew by "
        "the paper's rules. strict: read and scored by our own.",
        "apart: how many rows more are right than in the paper; – where it has no figure, or one of another number of "
        "rows. differ: rows on which ours and strict differ.",
    )


def _totals(cells: Sequence[Cell]) -> Iterator[str]:
    compared = [cell.apart for cell in cells if cell.apart is not None]
    near, equal = sum(abs(apart) <= NEAR for apart in compared), compared.count(0)
    rows = [row for cell in cells for row in cell.rows]
    yield (
        f"Runs: {len(cells)}; rows: {len(rows):,}. Cells to compare with the paper: {len(compared)}; "
        f"within {NEAR} row of it: {near}; equal: {equal}."
    )
    otherwise = [row for row in rows if not row.read_as_recorded]
    without = sum("<answer>" not in row.row.reply for row in otherwise)
    yield f"Answers not read as recorded: {len(otherwise):,}; of them in replies without an <answer>: {without:,}."


def _named(cells: Sequence[Cell], *, readings: bool) -> Iterator[str]:
    count, total = sum(len(cell.differences) for cell in cells), sum(cell.n for cell in cells)
    yield f"The strict scorer differs on {count} of {total:,} rows{':' if count else '.'}"
    yield from (_sentence(cell, row) for cell in cells for row in cell.differences)
    if readings:
        yield "\nScored alike, but not read as recorded:"
        yield from (_sentence(cell, row) for cell in cells for row in _read_otherwise(cell))


def _sentence(cell: Cell, row: ScoredRow) -> str:
    return f"- {cell.task}, {cell.model}, {cell.arm}, row {row.row.index}, {row.reason}"


def _read_otherwise(cell: Cell) -> list[ScoredRow]:
    return [row for row in cell.rows if not row.differs and not row.read_as_recorded]


def _tell(others: Sequence[Path], cells: Sequence[Cell]) -> None:
    if others:
        named = ", ".join(map(str, others[:MOST_NAMED])) + (" …" if len(others) > MOST_NAMED else "")
        print(f"Files left out, for they do not end in .jsonl or .jsonl.gz: {len(others)} ({named})", file=sys.stderr)
    skipped = [line for cell in cells for line in cell.skipped]
    if skipped:
        print(f"Rows that could not be scored: {len(skipped)}", *skipped, sep="\n", file=sys.stderr)


def _place(cell: Cell) -> tuple[int, str, str, int, str]:
    tasks = list(QUESTIONS)
    place = tasks.index(cell.task) if cell.task in tasks else len(tasks)
    return place, cell.task, cell.model, ARMS.index(cell.arm), str(cell.file)


if __name__ == "__main__":
    sys.exit(main())
