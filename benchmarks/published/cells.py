"""Scoring recorded runs: a cell of the table for each, and every row by both scorings.

*By the paper's rules* (`rules`) a run is read and scored as it was published. *Strictly* (`strict`), its replies are
read as our engine reads every reply, and scored by our own scorers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.published.rules import Judged, first_answer, shown
from benchmarks.published.runs import RecordedRow, RecordedRun
from benchmarks.published.scoring import TASKS
from benchmarks.published.strict import judge_strictly, strict_answer, unreadable
from benchmarks.published.table_1 import Figure, figure
from cheatsheet.errors import TaskError


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    """A row, read and scored both ways.

    Attributes:
        answer, strict_answer: as the paper's rules and as ours read the reply.
        paper, strict: the verdict on each.
    """

    row: RecordedRow
    answer: str
    strict_answer: str
    paper: Judged
    strict: Judged

    @property
    def differs(self) -> bool:
        """Whether one scoring finds the row right and the other wrong."""
        return self.paper.right != self.strict.right

    @property
    def read_as_recorded(self) -> bool:
        """Whether the paper's rule and we read what the authors recorded; true where they recorded nothing."""
        return self.row.answer is None or {self.answer, self.strict_answer} == {self.row.answer.strip()}

    @property
    def reason(self) -> str:
        """Why each scoring says what it says, as one sentence."""
        recorded = "" if self.read_as_recorded else f"the authors recorded {shown(self.row.answer or '')}; "
        read = shown(self.answer)
        if self.answer != self.strict_answer:
            read += f", read strictly as {shown(self.strict_answer)}"
        return f"{read}: {recorded}paper {_told(self.paper)}; strict {_told(self.strict)}."

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "row": self.row.index,
            "target": self.row.target,
            "recorded": self.row.answer,
            "paper": self.paper.right,
            "strict": self.strict.right,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A run, scored.

    Attributes:
        published: what the paper says; None where its table has no such cell.
        skipped: what could not be scored, and why.
    """

    file: Path
    task: str
    model: str
    arm: str
    rows: tuple[ScoredRow, ...]
    published: Figure | None
    skipped: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many rows were scored."""
        return len(self.rows)

    @property
    def correct(self) -> int:
        """How many rows are right by the paper's rules."""
        return sum(row.paper.right for row in self.rows)

    @property
    def strict(self) -> int:
        """How many rows are right by our own scorers."""
        return sum(row.strict.right for row in self.rows)

    @property
    def apart(self) -> int | None:
        """How many rows more than in the paper are right; None where it has no figure, or one of other rows."""
        if self.published is None or self.published.rows != self.n:
            return None
        return self.correct - self.published.correct

    @property
    def differences(self) -> tuple[ScoredRow, ...]:
        """The rows on which the strict scorer differs."""
        return tuple(row for row in self.rows if row.differs)


def score(run: RecordedRun) -> Cell:
    """Score every row of a run that has a right answer.

    Raises:
        TaskError: there is none.
    """
    problems = [unreadable(run.task, row) for row in run.rows]
    rows = tuple(_scored(run.task, row) for row, problem in zip(run.rows, problems, strict=True) if not problem)
    if not rows:
        raise TaskError(f"{run.file} holds no row that can be scored: {problems[0]}")
    return Cell(
        file=run.file,
        task=run.task,
        model=run.model,
        arm=run.arm,
        rows=rows,
        published=figure(run.task, run.model, run.arm),
        skipped=(*run.skipped, *(f"{run.file}: {problem}" for problem in problems if problem)),
    )


def _scored(task: str, row: RecordedRow) -> ScoredRow:
    answer, ours = first_answer(row.reply), strict_answer(row.reply)
    paper = TASKS[task].rule(row.question, row.target, answer)
    return ScoredRow(row=row, answer=answer, strict_answer=ours, paper=paper, strict=judge_strictly(task, row, ours))


def _told(judged: Judged) -> str:
    return f"{'right' if judged.right else 'wrong'}, for {judged.reason}"
