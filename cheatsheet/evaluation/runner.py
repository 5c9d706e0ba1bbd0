"""Runs: every arm is asked every question, in order, and can be stopped at any moment without loss.

A row is made before its turn is committed, is committed with the turn in one transaction, and is then appended to
`rows.jsonl`. After a crash, what the memory has and the file lacks is appended from the memory; what neither has is
asked. So rows and memory become those of a run that was never interrupted, and no answer is paid for twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cheatsheet.errors import RunStoppedError
from cheatsheet.evaluation import jsonl, rows
from cheatsheet.evaluation.folder import RunFolder
from cheatsheet.evaluation.progress import Progress, Silence
from cheatsheet.evaluation.protocol import Memory, MemoryStats, OpenMemory
from cheatsheet.evaluation.rows import Row
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.spec import ArmSpec, RunSpec
from cheatsheet.evaluation.stream import Job, Stream
from cheatsheet.evaluation.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResult:
    """What came of one arm.

    Attributes:
        rows: in the order of the stream.
        memory: how much was in the memory in the end; None when the result was read from a folder.
        notes: what the user should know, such as a torn line that was set aside.
    """

    arm: ArmSpec
    rows: tuple[Row, ...]
    memory: MemoryStats | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What came of a run."""

    spec: RunSpec
    folder: Path
    arms: tuple[ArmResult, ...]

    @property
    def scored(self) -> int:
        """How many questions were answered; 0 means that there is no score to report, and that the run has failed."""
        return sum(not row.error for arm in self.arms for row in arm.rows)


def run(
    spec: RunSpec,
    task: Task,
    open_memory: OpenMemory,
    *,
    folder: str | Path,
    resume: bool = False,
    retry_failed: bool = False,
    progress: Progress | None = None,
    check: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> RunResult:
    """Ask every arm every question.

    A question whose call fails is a row that counts as wrong, with its error. A refused key stops the run instead,
    since it would fail every question.

    Args:
        open_memory: opens the memory of an arm in the file given.
        folder: holds the run; made if need be.
        resume: go on with the run in `folder`; where none was begun, begin it.
        retry_failed: when resuming, ask failed questions again. They are asked late, with what was learnt since, so
            the result is not that of a run in which nothing failed.
        check: called before anything is written or asked; raises what stops the run, such as a missing key.
        clock: seconds, for the time that a failed call took.

    Raises:
        TaskError: the task, the folder or what is in it cannot be used.
        RunStoppedError: the user stopped it.
        ModelAuthError: the provider refused the key.
    """
    scorer = scorer_for(spec.scorer)
    spec.must_fit(task)
    scorer.check(task.samples)
    if check is not None:
        check()
    place = RunFolder(path=Path(folder))
    with place.locked():
        stored = place.begin(spec, resume=resume)
        job = Job(
            samples=task.samples,
            scorer=scorer,
            retry_failed=retry_failed,
            progress=progress or Silence(),
            clock=clock,
        )
        streams: list[Stream[Memory]] = [Stream.found(arm.name, place.arm(arm), job) for arm in stored.arms]
        try:
            arms = tuple(_live(arm, stream, open_memory) for arm, stream in zip(stored.arms, streams, strict=True))
        except KeyboardInterrupt as stop:
            done = sum(len(stream.rows) for stream in streams)
            raise RunStoppedError(place.path, done=done, total=len(streams) * len(task.samples)) from stop
        finally:
            job.progress.finish()
    return RunResult(spec=stored, folder=place.path, arms=arms)


def read_run(folder: str | Path) -> RunResult:
    """The result of a run, finished or not, from its folder; changes nothing there.

    Raises:
        TaskError: there is no run, or it cannot be read.
    """
    place = RunFolder(path=Path(folder))
    spec = place.spec()
    return RunResult(spec=spec, folder=place.path, arms=tuple(_read_arm(arm, place.arm(arm).rows) for arm in spec.arms))


def _live(arm: ArmSpec, stream: Stream[Memory], open_memory: OpenMemory) -> ArmResult:
    memory = open_memory(arm, stream.place.memory)
    try:
        stream.live(memory)
        stats = memory.stats()
    finally:
        memory.close()
    return ArmResult(arm=arm, rows=in_order(stream.rows), memory=stats, notes=tuple(stream.notes))


def _read_arm(arm: ArmSpec, path: Path) -> ArmResult:
    data = path.read_bytes() if path.exists() else b""
    lines = jsonl.parse(data, source=str(path))
    notes = (f"{path}: the last line is torn and was left out.",) if lines.torn else ()
    return ArmResult(arm=arm, rows=in_order(rows.by_id(lines.records, path)), notes=notes)


def in_order(found: Mapping[str, Row]) -> tuple[Row, ...]:
    """Rows in the order of the stream."""
    return tuple(sorted(found.values(), key=lambda row: row.position))
