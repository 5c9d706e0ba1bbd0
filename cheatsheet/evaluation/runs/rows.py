"""Rows: one question of one arm, answered and scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from cheatsheet.context.ledger import LedgerEntry
from cheatsheet.errors import ModelError, TaskError
from cheatsheet.evaluation.jsonl import Record
from cheatsheet.evaluation.runs.protocol import TurnView
from cheatsheet.evaluation.task import Sample
from cheatsheet.llm.model import Outcome, Usage


class Row(BaseModel):
    """What became of one question.

    Attributes:
        id: of the question.
        position: of the question in the stream, from 0.
        question: as the memory was asked.
        mode: under which it was asked, where that is not the arm's own (a budget ran low); else empty.
        correct: false, too, where no answer came.
        score: 0 (worst) to 1 (best).
        error: the failure of a call that did not come back; empty when one did.
        outcome: how the call that answered ended; None when none came back.
        context: what the memory put into the prompt, as one text.
        context_tokens: how many tokens that is.
        ledger: for every section of the context what it wanted, what it got, and why.
        bullets, experiences: how many of them were shown.
        operations: how many changes of the memory the turn made.
        skipped, notes: what was left out in learning, and what else there is to know.
        seconds: for the whole turn.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    position: int
    question: str = ""
    target: str
    mode: str = ""
    answer: str = ""
    reply: str = ""
    correct: bool = False
    score: float = 0.0
    error: str = ""
    outcome: Outcome | None = None
    context: str = ""
    context_tokens: int = 0
    ledger: tuple[LedgerEntry, ...] = ()
    bullets: int = 0
    experiences: int = 0
    operations: int = 0
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    model_calls: int = 0
    cost_usd: float | None = None
    cost_complete: bool = True
    seconds: float = 0.0

    @property
    def usage(self) -> Usage:
        """Tokens, calls and cost, to be added up."""
        return Usage(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cached_tokens=self.cached_tokens,
            calls=self.model_calls,
            cost_usd=self.cost_usd,
            cost_complete=self.cost_complete,
            seconds=self.seconds,
        )


def answered(sample: Sample, position: int, turn: TurnView) -> Row:
    """The row of a turn. An empty reply that nobody judged is wrong."""
    usage, feedback = turn.usage, turn.feedback
    return Row(
        id=sample.id,
        position=position,
        question=sample.input,
        target=sample.target,
        answer=turn.answer,
        reply=turn.reply_text,
        correct=bool(feedback.verdict),
        score=float(bool(feedback.verdict)) if feedback.score is None else feedback.score,
        outcome=turn.outcome,
        context=turn.recall.text,
        context_tokens=turn.recall.tokens,
        ledger=tuple(turn.recall.ledger),
        bullets=len(turn.recall.bullets),
        experiences=len(turn.recall.experiences),
        operations=len(turn.lesson.operations),
        skipped=tuple(turn.lesson.skipped),
        notes=tuple(turn.notes),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        model_calls=usage.calls,
        cost_usd=usage.cost_usd,
        cost_complete=usage.cost_complete,
        seconds=turn.seconds,
    )


def failed(sample: Sample, position: int, error: ModelError, *, seconds: float) -> Row:
    """The row of a call that did not come back. What it cost, if anything, is not known."""
    return Row(
        id=sample.id,
        position=position,
        question=sample.input,
        target=sample.target,
        error=f"{type(error).__name__}: {error}",
        cost_complete=False,
        seconds=seconds,
    )


def as_json(row: Row) -> dict[str, Any]:
    """The row as it is kept."""
    return row.model_dump(mode="json")


def from_json(value: Mapping[str, Any], *, where: str) -> Row:
    """The row that was kept.

    Raises:
        TaskError: it is not a row of ours; names `where`.
    """
    try:
        return Row.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise TaskError(f"{where} is not a row of this version of cheatsheet: {field}: {first['msg']}.") from error


def by_id(records: Sequence[Record], path: Path, *, samples: Sequence[Sample] | None = None) -> dict[str, Row]:
    """The rows of a file, by the question's id. A second row replaces one that failed.

    Raises:
        TaskError: a line that is no row, two answers to one question, or a row of a question that is not among
            `samples`; names the line.
    """
    positions = None if samples is None else {sample.id: position for position, sample in enumerate(samples)}
    found: dict[str, Row] = {}
    for record in records:
        where = f"{path}, line {record.line}"
        row = from_json(record.value, where=where)
        if positions is not None and positions.get(row.id) != row.position:
            raise TaskError(f"{where}: the task has no question {row.id!r} at position {row.position}.")
        if row.id in found and not found[row.id].error:
            raise TaskError(f"{where}: question {row.id!r} was answered before.")
        found[row.id] = row
    return found
