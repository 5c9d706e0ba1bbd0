"""Reports: the arms of a run side by side, for people."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TextIO

from cheatsheet.evaluation.metrics import ArmSummary
from cheatsheet.evaluation.metrics.metric import Metric
from cheatsheet.evaluation.reports.accounts import accounts_of
from cheatsheet.evaluation.reports.figures import UNKNOWN, cost, percent, span, whole
from cheatsheet.evaluation.reports.tables import (
    SCORE_NOTE,
    comparison_table,
    memory_table,
    metric_table,
    pooled_table,
    problems_of,
)
from cheatsheet.evaluation.reports.unfinished import unfinished
from cheatsheet.evaluation.runs.results import RunResult
from cheatsheet.evaluation.table import Table, show


class Column(NamedTuple):
    """One column of the report."""

    title: str
    cell: Callable[[ArmSummary], str]


def interval(summary: ArmSummary) -> str:
    """The interval of the accuracy, in percent."""
    return span(summary.accuracy_low, summary.accuracy_high)


_SCORE = (
    Column("mean score", lambda summary: percent(summary.score)),
    Column("its 95 %", lambda summary: span(summary.score_low, summary.score_high)),
)
_ASKED = (Column("mode", lambda summary: summary.mode), Column("n", lambda summary: str(summary.n)))
_ERRORS = Column("errors", lambda summary: str(summary.errors))
_NUMBERS = (
    Column("accuracy", lambda summary: "no score" if summary.accuracy is None else percent(summary.accuracy)),
    Column("95 % interval", interval),
    Column("2nd half", lambda summary: percent(summary.accuracy_second_half)),
    Column("prompt tok/q", lambda summary: whole(summary.prompt_tokens_per_question)),
    Column("compl. tok/q", lambda summary: whole(summary.completion_tokens_per_question)),
    Column("cached", lambda summary: percent(summary.cached_share)),
    Column("calls", lambda summary: whole(summary.model_calls)),
    Column("cost", lambda summary: cost(summary) if summary.n else UNKNOWN),
    Column("seconds", lambda summary: f"{summary.seconds:,.1f}"),
)


def columns(summaries: Sequence[ArmSummary]) -> tuple[Column, ...]:
    """The columns that a report of these arms has: errors where there were any, scores where one is partly right.

    Then the mean score comes first: it is what such a task is judged by.
    """
    errors = (_ERRORS,) if any(summary.errors for summary in summaries) else ()
    scores = _SCORE if any(summary.partly_right for summary in summaries) else ()
    return (*_ASKED, *scores, *_NUMBERS, *errors)


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
    if any(summary.partly_right for summary in summaries):
        notes.append(SCORE_NOTE)
    if cheaper := sum(summary.cheaper for summary in summaries):
        notes.append(f"A budget ran low: {cheaper} of the answers were given in a cheaper mode than the arm's.")
    return tuple(notes)


def table_of(summaries: Sequence[ArmSummary]) -> Table:
    """The report, one row an arm."""
    shown = columns(summaries)
    titles = tuple(column.title for column in shown)
    rows = (tuple(column.cell(summary) for column in shown) for summary in summaries)
    return Table((titles, *rows), footnotes(summaries))


def tables_of(
    results: Sequence[RunResult], *, baseline: str | None = None, metrics: Sequence[Metric] = ()
) -> tuple[Table, ...]:
    """Everything that a report of runs tells: the arms, then against the baseline, the memories, and by metric.

    Args:
        results: of one run or of several; those that differ in the order of their questions alone are taken together.
        baseline: against which arm the others are held; None: `default` where a run has it, else its first arm.
        metrics: shown in a table of their own.

    Raises:
        UnknownNameError: no run has an arm of that name.
    """
    accounts = accounts_of(results, baseline=baseline)
    alone = len(results) == 1
    arms = table_of([account.pooled.summaries[0] for account in accounts]) if alone else pooled_table(accounts)
    more = (comparison_table(accounts), memory_table(accounts), metric_table(accounts, metrics))
    *first, last = (arms, *(table for table in more if table is not None))
    told = (*filter(None, [unfinished(results)]), *problems_of(accounts))
    return (*first, replace(last, footnotes=(*last.footnotes, *told)))


def show_results(
    results: Sequence[RunResult], stream: TextIO, *, baseline: str | None = None, metrics: Sequence[Metric] = ()
) -> None:
    """Write the tables of `tables_of`: to a terminal, turned where it is too narrow; Markdown into a pipe or a file."""
    for place, table in enumerate(tables_of(results, baseline=baseline, metrics=metrics)):
        if place:
            stream.write("\n")
        show(table, stream)


def _sizes(summaries: Sequence[ArmSummary]) -> str:
    sizes = sorted({summary.n_second_half for summary in summaries})
    return "–".join(map(str, itertools.chain(sizes[:1], sizes[1:][-1:]))) or "0"
