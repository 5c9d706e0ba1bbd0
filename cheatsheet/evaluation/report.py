"""Reports: the arms of a run side by side, for people."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

from cheatsheet.evaluation.metrics import ArmSummary

if TYPE_CHECKING:
    from rich.table import Table

UNKNOWN = "–"


class Column(NamedTuple):
    """One column of the report."""

    title: str
    cell: Callable[[ArmSummary], str]


def _whole(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f}"


def _percent(share: float | None) -> str:
    return UNKNOWN if share is None else f"{100 * share:.1f} %"


def _interval(summary: ArmSummary) -> str:
    low, high = summary.accuracy_low, summary.accuracy_high
    return UNKNOWN if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}"


def _cost(summary: ArmSummary) -> str:
    if summary.cost_usd is None:
        return "unknown"
    return f"{'' if summary.cost_complete else '≥ '}${summary.cost_usd:.4f}"


_MODE = Column("mode", lambda summary: summary.mode)
_ERRORS = Column("errors", lambda summary: str(summary.errors))
_NUMBERS = (
    Column("n", lambda summary: str(summary.n)),
    Column("accuracy", lambda summary: "no score" if summary.accuracy is None else _percent(summary.accuracy)),
    Column("95 % interval", _interval),
    Column("2nd half", lambda summary: _percent(summary.accuracy_second_half)),
    Column("prompt tok/q", lambda summary: _whole(summary.prompt_tokens_per_question)),
    Column("compl. tok/q", lambda summary: _whole(summary.completion_tokens_per_question)),
    Column("cached", lambda summary: _percent(summary.cached_share)),
    Column("calls", lambda summary: _whole(summary.model_calls)),
    Column("cost", _cost),
    Column("seconds", lambda summary: f"{summary.seconds:,.1f}"),
)


def columns(summaries: Sequence[ArmSummary]) -> tuple[Column, ...]:
    """The columns that a report of these arms has; errors only where there were any."""
    errors = (_ERRORS,) if any(summary.errors for summary in summaries) else ()
    return (_MODE, *_NUMBERS, *errors)


def footnotes(summaries: Sequence[ArmSummary]) -> tuple[str, ...]:
    """What must be known to read the numbers, one sentence each."""
    notes = [
        "Accuracy over n questions, with its 95 % Wilson interval.",
        f"2nd half: accuracy on the later half of the stream (n = {_sizes(summaries)}).",
    ]
    if any(summary.errors for summary in summaries):
        notes.append("Errors are calls that did not come back; they are among n and count as wrong.")
    if any(summary.cost_usd is not None and not summary.cost_complete for summary in summaries):
        notes.append("≥: the price of some calls is not known.")
    return tuple(notes)


def render_markdown(summaries: Sequence[ArmSummary]) -> str:
    """The report as a Markdown table, aligned so that it reads as plain text too; ends with a line feed."""
    cells = _cells(summaries)
    widths = [max(2, *map(len, column)) for column in zip(*cells, strict=True)]  # a rule needs a dash beside its colon
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [_line(row, widths) for row in (cells[0], rule, *cells[1:])]
    return "\n".join([*lines, "", *footnotes(summaries), ""])


def render_table(summaries: Sequence[ArmSummary], *, turned: bool = False) -> Table:
    """The report as a table for `rich`, one row an arm, or with `turned` one column an arm, which is narrower."""
    from rich.table import Table
    from rich.text import Text

    cells = _cells(summaries)
    head, *body = zip(*cells, strict=True) if turned else cells
    table = Table()
    for place, title in enumerate(head):
        table.add_column(Text(title), justify="right" if place else "left", no_wrap=not turned)
    for row in body:
        table.add_row(*map(Text, row))
    return table


def show(summaries: Sequence[ArmSummary], stream: TextIO) -> None:
    """Write the report: a table to a terminal, turned where it is too narrow; Markdown into a pipe or a file."""
    if not stream.isatty():
        stream.write(render_markdown(summaries))
        return
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(file=stream)
    wide = render_table(summaries)
    unbound = console.options.update(max_width=sum(len(cell) + 3 for row in _cells(summaries) for cell in row))
    fits = Measurement.get(console, unbound, wide).minimum <= console.width
    console.print(wide if fits else render_table(summaries, turned=True))
    for note in footnotes(summaries):
        console.print(note, markup=False, highlight=False)


def _cells(summaries: Sequence[ArmSummary]) -> list[tuple[str, ...]]:
    """The titles, then one row an arm."""
    table = columns(summaries)
    titles = tuple(column.title for column in table)
    return [titles, *(tuple(column.cell(summary) for column in table) for summary in summaries)]


def _sizes(summaries: Sequence[ArmSummary]) -> str:
    sizes = sorted({summary.n_second_half for summary in summaries})
    return "–".join(map(str, itertools.chain(sizes[:1], sizes[1:][-1:]))) or "0"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cells[0].ljust(widths[0]),
        *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)),
    ]
    return f"| {' | '.join(padded)} |"
