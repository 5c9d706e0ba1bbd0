"""A stream of questions to one memory, which can break off at any moment and be joined again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

from cheatsheet.errors import ModelAuthError, ModelError, TaskError
from cheatsheet.evaluation import jsonl
from cheatsheet.evaluation.runs import rows
from cheatsheet.evaluation.runs.progress import Progress
from cheatsheet.evaluation.runs.protocol import Memory, TurnView
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.scorers import Scorer
from cheatsheet.evaluation.task import Sample
from cheatsheet.memory.experience import Feedback, Query

MemoryT = TypeVar("MemoryT", bound=Memory)


class Place(Protocol):
    """Where a stream keeps its rows, and where its memory is."""

    @property
    def rows(self) -> Path: ...
    @property
    def memory(self) -> Path | str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What all streams of a run are to do.

    Attributes:
        retry_failed: ask again what failed before.
        clock: seconds, for the time that a failed call took.
        batch_size: so many questions are learnt together, where the stream can do that.
        closed: nothing may be asked any more.
    """

    samples: tuple[Sample, ...]
    scorer: Scorer
    retry_failed: bool
    progress: Progress
    clock: Callable[[], float]
    batch_size: int = 1
    closed: bool = False


@dataclass(slots=True, kw_only=True)
class Stream(Generic[MemoryT]):
    """A memory on its way through the questions.

    Attributes:
        name: as it is told to the user.
        turns: what the turn ids of its questions begin with.
        rows: what is done, by the question's id.
        notes: what the user should know.
    """

    name: str
    turns: str
    place: Place
    job: Job
    rows: dict[str, Row]
    notes: list[str]

    @classmethod
    def found(cls, name: str, place: Place, job: Job, *, turns: str | None = None, **own: Any) -> Self:
        """The stream as an earlier run left it; its file of rows is made fit to be appended to.

        Args:
            turns: the name where it is left out.
            own: what a kind of stream has besides.
        """
        place.rows.parent.mkdir(parents=True, exist_ok=True)
        kept = jsonl.mend(place.rows)
        torn = f"{place.rows}: the last line was torn by a crash; it was set aside in {place.rows.name}.torn."
        found = rows.by_id(kept.records, place.rows, samples=job.samples)
        prefix = name if turns is None else turns
        notes = [torn] if kept.torn else []
        return cls(name=name, turns=prefix, place=place, job=job, rows=found, notes=notes, **own)

    def turn_id(self, sample: Sample) -> str:
        """The id under which the journal of the memory knows the question."""
        return f"{self.turns}:{sample.id}"

    def live(self, memory: MemoryT) -> None:
        """Ask what has not been asked."""
        with jsonl.Appender(self.place.rows) as log:
            self._restore(memory, log)
            todo = self._todo()
            self._announce(todo)
            for row in self._answers(memory, todo):
                self._keep(row, log)
                self._tell(row)

    def _answers(self, memory: MemoryT, todo: Sequence[tuple[int, Sample]]) -> Iterator[Row]:
        """The rows of the questions, one by one, so that each is kept before the next question is asked."""
        for position, sample in todo:
            yield self._ask(memory, position, sample)

    def _restore(self, memory: MemoryT, log: jsonl.Appender) -> None:
        """Append the rows of committed turns that a crash kept out of the file."""
        restored = 0
        for sample in self.job.samples:
            row = self.rows.get(sample.id)
            if row is not None and not row.error:
                self._must_know(memory, sample)
            elif (payload := memory.recorded(self.turn_id(sample))) is not None:
                self._keep(rows.from_json(payload, where=f"{self.place.memory}, question {sample.id!r}"), log)
                restored += 1
        if restored:
            self.notes.append(f"{self.place.rows}: {restored} of its rows were restored from the memory.")

    def _must_know(self, memory: MemoryT, sample: Sample) -> None:
        if not memory.learnt(self.turn_id(sample)):
            raise TaskError(
                f"{self.place.rows} has the answer to question {sample.id!r}, but the memory {self.place.memory} does "
                f"not know of it: the file was removed, replaced or set back. Put it back, or run in another folder."
            )

    def _todo(self) -> list[tuple[int, Sample]]:
        return open_questions(self.job.samples, self.rows, retry_failed=self.job.retry_failed)

    def _announce(self, todo: Sequence[tuple[int, Sample]]) -> None:
        open_ids = {sample.id for _, sample in todo}
        done = [row for row in self.rows.values() if row.id not in open_ids]
        total = len(self.job.samples)
        self.job.progress.start(self.name, total=total, done=len(done), correct=sum(row.correct for row in done))

    def _tell(self, row: Row) -> None:
        self.job.progress.row(self.name, row)

    def _ask(self, memory: MemoryT, position: int, sample: Sample) -> Row:
        began = self.job.clock()
        try:
            return self._answered(memory, position, sample)
        except ModelAuthError:
            raise
        except ModelError as error:
            seconds = self.job.clock() - began if error.seconds is None else error.seconds
            return rows.failed(sample, position, error, seconds=seconds)

    def _answered(self, memory: MemoryT, position: int, sample: Sample) -> Row:
        """Ask, and let the memory learn; raises ModelError where no answer comes back."""
        memory.solve(
            query_of(sample),
            judge=judge_of(self.job.scorer, sample),
            turn_id=self.turn_id(sample),
            record=self._record(position, sample),
        )
        return self._recorded(memory, sample)

    def _record(self, position: int, sample: Sample) -> Callable[[TurnView], dict[str, Any]]:
        return record_of(position, sample)

    def _recorded(self, memory: MemoryT, sample: Sample) -> Row:
        asked = self.turn_id(sample)
        payload = memory.recorded(asked)
        if payload is None:
            raise RuntimeError(f"The memory of {self.name!r} answered {asked!r} without recording it (promise R2).")
        return rows.from_json(payload, where=f"{self.place.memory}, question {sample.id!r}")

    def _keep(self, row: Row, log: jsonl.Appender) -> None:
        log.append(rows.as_json(row))
        self.rows[row.id] = row


def open_questions(
    samples: Sequence[Sample], found: Mapping[str, Row], *, retry_failed: bool
) -> list[tuple[int, Sample]]:
    """The questions that are still to be asked, with their positions; found by their ids and not by a count.

    Args:
        found: the rows there are, by the question's id.
        retry_failed: those that failed are to be asked again.
    """
    return [
        (position, sample)
        for position, sample in enumerate(samples)
        if (row := found.get(sample.id)) is None or (row.error and retry_failed)
    ]


def query_of(sample: Sample) -> Query:
    """What the memory is asked: not what the file says besides."""
    return Query(text=sample.input, choices=sample.choices)


def judge_of(scorer: Scorer, sample: Sample) -> Callable[[str], Feedback]:
    """What the memory is told about an answer to the question."""
    return lambda answer: scorer.judge(answer, sample)


def record_of(position: int, sample: Sample) -> Callable[[TurnView], dict[str, Any]]:
    """What the memory keeps with the turn: the question's row."""
    return lambda turn: rows.as_json(rows.answered(sample, position, turn))
