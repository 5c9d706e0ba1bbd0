"""Telling how far a run is."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cheatsheet.errors import ModelAuthError
from cheatsheet.evaluation.runs.progress import Bars, Lines, Progress, progress_on
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.runner import run
from tests.evaluation.fakes import World, letters, spec_for
from tests.evaluation.reports.test_report import Terminal
from tests.evaluation.streams import rows_of


class Listener:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None:
        self.told.append(f"{arm} {done}/{total} {correct} right")

    def row(self, arm: str, row: Row) -> None:
        self.told.append(row.id)

    def note(self, text: str) -> None:
        self.told.append(text)

    def finish(self) -> None:
        self.told.append("finish")


def test_a_pipe_gets_a_line_now_and_then() -> None:
    pipe = io.StringIO()
    progress = Lines(pipe, every=2)
    progress.start("retrieval", total=5, done=0, correct=0)
    for row in rows_of("+--!+"):
        progress.row("retrieval", row)
    progress.finish()
    assert pipe.getvalue().splitlines() == [
        "retrieval: 0 of 5",
        "retrieval: 2 of 5, 50.0 % right so far",
        "retrieval: 4 of 5, 25.0 % right so far",
        "retrieval: 5 of 5, 40.0 % right so far",
    ]


def test_a_terminal_gets_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    progress = progress_on(terminal)
    assert isinstance(progress, Bars)
    for arm in ("default", "retrieval"):
        progress.start(arm, total=4, done=1, correct=1)
        for row in rows_of("+--"):
            progress.row(arm, row)
    progress.finish()
    assert "4 of 4, 50.0 % right so far" in terminal.getvalue()
    assert "retrieval" in terminal.getvalue()


def test_several_arms_are_under_way_at_once() -> None:
    pipe = io.StringIO()
    progress = Lines(pipe, every=2)
    for arm in ("one/default", "two/default"):
        progress.start(arm, total=2, done=0, correct=0)
    for arm, marks in (("one/default", "+"), ("two/default", "-+"), ("one/default", "+")):
        for row in rows_of(marks):
            progress.row(arm, row)
    progress.note("a worker was lost")
    assert pipe.getvalue().splitlines()[2:] == [
        "two/default: 2 of 2, 50.0 % right so far",
        "one/default: 2 of 2, 100.0 % right so far",
        "a worker was lost",
    ]


def test_full_bars_make_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what they said stays to be read above the others; an arm that starts again keeps its bar."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    progress = Bars(terminal)
    for number in range(13):
        for _ in range(2):
            progress.start(f"arm {number}", total=1, done=0, correct=0)
        for row in rows_of("+" if number == 0 else ""):
            progress.row(f"arm {number}", row)
    progress.note("a worker was lost")
    progress.finish()
    assert "arm 0: 1 of 1, 100.0 % right so far" in terminal.getvalue()
    assert "a worker was lost" in terminal.getvalue()


def test_a_pipe_is_no_terminal() -> None:
    assert isinstance(progress_on(io.StringIO()), Lines)


@pytest.mark.parametrize("progress", [Lines(io.StringIO()), Bars(io.StringIO())])
def test_finishing_what_was_never_started(progress: Progress) -> None:
    progress.finish()


def test_a_run_tells_where_it_starts_and_that_it_ends(tmp_path: Path) -> None:
    task, world, first, second = letters(3), World(failures={"c": ModelAuthError("no key")}), Listener(), Listener()
    with pytest.raises(ModelAuthError, match="no key"):
        run(spec_for(task), task, world.open, folder=tmp_path, progress=first)
    assert first.told == ["retrieval 0/3 0 right", "1", "2", "finish"]
    world.failures.clear()
    run(spec_for(task), task, world.open, folder=tmp_path, progress=second, resume=True)
    assert second.told == ["retrieval 2/3 2 right", "3", "finish"]
