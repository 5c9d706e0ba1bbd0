"""What runs in the worker processes of `processes`: cells come in through a pipe, reports go out, and are answered.

A worker that loses its driver finds the pipe closed when it reports its next row, and ends; that row is kept by then.
"""

from __future__ import annotations

import pickle
import signal
import traceback
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import cast

from cheatsheet.evaluation.runs.cell import Cell, attempt
from cheatsheet.evaluation.runs.coordinator import CellOutcome, Standing
from cheatsheet.evaluation.runs.engines.base import Kept, Started
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spending import Stage

Message = Started | Kept | CellOutcome
"""What a worker sends. After an outcome it waits for the next cell, or None."""


class PipedReports:
    """The coordinator as it is seen through the pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def start(self, cell: str, standing: Standing) -> Stage:
        """As `Reports` says."""
        return self._ask(Started(cell, standing))

    def row(self, cell: str, row: Row) -> Stage:
        """As `Reports` says."""
        return self._ask(Kept(cell, row))

    def _ask(self, message: Started | Kept) -> Stage:
        self._pipe.send(message)
        return cast("Stage", self._pipe.recv())


def work(pipe: Connection) -> None:
    """Live the cells that come, until None comes or the driver is gone.

    Ctrl-C is the driver's matter: a terminal sends it to all processes of a command.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    coordinator = PipedReports(pipe)
    try:
        while (cell := cast("Cell | None", pipe.recv())) is not None:
            pipe.send(portable(attempt(cell, coordinator)))
    except (EOFError, OSError):
        return


def portable(outcome: CellOutcome) -> CellOutcome:
    """The outcome with an error that can be pickled, and that brings its traceback as a note."""
    if outcome.error is None:
        return outcome
    return replace(outcome, error=_portable(outcome.error))


def _portable(error: Exception) -> Exception:
    """The error itself, or else the nearest of its kinds that is made of one sentence."""
    trace = "".join(traceback.format_exception(error))
    for kind in (kind for kind in type(error).__mro__ if issubclass(kind, Exception)):
        try:
            copy = pickle.loads(pickle.dumps(error if kind is type(error) else kind(str(error))))
        except Exception:  # whatever an error's own pickling raises, the next kind is tried; `Exception` itself can
            continue
        copy.add_note(f"In a worker process:\n{trace}")
        return cast("Exception", copy)
    raise AssertionError("an Exception can always be made of a sentence")
