"""The streams of an adaptation: questions to learn from, questions to judge by, and questions to measure with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from cheatsheet.errors import ModelAuthError, ModelError, TaskError
from cheatsheet.evaluation import jsonl
from cheatsheet.evaluation.runs import rows
from cheatsheet.evaluation.runs.protocol import Learner
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.stream import Stream, judge_of, query_of, record_of
from cheatsheet.evaluation.task import Sample

Asked = tuple[int, Sample]
"""A question and its position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a stream keeps its rows, and where its memory is, as the user knows it."""

    rows: Path
    memory: str


class Lessons(Stream[Learner]):
    """A stream of an adaptation; what it lacks cannot be asked any more once the memory has gone on."""

    def _todo(self) -> list[Asked]:
        todo = super()._todo()
        if todo and self.job.closed:
            raise TaskError(
                f"{self.place.rows} lacks {len(todo)} rows that were there before the memory went on, such as that of "
                f"question {todo[0][1].id!r}. Put the file back, or begin in another folder."
            )
        return todo


class Training(Lessons):
    """The memory learns from every answer, or from every `batch_size` answers together.

    Where a call of a batch does not come back, its questions are asked one by one, so that one refused question costs
    its own answer only. A batch that was stopped in the middle of that goes on one by one, as it would have.
    """

    def _answers(self, memory: Learner, todo: Sequence[Asked]) -> Iterator[Row]:
        for number, group in groupby(todo, key=lambda asked: asked[0] // self.job.batch_size):
            batch = list(group)
            whole = self.job.samples[number * self.job.batch_size :][: self.job.batch_size]
            if len(batch) == 1 or len(batch) < len(whole):
                yield from super()._answers(memory, batch)
            else:
                yield from self._together(memory, batch)

    def _together(self, memory: Learner, batch: Sequence[Asked]) -> Iterator[Row]:
        try:
            memory.solve_batch(
                [query_of(sample) for _, sample in batch],
                judges=[judge_of(self.job.scorer, sample) for _, sample in batch],
                turn_ids=[self.turn_id(sample) for _, sample in batch],
                records=[record_of(position, sample) for position, sample in batch],
            )
        except ModelAuthError:
            raise
        except ModelError as error:
            first, last = batch[0][1].id, batch[-1][1].id
            self.notes.append(
                f"The questions {first!r} to {last!r} were learnt one by one, since a call failed: {error}"
            )
            yield from super()._answers(memory, batch)
        else:
            yield from (self._recorded(memory, sample) for _, sample in batch)


class Validation(Lessons):
    """The memory answers and learns nothing, so that its rows are in their file alone."""

    def _restore(self, memory: Learner, log: jsonl.Appender) -> None:
        """Nothing: the memory knows nothing of these answers."""

    def _answered(self, memory: Learner, position: int, sample: Sample) -> Row:
        turn = memory.answer(query_of(sample), judge=judge_of(self.job.scorer, sample))
        return rows.answered(sample, position, turn)


class Testing(Validation):
    """As in validation, but nothing is chosen by the answers."""
