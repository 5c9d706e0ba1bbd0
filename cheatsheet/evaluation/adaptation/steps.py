"""The steps of an adaptation, in `steps.jsonl`: what is done is not done again, whatever ended the process."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from cheatsheet.errors import TaskError
from cheatsheet.evaluation import jsonl

What = Literal["learnt", "validated", "rollback", "kept", "tested"]
"""`learnt`: the epoch's questions are learnt. `validated`: its memory is judged. `rollback`: its memory is about to be
fetched back. `kept`: its memory stands, and nothing is learnt any more. `tested`: its memory is measured."""


class Step(BaseModel):
    """One step.

    Attributes:
        epoch: that it is about; 0 is the memory before anything was learnt.
        version: of the memory at that moment.
        bullets: active ones in it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: What
    epoch: int
    version: int
    bullets: int


class Steps:
    """The steps that were taken, in their file.

    Attributes:
        torn: whether a crash left a torn last line, which was set aside.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = jsonl.mend(path)
        self.torn = bool(kept.torn)
        self._steps = [_step(record, path) for record in kept.records]

    def find(self, what: What, epoch: int | None = None) -> Step | None:
        """The step of that kind, of that epoch or of any."""
        found = (step for step in self._steps if step.what == what and epoch in (None, step.epoch))
        return next(found, None)

    def take(self, step: Step) -> Step:
        """Note a step; it is on the disk when this returns."""
        with jsonl.Appender(self.path) as file:
            file.append(step.model_dump(mode="json"))
        self._steps.append(step)
        return step


def _step(record: jsonl.Record, path: Path) -> Step:
    try:
        return Step.model_validate(record.value)
    except ValidationError as error:
        raise TaskError(
            f"{path}, line {record.line} is no step of this version of cheatsheet: {error.errors()[0]['msg']}."
        ) from error
