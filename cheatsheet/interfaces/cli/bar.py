"""How far something long has come, on stderr."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cheatsheet.interfaces.cli.output import print_note

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """A bar on a terminal, and elsewhere a line at every tenth; nothing for what is done at once.

    Call it with how much is done and how much there is.

    Args:
        what: goes on, with the unit of what is counted.
    """

    def __init__(self, what: str, unit: str) -> None:
        self._what = what
        self._unit = unit
        self._shown: tuple[Progress, TaskID] | None = None
        self._told = 0
        self._begun = False

    def __call__(self, done: int, total: int) -> None:
        if done >= total and not self._begun:
            return
        self._begun = True
        if sys.stderr.isatty():
            self._draw(done, total)
        elif (tenth := 10 * done // max(total, 1)) > self._told:
            self._told = tenth
            print_note(f"{self._what}: {done:,} of {total:,} {self._unit}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown[0].stop()

    def _draw(self, done: int, total: int) -> None:
        if self._shown is None:
            self._shown = _drawn(self._what)
        bars, bar = self._shown
        bars.update(bar, completed=done, total=total)


def _drawn(what: str) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import Progress

    bars = Progress(console=Console(stderr=True), transient=True)
    bars.start()
    return bars, bars.add_task(what)
