"""The contract of the engines, and what those with workers have in common."""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Protocol

from cheatsheet.errors import WorkerLostError
from cheatsheet.evaluation.runs.cell import Cell
from cheatsheet.evaluation.runs.coordinator import CellOutcome, Coordinator, Standing
from cheatsheet.evaluation.runs.rows import Row


class CellEngine(Protocol):
    """Lives cells.

    G1  Every cell is lived by `live_cell`, by one worker at a time, so that its rows are the same under any engine.
    G2  What a cell reports reaches the coordinator in this process, in the cell's own order, and is answered before
        its next question is asked.
    G3  A cell whose worker is lost is lived on by another, from its rows and its memory. One that is lost again and
        again without a new row is over, with a `WorkerLostError`.
    G4  A cell that fails is over, with its error; the others go on.
    G5  No cell is begun while the coordinator is closed.
    G6  Ctrl-C lets every worker end after the question that it is at, a second one at once; then KeyboardInterrupt is
        raised. (In one process alone, the first one ends it at once.)
    G7  However `run` ends, none of its workers is left.
    """

    def run(self, cells: Sequence[Cell], coordinator: Coordinator) -> None:
        """Live the cells, as many at once as the engine has workers, in this order; outcomes go to the coordinator."""
        ...


@dataclass(frozen=True, slots=True)
class Started:
    """A worker's message: a cell sets out. It is answered with a stage."""

    cell: str
    standing: Standing


@dataclass(frozen=True, slots=True)
class Kept:
    """A worker's message: a row is kept. It is answered with a stage."""

    cell: str
    row: Row


@dataclass(slots=True)
class _Losses:
    """How often a cell was lost, since it had so many rows."""

    done: int
    count: int = 0


@dataclass(slots=True)
class Waiting:
    """The cells that are to be given to workers.

    Attributes:
        most_losses: so often a cell may be lost without a new row before it is given up.
    """

    cells: deque[Cell]
    coordinator: Coordinator
    most_losses: int
    _losses: dict[str, _Losses] = field(default_factory=dict)

    def next(self) -> Cell | None:
        """The next cell to be lived; None where there is none, or the coordinator is closed."""
        return self.cells.popleft() if self.cells and not self.coordinator.closed else None

    def lost(self, cell: Cell, why: str) -> None:
        """The worker of a cell is gone: it comes first again, or is given up."""
        done = self.coordinator.standings[cell.name].done
        losses = self._losses.setdefault(cell.name, _Losses(done))
        if done > losses.done:
            losses.done, losses.count = done, 0
        losses.count += 1
        if self.coordinator.closed:
            return
        if losses.count > self.most_losses:
            self.coordinator.over(CellOutcome(cell=cell.name, error=_given_up(why, losses)))
        else:
            self.coordinator.note(
                f"The worker of {cell.name} was lost ({why}); another goes on after {done} questions."
            )
            self.cells.appendleft(cell)


def _given_up(why: str, losses: _Losses) -> WorkerLostError:
    return WorkerLostError(
        f"Its worker was lost {losses.count} times after {losses.done} questions ({why}). Was there too little memory? "
        f"What is done is kept: try --resume with fewer --workers."
    )


@dataclass(slots=True)
class Interrupts:
    """How often Ctrl-C was pressed."""

    count: int = 0


@contextmanager
def counted_interrupts() -> Iterator[Interrupts]:
    """Count Ctrl-C in this block in place of raising it, which could tear a message to or from a worker apart.

    Outside the main thread, where Python delivers none, nothing is changed.
    """
    seen = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield seen
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.count += 1

    before = signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def ignored_interrupts() -> Iterator[None]:
    """Let processes that are started in this block ignore Ctrl-C from their first moment."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


STOPPING = "Stopping: every worker ends after the question that it is at. Ctrl-C once more stops at once."
