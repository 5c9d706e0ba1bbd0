"""Runs: every arm is asked every question, in order, and can be stopped at any moment without loss.

A row is made before its turn is committed, is committed with the turn in one transaction, and is then appended to
`rows.jsonl`. After a crash, what the memory has and the file lacks is appended from the memory; what neither has is
asked. So rows and memory become those of a run that was never interrupted, and no answer is paid for twice.

`run` makes one run in this process; `grid.run_grid` makes many, in as many processes as is wished.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from cheatsheet.evaluation.runs.grid import Planned, run_grid
from cheatsheet.evaluation.runs.progress import Progress
from cheatsheet.evaluation.runs.protocol import OpenMemory
from cheatsheet.evaluation.runs.results import RunResult
from cheatsheet.evaluation.runs.spec import RunSpec
from cheatsheet.evaluation.task import Task


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
    planned = Planned(spec=spec, task=task, folder=Path(folder), open_memory=open_memory)
    result = run_grid((planned,), resume=resume, retry_failed=retry_failed, progress=progress, check=check, clock=clock)
    return result.runs[0]
