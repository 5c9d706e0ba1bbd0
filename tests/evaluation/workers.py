"""A memory that can be opened in any process, and what is to happen in there, told by files."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from cheatsheet.errors import ModelAuthError, StoreReadOnlyError
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spec import ArmSpec
from tests.evaluation.fakes import FakeMemory, Moment, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """What is to happen to questions, and what has: files in one folder, seen by all processes.

    An event is named after its turn: `before-commit retrieval:2` kills the worker that comes there, once;
    `always retrieval:2` kills every one; `hang retrieval:2` lets the call never come back; `key retrieval:2` refuses
    the key.
    """

    folder: Path

    def plan(self, what: str) -> None:
        (self.folder / what).touch()

    def planned(self, what: str) -> bool:
        return (self.folder / what).exists()

    def once(self, what: str) -> bool:
        path = self.folder / what
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        return True

    def note(self, file: str, line: str) -> None:
        with (self.folder / file).open("a", encoding="utf-8") as log:
            log.write(line + "\n")

    def noted(self, file: str) -> list[str]:
        path = self.folder / file
        return path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """Opens the fake memory of the tests; can be pickled."""

    events: Events

    def __call__(self, arm: ArmSpec, path: Path) -> FakeMemory:
        if self.events.planned(f"broken {arm.name}"):
            raise StoreReadOnlyError(f"{path} cannot be written.")
        self.events.note("opened", f"{arm.mode} {path.parent.name}")
        return PlannedMemory(path, self.events)


class PlannedMemory(FakeMemory):
    """A fake memory whose process lives and dies by plan."""

    def __init__(self, path: Path, events: Events) -> None:
        super().__init__(path, World())
        self._events = events

    def _die(self, turn_id: str, moment: Moment) -> None:
        if moment == "before-commit":
            self._asked(turn_id)
        if self._events.planned(f"always {turn_id}") or self._events.once(f"{moment} {turn_id}"):
            os.kill(os.getpid(), signal.SIGKILL)

    def _asked(self, turn_id: str) -> None:
        self._events.note("asked", turn_id)
        self._events.note("workers", str(os.getpid()))
        if self._events.planned(f"key {turn_id}"):
            raise ModelAuthError("the key was revoked")
        while self._events.planned(f"hang {turn_id}"):
            time.sleep(0.02)


class Listener:
    """Notes what it is told, and calls the user's hand to Ctrl-C at rows that are planned."""

    def __init__(self, *, interrupt_at: tuple[int, ...] = ()) -> None:
        self.started: list[str] = []
        self.rows: list[str] = []
        self.notes: list[str] = []
        self.finished = 0
        self._interrupt_at = interrupt_at

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None:
        self.started.append(f"{arm} {done}/{total}")

    def row(self, arm: str, row: Row) -> None:
        self.rows.append(f"{arm} {row.id}")
        if len(self.rows) in self._interrupt_at:
            os.kill(os.getpid(), signal.SIGINT)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def finish(self) -> None:
        self.finished += 1
