"""Reports: the arms of a run side by side, for people."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TextIO

from cheatsheet.evaluation.metrics import ArmSummary
from cheatsheet.evaluation.table import Table, as_markdown
from cheatsheet.evaluation.table import show as show_table
from cheatsheet.llm.model import Usage

UNKNOWN = "–"


class Column(NamedTuple):
    """One column of the report."""

    title: str
    cell: Callable[[ArmSummary], str]


def whole(value: float | None) -> str:
    """A number without its decimals."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def percent(share: float | None) -> str:
    """A share from 0 to 1."""
    return UNKNOWN if share is None else f"{100 * share:.1f} %"


def interval(summary: ArmSummary) -> str:
    """The interval of the accuracy, in percent."""
    low, high = summary.accuracy_low, summary.accuracy_high
    return UNKNOWN if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}"


def cost(spent: ArmSummary | Usage) -> str:
    """What all of it cost, as far as prices are known."""
    if spent.cost_usd is None:
        return "unknown"
    return f"{'' if spent.cost_complete else '≥ '}${spent.cost_usd:.4f}"


_MODE = Column("mode", lambda summary: summary.mode)
_ERRORS = Column("errors", lambda summary: str(summary.errors))
_NUMBERS = (
    Column("n", lambda summary: str(summary.n)),
    Column("accuracy", lambda summary: "no score" if summary.accuracy is None else percent(summary.accuracy)),
    Column("95 % interval", interval),
    Column("2nd half", lambda summary: percent(summary.accuracy_second_half)),
    Column("prompt tok/q", lambda summary: whole(summary.prompt_tokens_per_question)),
    Column("compl. tok/q", lambda summary: whole(summary.completion_tokens_per_question)),
    Column("cached", lambda summary: percent(summary.cached_share)),
    Column("calls", lambda summary: whole(summary.model_calls)),
    Column("cost", cost),
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


def table_of(summaries: Sequence[ArmSummary]) -> Table:
    """The report, one row an arm."""
    shown = columns(summaries)
    titles = tuple(column.title for column in shown)
    rows = (tuple(column.cell(summary) for column in shown) for summary in summaries)
    return Table((titles, *rows), footnotes(summaries))


def render_markdown(summaries: Sequence[ArmSummary]) -> str:
    """The report as a Markdown table, aligned so that it reads as plain text too; ends with a line feed."""
    return as_markdown(table_of(summaries))


def show(summaries: Sequence[ArmSummary], stream: TextIO) -> None:
    """Write the report: a table to a terminal, turned where it is too narrow; Markdown into a pipe or a file."""
    show_table(table_of(summaries), stream)


def _sizes(summaries: Sequence[ArmSummary]) -> str:
    sizes = sorted({summary.n_second_half for summary in summaries})
    return "–".join(map(str, itertools.chain(sizes[:1], sizes[1:][-1:]))) or "0"
