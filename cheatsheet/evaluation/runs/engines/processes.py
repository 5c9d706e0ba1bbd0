"""Cells in several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import cast

from cheatsheet.evaluation.runs.cell import Cell
from cheatsheet.evaluation.runs.coordinator import CellOutcome, Coordinator
from cheatsheet.evaluation.runs.engines.base import (
    STOPPING,
    Interrupts,
    Kept,
    Started,
    Waiting,
    counted_interrupts,
    ignored_interrupts,
)
from cheatsheet.evaluation.runs.engines.worker import Message, work

# What the libraries that compute read when they are loaded; tokenizers reads the second.
_THREADS = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS")
_LOOK_UP_S = 0.2  # how long a second Ctrl-C may go unnoticed
_LEAVE_S = 10.0  # for a worker without a cell to end by itself


@dataclass(slots=True, kw_only=True)
class _Worker:
    """One process, its pipe, and the cell that it lives."""

    process: BaseProcess
    pipe: Connection
    cell: Cell

    def read(self) -> Message | None:
        """What it sent; None where it is gone."""
        try:
            return cast("Message", self.pipe.recv())
        except (EOFError, OSError):
            return None

    def send(self, answer: object) -> None:
        """Where it is gone, that is seen at the next reading."""
        try:
            self.pipe.send(answer)
        except OSError:
            return

    def kill(self) -> str:
        """End it now, and say how it had ended."""
        self.process.kill()
        self.process.join()
        self.pipe.close()
        code = self.process.exitcode or 0
        return f"signal {-code}" if code < 0 else f"exit code {code}"


@dataclass(slots=True, kw_only=True)
class Processes:
    """A `CellEngine` of `workers` processes of this machine.

    Processes are spawned, not forked: models and indexes run threads, which a fork would leave half there. A script of
    your own that uses this needs the usual `if __name__ == "__main__":`. Cells are pickled, so that `open_memory` must
    be something that can be: an instance of a class of a module, no lambda.

    Every worker is given its share of the cores (OMP_NUM_THREADS, RAYON_NUM_THREADS) unless you set them: as many
    threads as cores in each would slow all of them down.

    Attributes:
        most_losses: so often a cell may lose its worker without a new row (G3).
    """

    workers: int
    most_losses: int = 2
    _crew: list[_Worker] = field(default_factory=list, init=False)
    _leaving: list[_Worker] = field(default_factory=list, init=False)

    def run(self, cells: Sequence[Cell], coordinator: Coordinator) -> None:
        """Live the cells; see `CellEngine`."""
        waiting = Waiting(deque(cells), coordinator, self.most_losses)
        try:
            with counted_interrupts() as interrupts:
                self._live(waiting, coordinator, interrupts)
            if interrupts.count:
                raise KeyboardInterrupt
        finally:
            self._dismiss()

    def _live(self, waiting: Waiting, coordinator: Coordinator, interrupts: Interrupts) -> None:
        self._hire(waiting)
        while self._crew:
            for pipe in wait([worker.pipe for worker in self._crew], timeout=_LOOK_UP_S):
                self._serve(next(worker for worker in self._crew if worker.pipe is pipe), waiting, coordinator)
            if interrupts.count and not coordinator.closed:
                coordinator.stop()
                coordinator.note(STOPPING)
            if interrupts.count > 1:
                return
            self._hire(waiting)

    def _hire(self, waiting: Waiting) -> None:
        """A new worker for every cell that waits, as long as there is room."""
        while len(self._crew) < self.workers and (cell := waiting.next()) is not None:
            self._crew.append(_begin(cell, of=self.workers))
            self._crew[-1].send(cell)

    def _serve(self, worker: _Worker, waiting: Waiting, coordinator: Coordinator) -> None:
        match worker.read():
            case Started(cell, standing):
                worker.send(coordinator.start(cell, standing))
            case Kept(cell, row):
                worker.send(coordinator.row(cell, row))
            case CellOutcome() as outcome:
                coordinator.over(outcome)
                self._next(worker, waiting)
            case None:
                self._crew.remove(worker)
                waiting.lost(worker.cell, worker.kill())

    def _next(self, worker: _Worker, waiting: Waiting) -> None:
        """Give a worker another cell, or let it go."""
        cell = waiting.next()
        worker.send(cell)
        if cell is not None:
            worker.cell = cell
        else:
            self._crew.remove(worker)
            self._leaving.append(worker)

    def _dismiss(self) -> None:
        """End all workers: those that live a cell now, those without one when they are ready."""
        while self._crew:
            self._crew.pop().kill()
        while self._leaving:
            worker = self._leaving.pop()
            worker.process.join(_LEAVE_S)
            worker.kill()


def _begin(cell: Cell, *, of: int) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs,), daemon=True)
    with ignored_interrupts(), _shared_cores(of):
        process.start()
    theirs.close()  # so that ours is closed when the worker ends
    return _Worker(process=process, pipe=ours, cell=cell)


@contextmanager
def _shared_cores(workers: int) -> Iterator[None]:
    """Let processes that are started here have no more threads than their share of the cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    own = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(own, str(max(1, cores // workers))))
    try:
        yield
    finally:
        for name in own:
            del os.environ[name]
