"""Cells: one arm of one run, lived by whichever process an engine gives it to."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.runs import rows
from cheatsheet.evaluation.runs.coordinator import CellOutcome, Reports, Standing
from cheatsheet.evaluation.runs.folder import ArmFolder, RunFolder
from cheatsheet.evaluation.runs.progress import Silence
from cheatsheet.evaluation.runs.protocol import Memory, MemoryStats, OpenMemory, TurnView
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spec import ArmSpec
from cheatsheet.evaluation.runs.spending import CHEAPER_FROM, Stage
from cheatsheet.evaluation.runs.stream import Job, Stream
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Sample
from cheatsheet.llm.model import Usage

# A worker that is lost with its node may hold its lock for as long as a file server needs to notice.
_LOCK_WAIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One arm of one run, with all that a worker needs. It can be pickled where `open_memory` can.

    Attributes:
        name: as it is told to the user; no two cells of a grid have the same.
        folder: of the run, from the root; all workers see it.
        fingerprint: of the run that must lie there.
        cheaper: the arm as it is asked when the budget runs low; None where it goes on as it is.
        retry_failed: ask again what failed before.
        clock: seconds, for the time that a failed call took.
    """

    name: str
    folder: Path
    fingerprint: str
    arm: ArmSpec
    cheaper: ArmSpec | None
    samples: tuple[Sample, ...]
    scorer: str
    open_memory: OpenMemory
    retry_failed: bool = False
    clock: Callable[[], float] = time.perf_counter

    @property
    def place(self) -> ArmFolder:
        """Where its rows and its memory are."""
        return RunFolder(path=self.folder).arm(self.arm)

    def arm_at(self, stage: Stage) -> ArmSpec:
        """The arm as it is asked at a stage."""
        return self.cheaper if stage is Stage.CHEAPER and self.cheaper is not None else self.arm


@dataclass(kw_only=True)
class CellStream(Stream[Memory]):
    """A cell on its way, as long as the coordinator lets it.

    Attributes:
        cell, coordinator: whose questions these are, and where they are reported.
        asking: the stage at which the memory is open.
        told: the stage that the coordinator named last; where it is another one, the stream breaks off.
        tried: the ids of what was asked so far, so that a question which fails again waits for the next
            `retry_failed`, also where the stage changes.
    """

    cell: Cell
    coordinator: Reports
    asking: Stage = Stage.PLANNED
    told: Stage = Stage.PLANNED
    tried: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, cell: Cell, coordinator: Reports) -> CellStream:
        """The cell as it was left when it was lived last, if it was."""
        job = Job(
            samples=cell.samples,
            scorer=scorer_for(cell.scorer),
            retry_failed=cell.retry_failed,
            progress=Silence(),  # the coordinator tells of it
            clock=cell.clock,
        )
        return cls.found(cell.name, cell.place, job, turns=cell.arm.name, cell=cell, coordinator=coordinator)

    def live_on(self) -> MemoryStats:
        """Ask until nothing is left, or the coordinator wishes it otherwise; what is in the memory then."""
        memory = self.cell.open_memory(self.cell.arm_at(self.asking), self.cell.place.memory)
        try:
            self.live(memory)
            return memory.stats()
        finally:
            memory.close()

    @property
    def over(self) -> bool:
        """Whether nothing is left to be asked, or may be."""
        return self.told in (Stage.STOP, self.asking) or not self._todo()

    def _todo(self) -> list[tuple[int, Sample]]:
        return [(position, sample) for position, sample in super()._todo() if sample.id not in self.tried]

    def _announce(self, todo: Sequence[tuple[int, Sample]]) -> None:
        open_ids = {sample.id for _, sample in todo}
        self._hear(
            self.coordinator.start(self.name, standing(self.rows.values(), open_ids, total=len(self.job.samples)))
        )

    def _tell(self, row: Row) -> None:
        self.tried.add(row.id)
        self._hear(self.coordinator.row(self.name, row))

    def _hear(self, stage: Stage) -> None:
        nothing_cheaper = stage is Stage.CHEAPER and self.cell.cheaper is None
        self.told = Stage.PLANNED if nothing_cheaper else stage

    def _answers(self, memory: Memory, todo: Sequence[tuple[int, Sample]]) -> Iterator[Row]:
        for position, sample in todo:
            if self.told is not self.asking:
                return
            yield self._ask(memory, position, sample)

    def _ask(self, memory: Memory, position: int, sample: Sample) -> Row:
        row = super()._ask(memory, position, sample)
        return self._marked(row) if row.error else row

    def _record(self, position: int, sample: Sample) -> Callable[[TurnView], dict[str, Any]]:
        return lambda turn: rows.as_json(self._marked(rows.answered(sample, position, turn)))

    def _marked(self, row: Row) -> Row:
        """The row, saying so where it was asked in a cheaper mode."""
        if self.asking is not Stage.CHEAPER:
            return row
        mode = self.cell.arm_at(self.asking).name
        note = f"asked in {mode}, since {100 * CHEAPER_FROM:.0f} % of the budget was spent"
        return row.model_copy(update={"mode": mode, "notes": (*row.notes, note)})


