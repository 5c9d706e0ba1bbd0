"""Telling how far a run is."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cheatsheet.errors import ModelAuthError
from cheatsheet.evaluation.progress import Bars, Lines, Progress, progress_on
from cheatsheet.evaluation.rows import Row
from cheatsheet.evaluation.runner import run
from tests.evaluation.fakes import World, letters, spec_for
from tests.evaluation.test_metrics import rows_of
from tests.evaluation.test_report import Terminal


class Listener:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def start(self, arm: str, *, total: int, done: int, correct: int) -> None:
        self.told.append(f"{arm} {done}/{total} {correct} right")

    def row(self, row: Row) -> None:
        self.told.append(row.id)

    def finish(self) -> None:
        self.told.append("finish")


def test_a_pipe_gets_a_line_now_and_then() -> None:
    pipe = io.StringIO()
    progress = Lines(pipe, every=2)
    progress.start("retrieval", total=5, done=0, correct=0)
    for row in rows_of("+--!+"):
        progress.row(row)
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
            progress.row(row)
    progress.finish()
    assert "4 of 4, 50.0 % right so far" in terminal.getvalue()
    assert "retrieval" in terminal.getvalue()


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
