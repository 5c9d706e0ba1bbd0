"""The report of an adaptation: its epochs one below the other, for people."""

from __future__ import annotations

from typing import NamedTuple, TextIO

from cheatsheet.evaluation import table
from cheatsheet.evaluation.adaptation.course import Adaptation, Epoch
from cheatsheet.evaluation.metrics import ArmSummary
from cheatsheet.evaluation.reports.figures import UNKNOWN, cost, percent, span
from cheatsheet.evaluation.table import Table
from cheatsheet.llm.model import Usage

_TITLES = ("epoch", "training", "validation", "95 % interval", "bullets", "version", "calls", "cost", "errors", "kept")
_TEST = ("test", "its 95 % interval")


class _Told(NamedTuple):
    """The number by which the answers are told, and its interval.

    Attributes:
        value, low, high: names of fields of a summary.
        name: as sentences call it.
        method: of the interval.
    """

    value: str
    low: str
    high: str
    name: str
    method: str

    def share(self, part: ArmSummary | None) -> str:
        if part is None:
            return UNKNOWN
        return "no score" if part.accuracy is None else percent(getattr(part, self.value))

    def interval(self, part: ArmSummary | None) -> str:
        return UNKNOWN if part is None else span(getattr(part, self.low), getattr(part, self.high))


_ACCURACIES = _Told("accuracy", "accuracy_low", "accuracy_high", "share of right ones", "95 % Wilson")
_SCORES = _Told("score", "score_low", "score_high", "mean score", "95 % bootstrap")


def table_of(adaptation: Adaptation) -> Table:
    """One row an epoch."""
    told = _SCORES if _partly_right(adaptation) else _ACCURACIES
    cells = [_cells(epoch, told, kept=epoch.number == adaptation.kept) for epoch in adaptation.epochs]
    if adaptation.spec.test is None:
        return Table((_TITLES, *cells), _footnotes(adaptation))
    measured = [
        (*own, told.share(epoch.test), told.interval(epoch.test))
        for own, epoch in zip(cells, adaptation.epochs, strict=True)
    ]
    return Table(((*_TITLES, *_TEST), *measured), _footnotes(adaptation))


def show(adaptation: Adaptation, stream: TextIO) -> None:
    """Write the report: a table to a terminal, Markdown into a pipe or a file."""
    table.show(table_of(adaptation), stream)


def _cells(epoch: Epoch, told: _Told, *, kept: bool) -> tuple[str, ...]:
    parts = epoch.parts
    return (
        str(epoch.number) if epoch.number else "0 (before)",
        told.share(epoch.train),
        told.share(epoch.validation),
        told.interval(epoch.validation),
        f"{epoch.bullets:,}",
        str(epoch.version),
        f"{sum(part.model_calls for part in parts):,}",
        cost(sum((_spent(part) for part in parts), Usage())) if parts else UNKNOWN,
        str(sum(part.errors for part in parts)),
        "kept" if kept else "",
    )


def _partly_right(adaptation: Adaptation) -> bool:
    return any(part.partly_right for epoch in adaptation.epochs for part in epoch.parts)


def _spent(part: ArmSummary) -> Usage:
    return Usage(cost_usd=part.cost_usd, cost_complete=part.cost_complete)


def _footnotes(adaptation: Adaptation) -> tuple[str, ...]:
    told = _SCORES if _partly_right(adaptation) else _ACCURACIES
    notes = ["Training: answers that were given before the memory learnt from them."]
    judged = [epoch.validation for epoch in adaptation.epochs if epoch.validation is not None]
    if judged:
        notes.append(f"Validation: {judged[0].n} questions, answered without learning; {told.method} interval.")
    if adaptation.best is not None and len(judged) > 1:
        notes.append(f"The kept epoch was chosen by these answers, so that its {told.name} is a little too good.")
    if measured := adaptation.epochs[0].test:
        notes.append(
            f"Test: {measured.n} questions, answered without learning before the first epoch and by the memory that is "
            "kept; nothing was chosen by them."
        )
    if told is _SCORES:
        notes.append("Answers can be partly right: all shares are mean scores.")
    if any(part.errors for epoch in adaptation.epochs for part in epoch.parts):
        notes.append("Errors are calls that did not come back; they count as wrong.")
    return tuple(notes)
