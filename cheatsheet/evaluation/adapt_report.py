"""The report of an adaptation: its epochs one below the other, for people."""

from __future__ import annotations

from typing import TextIO

from cheatsheet.evaluation import table
from cheatsheet.evaluation.course import Adaptation, Epoch
from cheatsheet.evaluation.metrics import ArmSummary
from cheatsheet.evaluation.report import UNKNOWN, cost, interval, percent
from cheatsheet.evaluation.table import Table
from cheatsheet.llm.model import Usage

_TITLES = ("epoch", "training", "validation", "95 % interval", "bullets", "version", "calls", "cost", "errors", "kept")


def table_of(adaptation: Adaptation) -> Table:
    """One row an epoch."""
    cells = [_cells(epoch, kept=epoch.number == adaptation.kept) for epoch in adaptation.epochs]
    return Table((_TITLES, *cells), _footnotes(adaptation))


def show(adaptation: Adaptation, stream: TextIO) -> None:
    """Write the report: a table to a terminal, Markdown into a pipe or a file."""
    table.show(table_of(adaptation), stream)


def _cells(epoch: Epoch, *, kept: bool) -> tuple[str, ...]:
    parts = [part for part in (epoch.train, epoch.validation) if part is not None]
    return (
        str(epoch.number) if epoch.number else "0 (before)",
        _accuracy(epoch.train),
        _accuracy(epoch.validation),
        interval(epoch.validation) if epoch.validation else UNKNOWN,
        f"{epoch.bullets:,}",
        str(epoch.version),
        f"{sum(part.model_calls for part in parts):,}",
        cost(sum((_spent(part) for part in parts), Usage())) if parts else UNKNOWN,
        str(sum(part.errors for part in parts)),
        "kept" if kept else "",
    )


def _accuracy(part: ArmSummary | None) -> str:
    if part is None:
        return UNKNOWN
    return "no score" if part.accuracy is None else percent(part.accuracy)


def _spent(part: ArmSummary) -> Usage:
    return Usage(cost_usd=part.cost_usd, cost_complete=part.cost_complete)


def _footnotes(adaptation: Adaptation) -> tuple[str, ...]:
    notes = ["Training: answers that were given before the memory learnt from them."]
    judged = [epoch.validation for epoch in adaptation.epochs if epoch.validation is not None]
    if judged:
        notes.append(f"Validation: {judged[0].n} questions, answered without learning; 95 % Wilson interval.")
    if adaptation.best is not None and len(judged) > 1:
        notes.append(
            "The kept epoch was chosen by these answers, so that its share of right ones is a little too good."
        )
    if any(part.errors for epoch in adaptation.epochs for part in (epoch.train, epoch.validation) if part):
        notes.append("Errors are calls that did not come back; they count as wrong.")
    return tuple(notes)