def standing(found: Iterable[Row], open_ids: Container[str], *, total: int) -> Standing:
    """How far a cell with these rows has come.

    Args:
        open_ids: of the questions that are still to be asked, or to be asked again.
    """
    kept = tuple(found)
    done = [row for row in kept if row.id not in open_ids]
    return Standing(
        total=total,
        done=len(done),
        correct=sum(row.correct for row in done),
        spent=sum((row.usage for row in kept), Usage()),
    )


def live_cell(cell: Cell, coordinator: Reports) -> CellOutcome:
    """Ask what is left of a cell: the one way in which every engine does it.

    Raises:
        TaskError: the run is not where it should be, or its rows cannot be used.
        ModelAuthError: the provider refused the key.
    """
    _must_be_here(cell)
    with _held(cell):
        stream = CellStream.of(cell, coordinator)
        memory = stream.live_on()
        while not stream.over:
            stream.asking = stream.told
            memory = stream.live_on()
    return CellOutcome(cell=cell.name, memory=memory, notes=tuple(stream.notes))


def attempt(cell: Cell, coordinator: Reports) -> CellOutcome:
    """Live a cell; where it fails, that is its outcome."""
    try:
        return live_cell(cell, coordinator)
    except Exception as error:
        return CellOutcome(cell=cell.name, error=error)


def _must_be_here(cell: Cell) -> None:
    """A folder that only the driver sees would be filled anew here, and be lost with this machine."""
    try:
        found = RunFolder(path=cell.folder).spec().fingerprint()
    except TaskError as error:
        raise _not_shared(cell, "it is not there, or cannot be read") from error
    if found != cell.fingerprint:
        raise _not_shared(cell, "another run lies there")


def _not_shared(cell: Cell, what: str) -> TaskError:
    return TaskError(
        f"The worker on {platform.node()} does not see the run in {cell.folder}: {what}. The folder must lie on "
        f"storage that all machines see under this path, such as NFS; choose one with --out."
    )


@contextmanager
def _held(cell: Cell) -> Iterator[None]:
    """Hold the arm's folder: a worker that was given up for lost must not write beside the one that took its place.

    Raises:
        TaskError: it is still held after a minute.
    """
    from filelock import FileLock, Timeout

    place = cell.place.path
    place.mkdir(parents=True, exist_ok=True)
    lock = FileLock(place / "cell.lock", timeout=_LOCK_WAIT_S)
    try:
        lock.acquire()
    except Timeout as error:
        raise TaskError(
            f"Another process still writes into {place}, after {_LOCK_WAIT_S:.0f} seconds. Wait until it has ended, "
            f"then go on with --resume."
        ) from error
    try:
        yield
    finally:
        lock.release()
