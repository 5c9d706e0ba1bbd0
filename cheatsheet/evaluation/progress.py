"""Telling how far a run has come, on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TextIO

from cheatsheet.evaluation.rows import Row

if TYPE_CHECKING:
    from rich.progress import Progress as RichBars
    from rich.progress import TaskID


class Progress(Protocol):
    """Is told of every arm and every row; `finish` comes last, also when the run breaks off."""

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None: ...

    def row(self, row: Row) -> None: ...

    def finish(self) -> None: ...


class Silence:
    """Tells nothing."""

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None: ...

    def row(self, row: Row) -> None: ...

    def finish(self) -> None: ...


class Lines:
    """One line for every so many questions, for logs and pipes."""

    def __init__(self, stream: TextIO, *, every: int = 10) -> None:
        self._stream = stream
        self._every = every
        self._arm = ""
        self._total = self._done = self._correct = 0

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None:
        self._arm, self._total, self._done, self._correct = arm, total, done, correct
        self._tell()

    def row(self, row: Row) -> None:
        self._done += 1
        self._correct += row.correct
        if self._done % self._every == 0 or self._done == self._total:
            self._tell()

    def finish(self) -> None: ...

    def _tell(self) -> None:
        print(f"{self._arm}: {_standing(self._done, self._total, self._correct)}", file=self._stream, flush=True)


class Bars:
    """One bar for each arm, for terminals."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bars: RichBars | None = None
        self._task: TaskID | None = None
        self._total = self._done = self._correct = 0

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None:
        if self._bars is None:
            self._bars = _rich_bars(self._stream)
            self._bars.start()
        self._total, self._done, self._correct = total, done, correct
        self._task = self._bars.add_task(arm, total=total, completed=done, standing=self._standing())

    def row(self, row: Row) -> None:
        self._done += 1
        self._correct += row.correct
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, completed=self._done, standing=self._standing())

    def finish(self) -> None:
        if self._bars is not None:
            self._bars.stop()

    def _standing(self) -> str:
        return _standing(self._done, self._total, self._correct)


def progress_on(stream: TextIO) -> Progress:
    """Bars where `stream` is a terminal, lines where it is not."""
    return Bars(stream) if stream.isatty() else Lines(stream)


def _standing(done: int, total: int, correct: int) -> str:
    share = f", {100 * correct / done:.1f} % right so far" if done else ""
    return f"{done} of {total}{share}"


def _rich_bars(stream: TextIO) -> RichBars:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[standing]}", markup=False),
        TimeElapsedColumn(),
        console=Console(file=stream),
    )
