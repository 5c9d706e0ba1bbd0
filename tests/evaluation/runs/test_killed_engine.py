"""Kill -9 in the middle of a run of the real engine: resumed, rows and memory are those of a run without it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.engine.engine import Engine
from cheatsheet.evaluation.runs.protocol import Memory
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.runner import run
from cheatsheet.evaluation.runs.spec import ArmSpec
from cheatsheet.interfaces.wiring import open_memory
from cheatsheet.llm.model import Reply, Request
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.evaluation.fakes import spec_for
from tests.evaluation.runs.test_engine import TASK, Echo

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")

TIMES = {"at", "created_at", "updated_at", "last_used_at", "seconds"}


class Fatal(Echo):
    """Kills its own process, without any chance to clean up, when it is asked the n-th question."""

    def __init__(self, at_call: int) -> None:
        super().__init__()
        self._fatal = at_call

    def complete(self, request: Request) -> Reply:
        if self.calls + 1 == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().complete(request)


def open_arm(arm: ArmSpec, path: Path, model: Echo, die_after_commit: int = 0) -> Engine:
    settings: dict[str, Any] = {"embedder": "hashing", "reflector": "rules", "curator": "rules", "max_bullets": 1}
    engine = open_memory(path, mode=arm.mode, model=model, **settings)
    commits = 0

    def listener(event: object) -> None:
        nonlocal commits
        commits += type(event).__name__ == "CommitEvent"
        if commits and commits == die_after_commit:
            os.kill(os.getpid(), signal.SIGKILL)

    engine.events.listeners.append(listener)
    return engine


def live(folder: Path, mode: str, *, at_call: int = 0, after_commit: int = 0, resume: bool = False) -> tuple[Row, ...]:
    model = Fatal(at_call)

    def opener(arm: ArmSpec, path: Path) -> Memory:
        return open_arm(arm, path, model, after_commit)

    return run(spec_for(TASK, mode), TASK, opener, folder=folder, resume=resume).arms[0].rows


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(part) for key, part in value.items() if key not in TIMES}
    return [timeless(part) for part in value] if isinstance(value, list | tuple) else value


def memory_of(folder: Path, mode: str) -> Any:
    store = SqliteStore(folder / "arms" / mode / "memory.db")
    values: list[Any] = [*store.bullets("default", status=None), *store.experiences("default")]
    values += store.journal("default")
    store.close()
    return [timeless(value.model_dump(mode="json")) for value in values]


@pytest.mark.parametrize("mode", ["full-history", "cumulative", "retrieval"])
@pytest.mark.parametrize("death", [("at_call", 3), ("after_commit", 3)], ids=["while asking", "before the row"])
def test_killed_and_resumed_is_never_killed(tmp_path: Path, mode: str, death: tuple[str, int]) -> None:
    clean = live(tmp_path / "clean", mode)
    killed = tmp_path / "killed"
    what = f"live(Path({str(killed)!r}), {mode!r}, {death[0]}={death[1]})"
    code = f"from tests.evaluation.runs.test_killed_engine import *\n{what}"
    child = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False)
    assert child.returncode == -signal.SIGKILL
    resumed = live(killed, mode, resume=True)
    assert timeless([row.model_dump() for row in resumed]) == timeless([row.model_dump() for row in clean])
    assert memory_of(killed, mode) == memory_of(tmp_path / "clean", mode)
