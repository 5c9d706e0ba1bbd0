"""Whatever ends a run, and wherever: resumed, it is the run that was never interrupted (cases N03, N07, S06)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import ModelRateError
from cheatsheet.evaluation import jsonl
from cheatsheet.evaluation.runs.results import RunResult
from cheatsheet.evaluation.runs.runner import run
from cheatsheet.evaluation.task import Task
from tests.evaluation.fakes import Killed, World, letters, memory_content, spec_for

ARMS = ("default", "retrieval")


class TornAppender(jsonl.Appender):
    """Writes a part of a chosen line, then the process ends."""

    at = 0
    part: int | None = 0

    def append(self, value: Any) -> None:
        cls = type(self)
        cls.at -= 1
        if cls.at == 0:
            line = jsonl.encode(value)
            self._file.write(line[: cls.part])
            self._file.flush()
            raise Killed
        super().append(value)


def _run(folder: Path, world: World, task: Task, *, resume: bool) -> RunResult:
    return run(spec_for(task, *ARMS), task, world.open, folder=folder, resume=resume, clock=lambda: 0.0)


def _contents(folder: Path) -> list[Any]:
    """Rows by question, and the memory, of every arm; nothing in them depends on the time."""
    arms = [folder / "arms" / arm for arm in ARMS]
    rows = [jsonl.parse((arm / "rows.jsonl").read_bytes(), source="rows").records for arm in arms]
    return [
        [sorted((record.value for record in records), key=lambda row: row["position"]) for records in rows],
        [memory_content(arm / "memory.db") for arm in arms],
    ]


@st.composite
def _crashes(draw: st.DrawFn) -> tuple[str, int, int]:
    moment = draw(st.sampled_from(["before-commit", "after-commit", "in-append"]))
    return moment, draw(st.integers(1, 8)), draw(st.integers(0, 700))


def _crash(folder: Path, world: World, task: Task, crash: tuple[str, int, int | None], *, resume: bool) -> None:
    """Run until the process ends at the moment given, or to the end where that moment does not come."""
    moment, place, part = crash
    world.kill.clear()
    with pytest.MonkeyPatch.context() as patch:
        if moment == "in-append":
            patch.setattr(jsonl, "Appender", type("Torn", (TornAppender,), {"at": place, "part": part}))
        else:
            arm, number = ARMS[(place - 1) // 4], (place - 1) % 4 + 1
            world.kill[f"{arm}:{number}"] = (moment, Killed())  # type: ignore[assignment]  # the third was taken above
        try:
            _run(folder, world, task, resume=resume)
        except Killed:
            return
        finally:
            world.kill.clear()


@settings(max_examples=30)
@given(st.lists(_crashes(), max_size=5), st.sets(st.sampled_from("abcd"), max_size=2))
def test_a_run_that_crashed_anywhere_becomes_the_run_that_did_not(
    crashes: list[tuple[str, int, int]], failing: set[str]
) -> None:
    task = letters(4)
    failures = {text: ModelRateError("slow down") for text in failing}
    with tempfile.TemporaryDirectory() as name:
        crashed, clean = Path(name, "crashed"), Path(name, "clean")
        world = World(failures=dict(failures))
        for crash in crashes:
            _crash(crashed, world, task, crash, resume=True)
        result = _run(crashed, world, task, resume=True)
        expected = _run(clean, World(failures=dict(failures)), task, resume=False)
        assert [arm.rows for arm in result.arms] == [arm.rows for arm in expected.arms]
        assert _contents(crashed) == _contents(clean)
        _no_answer_was_paid_for_twice(world, crashes, failing)


def _no_answer_was_paid_for_twice(world: World, crashes: list[tuple[str, int, int]], failing: set[str]) -> None:
    lost = sum(moment == "before-commit" for moment, *_ in crashes)  # the answer never reached the memory
    lost += len(failing) * sum(moment == "in-append" for moment, *_ in crashes)  # nor does a failed call
    assert len(world.asked) - len(set(world.asked)) <= lost


@pytest.mark.parametrize(("part", "torn", "restored"), [(0, 0, 1), (1, 1, 1), (40, 1, 1), (-1, 0, 0), (None, 0, 0)])
def test_an_answer_whose_row_was_torn_is_taken_from_the_memory(
    tmp_path: Path, part: int | None, torn: int, restored: int
) -> None:
    """S06: the torn line is told and set aside, and nothing is glued to it. A row that lacks its line feed is whole."""
    task, world = letters(4), World()
    _crash(tmp_path, world, task, ("in-append", 2, part), resume=False)
    result = _run(tmp_path, world, task, resume=True)
    assert world.asked == [f"{arm}:{place}" for arm in ARMS for place in range(1, 5)]
    assert [row.id for row in result.arms[0].rows] == ["1", "2", "3", "4"]
    assert [sum(word in note for note in result.arms[0].notes) for word in ("torn", "restored")] == [torn, restored]
    assert (tmp_path / "arms" / "default" / "rows.jsonl.torn").exists() == bool(torn)


_CHILD = """
import os, signal, sys
from pathlib import Path
from cheatsheet.evaluation.runs.runner import run
from tests.evaluation.fakes import FakeMemory, World, letters, spec_for

class Dying(FakeMemory):
    def _die(self, turn_id, moment):
        if (turn_id, moment) == ("retrieval:3", sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

task, world = letters(4), World()
run(spec_for(task), task, lambda arm, path: Dying(path, world), folder=Path(sys.argv[1]), clock=lambda: 0.0)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@pytest.mark.parametrize(("moment", "asked"), [("before-commit", ["3", "4"]), ("after-commit", ["4"])])
def test_a_process_that_is_killed_leaves_a_run_that_can_be_resumed(
    tmp_path: Path, moment: str, asked: list[str]
) -> None:
    """The lock goes with the process, and the memory decides what was answered."""
    root = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": str(root)}
    child = [sys.executable, "-c", _CHILD, str(tmp_path / "killed"), moment]
    assert subprocess.run(child, env=environment, check=False).returncode == -signal.SIGKILL
    task, world = letters(4), World()
    resumed = run(spec_for(task), task, world.open, folder=tmp_path / "killed", resume=True, clock=lambda: 0.0)
    clean = run(spec_for(task), task, World().open, folder=tmp_path / "clean", clock=lambda: 0.0)
    assert world.asked == [f"retrieval:{id}" for id in asked]
    assert resumed.arms[0].rows == clean.arms[0].rows
