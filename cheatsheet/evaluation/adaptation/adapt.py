"""Offline adaptation: several epochs over a training file, judged on a validation file, the best memory kept.

This is ACE's offline setting (arXiv 2510.04618, section 4): the memory learns from every training question, epoch after
epoch, and is then used as it is. Each epoch's memory answers the validation questions without learning. In the end the
memory of the best epoch is fetched back from its journal; what was learnt since is archived, not lost.

Like a run, an adaptation can be stopped at any moment. Rows of training are committed with their turns, rows of
validation and the steps of the adaptation are on the disk before the next question is asked, so that whoever resumes
pays for no answer twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cheatsheet.errors import RunStoppedError, TaskError
from cheatsheet.evaluation.adaptation.course import Adaptation, Course
from cheatsheet.evaluation.adaptation.steps import Steps
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.progress import Progress, Silence
from cheatsheet.evaluation.runs.protocol import Learner
from cheatsheet.evaluation.runs.spec import AdaptSpec, TaskSpec
from cheatsheet.evaluation.runs.stream import Job
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Task


def _now() -> datetime:
    return datetime.now(UTC)


def adapt(
    memory: Learner,
    train: Task,
    validation: Task | None = None,
    test: Task | None = None,
    *,
    folder: str | Path,
    epochs: int = 3,
    scorer: str = "exact",
    batch_size: int = 1,
    setup: Mapping[str, Any] | None = None,
    resume: bool = False,
    memory_shown: str = "given",
    progress: Progress | None = None,
    check: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    now: Callable[[], datetime] = _now,
) -> Adaptation:
    """Let a memory learn from a training file, and keep what it knew after its best epoch.

    Args:
        memory: learns; the engine that is open.
        validation: questions that judge every epoch; without them the memory of the last epoch is kept.
        test: questions that measure the memory before it learns and as it is kept; nothing is chosen by them.
        folder: holds rows and steps; made if need be.
        batch_size: so many questions are answered with the same memory, then learnt together.
        setup: what else changes the results, such as the model; it must be the same on a resume. No keys in here.
        resume: go on with the adaptation in `folder`; where none was begun, begin it.
        memory_shown: where the memory is, as the user knows it, for messages.
        check: called before anything is written or asked; raises what stops the adaptation, such as a missing key.
        clock: seconds, for the time that a failed call took.
        now: the time at which it is begun; it tells two adaptations of one memory apart.

    Raises:
        TaskError: the tasks, the folder or what is in it cannot be used.
        RunStoppedError: the user stopped it.
        ModelAuthError: the provider refused the key.
        StoreError: the memory could not be written.
    """
    if min(epochs, batch_size) < 1:
        raise TaskError(f"epochs is {epochs} and batch_size is {batch_size}; both must be 1 or more.")
    judge = scorer_for(scorer)
    judge.check(sample for task in (train, validation, test) if task for sample in task.samples)
    told = progress or Silence()
    job = Job(samples=(), scorer=judge, retry_failed=False, progress=told, clock=clock, batch_size=batch_size)
    if check is not None:
        check()
    wanted = AdaptSpec(
        train=TaskSpec.of(train),
        validation=TaskSpec.of(validation) if validation else None,
        test=TaskSpec.of(test) if test else None,
        epochs=epochs,
        batch_size=batch_size,
        scorer=scorer,
        setup=dict(setup or {}),
        created_at=now(),
    )
    place = RunFolder(path=Path(folder))
    with place.locked():
        spec = place.begin(wanted, resume=resume)
        course = Course(
            memory=memory,
            memory_shown=memory_shown,
            spec=spec,
            folder=place.path,
            steps=Steps(place.path / "steps.jsonl"),
            train=train,
            validation=validation,
            test=test,
            job=job,
        )
        return _run(course)


def _run(course: Course) -> Adaptation:
    try:
        return course.run()
    except KeyboardInterrupt as stop:
        raise RunStoppedError(course.folder, done=course.done, total=course.total) from stop
    finally:
        course.job.progress.finish()
