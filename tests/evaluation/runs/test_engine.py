"""The engine is the memory that a run needs (promises R1 to R4), in every mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cheatsheet.engine.engine import Engine
from cheatsheet.errors import ModelRateError, RunStoppedError
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.runner import run
from cheatsheet.evaluation.runs.spec import ArmSpec
from cheatsheet.evaluation.task import Sample, Task
from cheatsheet.interfaces.wiring import open_memory
from cheatsheet.llm.model import Capabilities, Outcome, Reply, Request, Usage
from tests.evaluation.fakes import spec_for

if TYPE_CHECKING:
    from cheatsheet.evaluation.runs.protocol import Memory, OpenMemory

MODES = ("default", "full-history", "cumulative", "retrieval")
TEAMS = ("amber", "crimson")
TASK = Task(
    name="tickets",
    samples=tuple(
        Sample(id=f"t{place}", input=f"Ticket {place}: {what}", target=team, choices=TEAMS)
        for place, (what, team) in enumerate(
            [
                ("card charged twice", "amber"),
                ("parcel is lost", "crimson"),
                ("refund my card", "amber"),
                ("", "crimson"),
            ]
        )
    ),
    sha256="0" * 64,
)


class Echo:
    """Answers with the team that the prompt names most often; fails or stops the run where it is told to."""

    name = "echo"
    capabilities = Capabilities()

    def __init__(self, *, at: dict[int, BaseException] | None = None) -> None:
        self.calls = 0
        self._at = at or {}

    def complete(self, request: Request) -> Reply:
        self.calls += 1
        if self.calls in self._at:
            raise self._at[self.calls]
        text = " ".join(message["content"] for message in request.messages) + (request.prompt or "")
        team = max(TEAMS, key=text.count)
        return Reply(text=team, outcome=Outcome.OK, model=self.name, usage=Usage(prompt_tokens=len(text), calls=1))


def fits(engine: Engine) -> Memory:
    """Held by mypy: an engine is all that a run asks of a memory."""
    return engine


def _opener(model: Echo) -> OpenMemory:
    def open_arm(arm: ArmSpec, path: Path) -> Memory:
        return fits(
            open_memory(path, mode=arm.mode, model=model, embedder="hashing", reflector="rules", curator="rules")
        )

    return open_arm


def _timeless(rows: tuple[Row, ...]) -> list[Row]:
    return [row.model_copy(update={"seconds": 0.0}) for row in rows]


@pytest.mark.parametrize("mode", MODES)
def test_a_stopped_run_of_the_engine_becomes_the_run_that_was_not(tmp_path: Path, mode: str) -> None:
    spec = spec_for(TASK, mode)
    clean = run(spec, TASK, _opener(Echo()), folder=tmp_path / "clean").arms[0]
    model = Echo(at={3: KeyboardInterrupt()})
    with pytest.raises(RunStoppedError, match="Stopped after 2 of 4"):
        run(spec, TASK, _opener(model), folder=tmp_path / "stopped")
    (tmp_path / "stopped" / "arms" / mode / "rows.jsonl").unlink()
    resumed = run(spec, TASK, _opener(model), folder=tmp_path / "stopped", resume=True).arms[0]
    assert model.calls == 5  # four answers, and the one that was stopped
    assert _timeless(resumed.rows) == _timeless(clean.rows)
    assert resumed.memory is not None
    assert clean.memory is not None
    assert resumed.memory == clean.memory


def test_a_failed_call_leaves_the_engine_as_it_was(tmp_path: Path) -> None:
    model = Echo(at={2: ModelRateError("slow down")})
    arm = run(spec_for(TASK, "full-history"), TASK, _opener(model), folder=tmp_path).arms[0]
    assert [bool(row.error) for row in arm.rows] == [False, True, False, False]
    assert arm.memory is not None
    assert arm.memory.experiences == 3


@pytest.mark.parametrize(("mode", "shown"), [("default", [0, 0, 0, 0]), ("full-history", [0, 1, 2, 3])])
def test_a_row_tells_what_was_shown(tmp_path: Path, mode: str, shown: list[int]) -> None:
    arm = run(spec_for(TASK, mode), TASK, _opener(Echo()), folder=tmp_path).arms[0]
    assert [row.experiences for row in arm.rows] == shown
    assert [row.context_tokens > 0 for row in arm.rows] == [count > 0 for count in shown]
