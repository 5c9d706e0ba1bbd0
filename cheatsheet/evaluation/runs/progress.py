"""Telling how far a run has come, on standard error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

from cheatsheet.evaluation.runs.rows import Row

if TYPE_CHECKING:
    from rich.progress import Progress as RichBars
    from rich.progress import TaskID

# A screen has room for so many bars; those that are full make way.
_MOST_BARS = 12


class Progress(Protocol):
    """Is told of every arm and every row; `finish` comes last, also when the run breaks off.

    Several arms may be under way at once, so that each is named. An arm that is started again goes on from there.
    """

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None: ...

    def row(self, arm: str, row: Row) -> None: ...

    def note(self, text: str) -> None:
        """Something that the user should know at once."""
        ...

    def finish(self) -> None: ...


class Silence:
    """Tells nothing."""

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None: ...

    def row(self, arm: str, row: Row) -> None: ...

    def note(self, text: str) -> None: ...

    def finish(self) -> None: ...


@dataclass(slots=True)
class _Count:
    """Questions of one arm."""

    total: int
    done: int
    correct: int

    def add(self, row: Row) -> None:
        self.done += 1
        self.correct += row.correct

    @property
    def full(self) -> bool:
        return self.done >= self.total

    def __str__(self) -> str:
        share = f", {100 * self.correct / self.done:.1f} % right so far" if self.done else ""
        return f"{self.done} of {self.total}{share}"


class Lines:
    """One line for every so many questions of an arm, for logs and pipes."""

    def __init__(self, stream: TextIO, *, every: int = 10) -> None:
        self._stream = stream
        self._every = every
        self._counts: dict[str, _Count] = {}

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None:
        self._counts[arm] = _Count(total, done, correct)
        self.note(f"{arm}: {self._counts[arm]}")

    def row(self, arm: str, row: Row) -> None:
        count = self._counts[arm]
        count.add(row)
        if count.done % self._every == 0 or count.full:
            self.note(f"{arm}: {count}")

    def note(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def finish(self) -> None: ...


class Bars:
    """One bar for each arm, for terminals."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rich: RichBars | None = None
        self._counts: dict[str, _Count] = {}
        self._bars: dict[str, TaskID] = {}

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None:
        rich = self._shown()
        self._counts[arm] = _Count(total, done, correct)
        if arm not in self._bars:
            self._make_room(rich)
            self._bars[arm] = rich.add_task(arm, total=total, standing="")
        self._update(rich, arm)

    def row(self, arm: str, row: Row) -> None:
        self._counts[arm].add(row)
        self._update(self._shown(), arm)

    def note(self, text: str) -> None:
        self._shown().console.print(text, markup=False, highlight=False)

    def finish(self) -> None:
        if self._rich is not None:
            self._rich.stop()

    def _shown(self) -> RichBars:
        if self._rich is None:
            self._rich = _rich_bars(self._stream)
            self._rich.start()
        return self._rich

    def _update(self, rich: RichBars, arm: str) -> None:
        count = self._counts[arm]
        rich.update(self._bars[arm], completed=count.done, standing=str(count))

    def _make_room(self, rich: RichBars) -> None:
        """The first full bar goes, above the others, where the screen is full."""
        full = next((arm for arm in self._bars if self._counts[arm].full), None)
        if len(self._bars) >= _MOST_BARS and full is not None:
            rich.remove_task(self._bars.pop(full))
            self.note(f"{full}: {self._counts[full]}")


def progress_on(stream: TextIO) -> Progress:
    """Bars where `stream` is a terminal, lines where it is not."""
    return Bars(stream) if stream.isatty() else Lines(stream)


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
