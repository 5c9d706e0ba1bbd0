"""Where all cells of a grid report, and are told how to go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from cheatsheet.errors import ModelAuthError
from cheatsheet.evaluation.runs.progress import Progress, Silence
from cheatsheet.evaluation.runs.protocol import MemoryStats
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spending import CHEAPER_FROM, Budget, Stage
from cheatsheet.llm.model import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a cell has come.

    Attributes:
        total: questions there are.
        done, correct: questions that will not be asked any more, and how many of them are right.
        spent: on all its rows.
    """

    total: int
    done: int = 0
    correct: int = 0
    spent: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOutcome:
    """How a cell ended.

    Attributes:
        cell: its name.
        memory: how much is in its memory; None where it failed.
        notes: what the user should know.
        error: what it failed with; its rows up to there are kept.
    """

    cell: str
    memory: MemoryStats | None = None
    notes: tuple[str, ...] = ()
    error: Exception | None = None


class Reports(Protocol):
    """What a cell sees of the coordinator, wherever it is lived.

    Both calls come back with how the cell's next question is to be asked, and are made before it is.
    """

    def start(self, cell: str, standing: Standing) -> Stage:
        """It sets out, for the first time or again."""
        ...

    def row(self, cell: str, row: Row) -> Stage:
        """One more of its rows is kept."""
        ...


class Coordinator:
    """Adds up what all cells report.

    Attributes:
        standings: of every cell, by its name, also of those that have not set out.
        outcomes: of the cells that are over, by their names.
        budget: what all of them together may spend.
    """

    def __init__(
        self, standings: Mapping[str, Standing], *, budget: Budget | None = None, progress: Progress | None = None
    ) -> None:
        self.standings = dict(standings)
        self.outcomes: dict[str, CellOutcome] = {}
        self.budget = budget or Budget()
        self._progress = progress or Silence()
        self._stopped = False
        self._told = Stage.PLANNED

    def start(self, cell: str, standing: Standing) -> Stage:
        """A cell sets out; what it says replaces what was known of it, so that it may set out again."""
        self.standings[cell] = standing
        self._progress.start(cell, total=standing.total, done=standing.done, correct=standing.correct)
        return self._answer()

    def row(self, cell: str, row: Row) -> Stage:
        """A row is kept."""
        was = self.standings[cell]
        self.standings[cell] = replace(
            was, done=was.done + 1, correct=was.correct + row.correct, spent=was.spent + row.usage
        )
        self._progress.row(cell, row)
        return self._answer()

    def over(self, outcome: CellOutcome) -> None:
        """A cell is over. A refused key stops all: it would fail every question."""
        self.outcomes[outcome.cell] = outcome
        if isinstance(outcome.error, ModelAuthError):
            self.stop()
        elif outcome.error is not None and len(self.standings) > 1:
            self.note(f"{outcome.cell} failed, the others go on: {outcome.error}")

    def stop(self) -> None:
        """Let every cell end after the question that it is at."""
        self._stopped = True

    def note(self, text: str) -> None:
        """Tell the user something at once."""
        self._progress.note(text)

    @property
    def stage(self) -> Stage:
        """How the next question is to be asked."""
        return Stage.STOP if self._stopped else self.budget.stage(self.spent)

    @property
    def closed(self) -> bool:
        """Whether nothing is to be asked any more."""
        return self.stage is Stage.STOP

    @property
    def spent(self) -> Usage:
        """On all rows of all cells, also those that were there before."""
        return sum((standing.spent for standing in self.standings.values()), Usage())

    @property
    def done(self) -> int:
        """Questions that are done, of all cells."""
        return sum(standing.done for standing in self.standings.values())

    @property
    def total(self) -> int:
        """Questions there are, of all cells."""
        return sum(standing.total for standing in self.standings.values())

    def _answer(self) -> Stage:
        stage = self.stage
        if stage is Stage.CHEAPER and self._told is Stage.PLANNED:
            self.note(
                f"{100 * CHEAPER_FROM:.0f} % of the budget is spent ({self.budget.told(self.spent)}): from here on "
                "questions are asked in the next cheaper mode, where there is one, and their rows say so."
            )
        self._told = stage
        return stage
