"""One arm's stream of questions, which can break off at any moment and be joined again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cheatsheet.errors import ModelAuthError, ModelError, TaskError
from cheatsheet.evaluation import jsonl, rows
from cheatsheet.evaluation.folder import ArmFolder
from cheatsheet.evaluation.progress import Progress
from cheatsheet.evaluation.protocol import Memory, TurnView
from cheatsheet.evaluation.rows import Row
from cheatsheet.evaluation.scorers import Scorer
from cheatsheet.evaluation.spec import ArmSpec
from cheatsheet.evaluation.task import Sample
from cheatsheet.memory.experience import Feedback, Query


def turn_id(arm: ArmSpec, sample: Sample) -> str:
    """The id under which the journal of the arm's memory knows the question."""
    return f"{arm.name}:{sample.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What all arms of a run are to do.

    Attributes:
        retry_failed: ask again what failed before.
        clock: seconds, for the time that a failed call took.
    """

    samples: tuple[Sample, ...]
    scorer: Scorer
    retry_failed: bool
    progress: Progress
    clock: Callable[[], float]


@dataclass(slots=True, kw_only=True)
class Stream:
    """One arm on its way through the questions.

    Attributes:
        rows: what is done, by the question's id.
        notes: what the user should know.
    """

    arm: ArmSpec
    place: ArmFolder
    job: Job
    rows: dict[str, Row]
    notes: list[str]

    @classmethod
    def found(cls, arm: ArmSpec, place: ArmFolder, job: Job) -> Stream:
        """The stream as an earlier run left it; its file of rows is made fit to be appended to."""
        place.path.mkdir(parents=True, exist_ok=True)
        kept = jsonl.mend(place.rows)
        torn = f"{place.rows}: the last line was torn by a crash; it was set aside in {place.rows.name}.torn."
        found = rows.by_id(kept.records, place.rows, samples=job.samples)
        return cls(arm=arm, place=place, job=job, rows=found, notes=[torn] if kept.torn else [])

    def live(self, memory: Memory) -> None:
        """Ask what has not been asked."""
        with jsonl.Appender(self.place.rows) as log:
            self._restore(memory, log)
            todo = self._todo()
            self._announce(todo)
            for position, sample in todo:
                row = self._ask(memory, position, sample)
                self._keep(row, log)
                self.job.progress.row(row)

    def _restore(self, memory: Memory, log: jsonl.Appender) -> None:
        """Append the rows of committed turns that a crash kept out of the file."""
        restored = 0
        for sample in self.job.samples:
            row = self.rows.get(sample.id)
            if row is not None and not row.error:
                self._must_know(memory, sample)
            elif (payload := memory.recorded(turn_id(self.arm, sample))) is not None:
                self._keep(rows.from_json(payload, where=f"{self.place.memory}, question {sample.id!r}"), log)
                restored += 1
        if restored:
            self.notes.append(f"{self.place.rows}: {restored} of its rows were restored from the memory.")

    def _must_know(self, memory: Memory, sample: Sample) -> None:
        if not memory.learnt(turn_id(self.arm, sample)):
            raise TaskError(
                f"{self.place.rows} has the answer to question {sample.id!r}, but the memory {self.place.memory} does "
                f"not know of it: the file was removed, replaced or set back. Put it back, or run in another folder."
            )

    def _todo(self) -> list[tuple[int, Sample]]:
        """The questions that are still to be asked, found by their ids and not by a count."""
        return [
            (position, sample)
            for position, sample in enumerate(self.job.samples)
            if (row := self.rows.get(sample.id)) is None or (row.error and self.job.retry_failed)
        ]

    def _announce(self, todo: Sequence[tuple[int, Sample]]) -> None:
        open_ids = {sample.id for _, sample in todo}
        done = [row for row in self.rows.values() if row.id not in open_ids]
        total = len(self.job.samples)
        self.job.progress.start(self.arm.name, total=total, done=len(done), correct=sum(row.correct for row in done))

    def _ask(self, memory: Memory, position: int, sample: Sample) -> Row:
        def judge(answer: str) -> Feedback:
            return self.job.scorer.judge(answer, sample)

        def record(turn: TurnView) -> dict[str, Any]:
            return rows.as_json(rows.answered(sample, position, turn))

        asked = turn_id(self.arm, sample)
        began = self.job.clock()
        try:
            memory.solve(Query(text=sample.input, choices=sample.choices), judge=judge, turn_id=asked, record=record)
        except ModelAuthError:
            raise
        except ModelError as error:
            return rows.failed(sample, position, error, seconds=self.job.clock() - began)
        payload = memory.recorded(asked)
        if payload is None:
            raise RuntimeError(f"The memory of {self.arm.name!r} answered {asked!r} without recording it (promise R2).")
        return rows.from_json(payload, where=f"{self.place.memory}, question {sample.id!r}")

    def _keep(self, row: Row, log: jsonl.Appender) -> None:
        log.append(rows.as_json(row))
        self.rows[row.id] = row
