"""Grids: many runs, found to be sound before the first question, stopped and resumed as one (cases N01, N02)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cheatsheet.errors import ModelAuthError, ModelRateError, ModelUnavailableError, RunStoppedError, TaskError
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.grid import Planned, run_grid
from cheatsheet.evaluation.runs.reading import find_runs
from cheatsheet.evaluation.runs.spec import TaskSpec
from cheatsheet.evaluation.task import Task
from tests.evaluation.fakes import World, letters, spec_for

TASK = letters(5)


def planned(folder: Path, world: World, name: str, task: Task = TASK, scorer: str = "exact") -> Planned:
    spec = spec_for(task, "default", "retrieval", model=name, scorer=scorer)
    return Planned(spec=spec, task=task, folder=folder / "out" / name, open_memory=world.open, name=name)


def two(folder: Path, world: World) -> list[Planned]:
    return [planned(folder, world, name) for name in ("one", "two")]


def test_runs_lie_side_by_side_and_are_found_again(tmp_path: Path) -> None:
    world = World()
    result = run_grid(two(tmp_path, world))
    assert world.asked == [f"{arm}:{place}" for arm in ("default", "retrieval") for place in range(1, 6)] * 2
    found = find_runs([tmp_path / "out"])
    assert [run.folder.name for run in found] == ["one", "two"]
    assert [[arm.rows for arm in run.arms] for run in found] == [[arm.rows for arm in run.arms] for run in result.runs]
    assert (result.done, result.total, result.scored, result.spent.cost_usd) == (20, 20, 20, 10.0)


def test_a_grid_grows(tmp_path: Path) -> None:
    """What is done is not asked again; what was not begun is begun. N02: sums include what was there."""
    world = World()
    run_grid(two(tmp_path, world))
    world.asked.clear()
    result = run_grid([*two(tmp_path, world), planned(tmp_path, world, "three")], resume=True)
    assert len(world.asked) == 10
    assert (result.done, result.spent.cost_usd) == (30, 15.0)


@pytest.mark.parametrize("trouble", ["scorer", "rows", "other", "check"])
def test_what_is_in_the_way_of_one_run_is_found_before_the_first_question(tmp_path: Path, trouble: str) -> None:
    world, folder = World(), tmp_path / "out" / "two"
    runs = two(tmp_path, world)
    if trouble == "scorer":
        runs[1] = planned(tmp_path, world, "two", scorer="number")
    if trouble == "rows":
        run_grid(runs[1:])
        (folder / "arms" / "retrieval" / "rows.jsonl").write_text("no row\n", encoding="utf-8")
    if trouble == "other":
        run_grid([replace(runs[1], spec=spec_for(TASK, "default", model="three"))])
    world.asked.clear()
    with pytest.raises((TaskError, ModelAuthError)):
        run_grid(runs, resume=True, check=_refuse if trouble == "check" else None)
    assert world.asked == []


def test_a_run_that_another_process_makes_stops_the_grid(tmp_path: Path) -> None:
    world = World()
    with RunFolder(path=tmp_path / "out" / "two").locked(), pytest.raises(TaskError, match="Another process"):
        run_grid(two(tmp_path, world))
    assert world.asked == []


def _refuse() -> None:
    raise ModelAuthError("no key")


def test_ctrl_c_counts_all_cells_also_those_that_had_not_begun(tmp_path: Path) -> None:
    """N01: what is left is found by ids, in every cell."""
    world = World(kill={"retrieval:2": ("before-commit", KeyboardInterrupt())})
    with pytest.raises(
        RunStoppedError, match=r"Stopped after 6 of 20 questions.*--resume --out .*out to go on"
    ) as stop:
        run_grid(two(tmp_path, world))
    assert stop.value.folder == tmp_path / "out"
    world.asked.clear()
    assert run_grid(two(tmp_path, world), resume=True).over
    assert len(world.asked) == 14


def test_a_failed_sample_is_a_row_and_may_be_retried(tmp_path: Path) -> None:
    """N04, N07: in every cell."""
    world = World(failures={"b": ModelRateError("slow down")})
    result = run_grid(two(tmp_path, world))
    assert (result.done, result.scored, result.over) == (20, 16, True)
    world.failures.clear()
    world.asked.clear()
    again = run_grid(two(tmp_path, world), resume=True, retry_failed=True)
    assert world.asked == ["default:2", "retrieval:2"] * 2
    assert (again.scored, again.done) == (20, 20)
    assert [row.error for row in again.runs[0].arms[0].rows] == [""] * 5


def test_when_every_call_of_all_runs_fails_there_is_no_score(tmp_path: Path) -> None:
    """N06."""
    world = World(failures={text: ModelUnavailableError("no connection") for text in "abcde"})
    assert run_grid(two(tmp_path, world)).scored == 0


def test_the_task_must_be_that_of_the_run(tmp_path: Path) -> None:
    world = World()
    spec = spec_for(TASK, "default").model_copy(update={"task": TaskSpec(name="letters", sha256="1" * 64)})
    run = Planned(spec=spec, task=TASK, folder=tmp_path / "run", open_memory=world.open)
    with pytest.raises(TaskError, match="do not fit"):
        run_grid([run])
    assert not (tmp_path / "run").exists()
