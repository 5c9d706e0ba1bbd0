"""All that is known of every answer, as plain values: for the page and for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cheatsheet.evaluation.metrics.learnt import CourseStep
from cheatsheet.evaluation.reports.accounts import ArmAccount
from cheatsheet.evaluation.reports.page.content import Group, Report, order_of
from cheatsheet.evaluation.runs import rows
from cheatsheet.evaluation.runs.results import RunResult
from cheatsheet.evaluation.runs.rows import Row

CHUNK = 200
"""So many answers are unpacked together when one of them is opened."""

_WRONG, _RIGHT, _ERROR = range(3)

_FIELDS = ("run", "arm", "question", "position", "verdict", "answer", "error", "tokens")

_DETAILS = (
    "context", "context_tokens", "ledger", "skipped", "notes", "mode", "score", "outcome", "bullets", "experiences",
    "prompt_tokens", "completion_tokens", "cached_tokens", "model_calls", "cost_usd", "cost_complete", "seconds",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer with where it belongs.

    Attributes:
        key: of the run.
        arm: its name.
        step: what the memory learnt from it; None where nothing is known of it.
        known: whether the memory could be read.
    """

    group: Group
    key: str
    run: RunResult
    arm: str
    row: Row
    step: CourseStep | None
    known: bool

    @property
    def learnt(self) -> list[dict[str, Any]]:
        """The changes of the memory."""
        return [] if self.step is None else [asdict(change) for change in self.step.operations]


def answers_of(report: Report) -> Iterator[Answer]:
    """Every answer, in the order of the groups, runs, questions and arms."""
    for group in report.groups:
        for key, run in group.runs:
            found = [answer for account in group.accounts for answer in _of_run(group, key, run, account)]
            yield from sorted(found, key=lambda answer: answer.row.position)  # keeps the order of the arms


def _of_run(group: Group, key: str, run: RunResult, account: ArmAccount) -> Iterator[Answer]:
    for (other, arm), course in zip(account.streams, account.courses, strict=True):
        if other is run:
            steps = {step.question: step for step in course.steps}
            for row in arm.rows:
                yield Answer(
                    group=group,
                    key=key,
                    run=run,
                    arm=arm.arm.name,
                    row=row,
                    step=steps.get(row.id),
                    known=not course.problem,
                )


def index_of(report: Report) -> dict[str, Any]:
    """What the page needs of all answers to list, filter and sort them: a row of `fields` for each."""
    runs, arms, questions = _Numbered(), _Numbered(), _Numbered()
    table = [_indexed(answer, runs, arms, questions) for answer in answers_of(report)]
    return {
        "chunk": CHUNK,
        "fields": list(_FIELDS),
        "runs": [dict(run) for run in runs.values],
        "arms": list(arms.values),
        "questions": [dict(question) for question in questions.values],
        "answers": table,
    }


def details_of(report: Report) -> Iterator[list[dict[str, Any]]]:
    """What the page shows of an answer that is opened, in the order of the index, `CHUNK` by `CHUNK`."""
    chunk: list[dict[str, Any]] = []
    for answer in answers_of(report):
        chunk.append(_detail(answer))
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


class _Numbered:
    """Values, each once, known by their numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value, which is hashable."""
        return self._numbers.setdefault(value, len(self._numbers))

    @property
    def values(self) -> list[Any]:
        """In the order of their numbers."""
        return list(self._numbers)


def _indexed(answer: Answer, runs: _Numbered, arms: _Numbered, questions: _Numbered) -> list[Any]:
    row = answer.row
    run = {
        "key": answer.key,
        "task": answer.group.task,
        "model": answer.group.model,
        "order": order_of(answer.run),
        "baseline": answer.group.baseline_name,
    }
    question = {"id": row.id, "text": row.question, "target": row.target}
    verdict = _ERROR if row.error else _RIGHT if row.correct else _WRONG
    return [
        runs.number(tuple(run.items())),
        arms.number(answer.arm),
        questions.number(tuple(question.items())),
        row.position + 1,
        verdict,
        row.answer,
        row.error,
        row.prompt_tokens + row.completion_tokens,
    ]


def _detail(answer: Answer) -> dict[str, Any]:
    kept = rows.as_json(answer.row)
    return {name: kept[name] for name in _DETAILS} | {
        "reply": "" if answer.row.reply.strip() == answer.row.answer.strip() else answer.row.reply,
        "learnt": answer.learnt,
        "learnt_known": answer.known,
        "remembered": list(answer.step.remembered) if answer.step else [],
    }


def flat(answer: Answer) -> Mapping[str, Any]:
    """An answer as one row of a table: where it belongs, every field of its row, and what was learnt from it."""
    place = {
        "task": answer.group.task,
        "model": answer.group.model,
        "order": order_of(answer.run),
        "run": answer.key,
        "arm": answer.arm,
    }
    return place | rows.as_json(answer.row) | {"learnt": answer.learnt}
