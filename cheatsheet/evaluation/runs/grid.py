"""The grid task × model × order × arm: many runs at once, in as many processes as is wished, within one budget."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from cheatsheet.errors import ModelAuthError, RunStoppedError
from cheatsheet.evaluation.runs.cell import Cell, standing
from cheatsheet.evaluation.runs.coordinator import CellOutcome, Coordinator, Standing
from cheatsheet.evaluation.runs.engines.base import CellEngine
from cheatsheet.evaluation.runs.engines.sequential import Sequential
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.progress import Progress
from cheatsheet.evaluation.runs.protocol import OpenMemory
from cheatsheet.evaluation.runs.reading import read_rows, read_run
from cheatsheet.evaluation.runs.results import ArmResult, RunResult
from cheatsheet.evaluation.runs.spec import ArmSpec, RunSpec
from cheatsheet.evaluation.runs.spending import Budget, cheaper
from cheatsheet.evaluation.runs.stream import open_questions
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Task
from cheatsheet.llm.model import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A run that is to be made: one task, one model, one order.

    Attributes:
        folder: holds the run; made if need be.
        open_memory: opens the memory of an arm in the file given; must be picklable for an engine with workers.
        name: tells the run apart from the others of its grid; may be empty where it is the only one.
    """

    spec: RunSpec
    task: Task
    folder: Path
    open_memory: OpenMemory
    name: str = ""

    def cell_name(self, arm: ArmSpec) -> str:
        """The arm's cell as it is told to the user."""
        return f"{self.name}/{arm.name}" if self.name else arm.name


@dataclass(frozen=True, slots=True, kw_only=True)
class GridResult:
    """What came of a grid.

    Attributes:
        runs: in the order in which they were planned, also those that the budget stopped.
        budget, spent: what might be spent, and what was, on all rows, also those that were there before.
        done, total: questions answered, and questions there are, over all cells.
    """

    runs: tuple[RunResult, ...]
    budget: Budget
    spent: Usage
    done: int
    total: int

    @property
    def over(self) -> bool:
        """Whether every question has its row; if not, the budget is spent."""
        return self.done == self.total

    @property
    def scored(self) -> int:
        """How many questions were answered; 0 means that there is no score to report."""
        return sum(run.scored for run in self.runs)


def run_grid(
    runs: Sequence[Planned],
    *,
    engine: CellEngine | None = None,
    budget: Budget | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    progress: Progress | None = None,
    check: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> GridResult:
    """Ask every arm of every run every question.

    A cell is one arm of one run; within it, questions are asked one after the other. What is in the way of any run is
    found before the first question of the first. A cell that fails does not keep the others from being lived; its
    error is raised when they are over.

    Args:
        engine: who lives the cells; by default this process, one after the other.
        budget: what all rows together may cost, also those that are there on a resume; by default no limit.
        resume: go on with the runs in their folders; those that were not begun are begun.
        retry_failed, check, clock: as in `runner.run`.

    Raises:
        TaskError: a task, a folder or what is in it cannot be used.
        RunStoppedError: the user stopped it.
        ModelAuthError: the provider refused the key; nothing more was asked.
        WorkerLostError: a cell lost its workers again and again.
    """
    for planned in runs:
        _must_be_sound(planned)
    if check is not None:
        check()
    with ExitStack() as locks:
        begun = [_begin(planned, locks, resume=resume) for planned in runs]
        cells = [cell for run in begun for cell in _cells(run, retry_failed=retry_failed, clock=clock)]
        coordinator = Coordinator({cell.name: _found(cell) for cell in cells}, budget=budget, progress=progress)
        _live(engine or Sequential(), cells, coordinator, progress, folder=_common([run.folder for run in runs]))
        return GridResult(
            runs=tuple(_result(run, coordinator.outcomes) for run in begun),
            budget=coordinator.budget,
            spent=coordinator.spent,
            done=coordinator.done,
            total=coordinator.total,
        )


def _must_be_sound(planned: Planned) -> None:
    planned.spec.must_fit(planned.task)
    scorer_for(planned.spec.scorer).check(planned.task.samples)


def _begin(planned: Planned, locks: ExitStack, *, resume: bool) -> Planned:
    """The run as it stands in its folder, which is held from now on."""
    place = RunFolder(path=planned.folder)
    locks.enter_context(place.locked())
    return replace(planned, spec=place.begin(planned.spec, resume=resume))


def _cells(run: Planned, *, retry_failed: bool, clock: Callable[[], float]) -> list[Cell]:
    return [
        Cell(
            name=run.cell_name(arm),
            folder=run.folder.absolute(),
            fingerprint=run.spec.fingerprint(),
            arm=arm,
            cheaper=cheaper(arm, run.spec.settings),
            samples=run.task.samples,
            scorer=run.spec.scorer,
            open_memory=run.open_memory,
            retry_failed=retry_failed,
            clock=clock,
        )
        for arm in run.spec.arms
    ]


def _found(cell: Cell) -> Standing:
    """How far the cell came before; its rows are read here too, so that a damaged file stops the grid at once."""
    rows, _ = read_rows(cell.place.rows, samples=cell.samples)
    open_ids = {sample.id for _, sample in open_questions(cell.samples, rows, retry_failed=cell.retry_failed)}
    return standing(rows.values(), open_ids, total=len(cell.samples))


def _live(
    engine: CellEngine, cells: Sequence[Cell], coordinator: Coordinator, progress: Progress | None, *, folder: Path
) -> None:
    try:
        engine.run(cells, coordinator)
    except KeyboardInterrupt as stop:
        raise RunStoppedError(folder, done=coordinator.done, total=coordinator.total) from stop
    finally:
        if progress is not None:
            progress.finish()
    _raise_errors([outcome for outcome in coordinator.outcomes.values() if outcome.error is not None])


def _raise_errors(failed: Sequence[CellOutcome]) -> None:
    """Raise the first error, one of a refused key before others, with what else failed as notes."""
    ranked = sorted(failed, key=lambda outcome: not isinstance(outcome.error, ModelAuthError))
    if not ranked or ranked[0].error is None:
        return
    error = ranked[0].error
    if len(ranked) > 1:
        error.add_note(f"This was {ranked[0].cell}. {len(ranked) - 1} more failed:")
    for other in ranked[1:]:
        error.add_note(f"{other.cell}: {type(other.error).__name__}: {other.error}")
    raise error


def _result(run: Planned, outcomes: Mapping[str, CellOutcome]) -> RunResult:
    """The run as its folder has it, with what its cells said besides."""
    read = read_run(run.folder)
    return replace(read, arms=tuple(_with_outcome(arm, outcomes.get(run.cell_name(arm.arm))) for arm in read.arms))


def _with_outcome(arm: ArmResult, outcome: CellOutcome | None) -> ArmResult:
    return arm if outcome is None else replace(arm, memory=outcome.memory, notes=(*arm.notes, *outcome.notes))


def _common(folders: Sequence[Path]) -> Path:
    """The folder itself, or the one that holds them all."""
    return folders[0] if len(folders) == 1 else Path(os.path.commonpath(folders))
