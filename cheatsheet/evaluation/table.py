"""Tables: for a terminal, turned where it is too narrow, and as Markdown for pipes and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.table import Table as RichTable


@dataclass(frozen=True, slots=True)
class Table:
    """What is to be shown.

    Attributes:
        cells: the titles, then one row after the other, all of one length.
        footnotes: what must be known to read it, one sentence each.
    """

    cells: tuple[tuple[str, ...], ...]
    footnotes: tuple[str, ...] = ()


def as_markdown(table: Table) -> str:
    """The table in Markdown, aligned so that it reads as plain text too; ends with a line feed."""
    widths = [max(2, *map(len, column)) for column in zip(*table.cells, strict=True)]  # a rule: a dash beside its colon
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [_line(row, widths) for row in (table.cells[0], rule, *table.cells[1:])]
    return "\n".join([*lines, "", *table.footnotes, ""])


def as_rich(table: Table, *, turned: bool = False) -> RichTable:
    """The table for `rich`, without its footnotes; with `turned` its rows are columns, which is narrower."""
    from rich.table import Table as RichTable
    from rich.text import Text

    head, *body = zip(*table.cells, strict=True) if turned else table.cells
    made = RichTable()
    for place, title in enumerate(head):
        made.add_column(Text(title), justify="right" if place else "left", no_wrap=not turned)
    for row in body:
        made.add_row(*map(Text, row))
    return made


def show(table: Table, stream: TextIO) -> None:
    """Write the table: as a table to a terminal, turned where that is too narrow; as Markdown into a pipe or a file."""
    if not stream.isatty():
        stream.write(as_markdown(table))
        return
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(file=stream)
    wide = as_rich(table)
    unbound = console.options.update(max_width=sum(len(cell) + 3 for row in table.cells for cell in row))
    fits = Measurement.get(console, unbound, wide).minimum <= console.width
    console.print(wide if fits else as_rich(table, turned=True))
    for note in table.footnotes:
        console.print(note, markup=False, highlight=False)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cells[0].ljust(widths[0]),
        *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)),
    ]
    return f"| {' | '.join(padded)} |"
