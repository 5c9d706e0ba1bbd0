"""Budgets, and the ladder down from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import ModelUnavailableError, SetupError, TaskError
from cheatsheet.evaluation.runs.coordinator import CellOutcome, Coordinator, Standing
from cheatsheet.evaluation.runs.engines.base import CellEngine
from cheatsheet.evaluation.runs.engines.processes import Processes
from cheatsheet.evaluation.runs.engines.sequential import Sequential
from cheatsheet.evaluation.runs.grid import GridResult, Planned, run_grid
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spec import ArmSpec
from cheatsheet.evaluation.runs.spending import Budget, Stage, cheaper
from cheatsheet.llm.model import Usage
from tests.evaluation.fakes import World, letters, spec_for
from tests.evaluation.workers import Events, Listener, Opener

TASK = letters(10)  # each question takes 12 tokens and 0.5 dollars


@pytest.fixture
def events(tmp_path: Path) -> Events:
    folder = tmp_path / "events"
    folder.mkdir()
    return Events(folder=folder)


def grid(folder: Path, events: Events, *modes: str, **options: Any) -> GridResult:
    spec = spec_for(TASK, *modes)
    planned = Planned(spec=spec, task=TASK, folder=folder / "run", open_memory=Opener(events=events))
    return run_grid((planned,), **options)


@pytest.mark.parametrize(
    ("budget", "stage"),
    [
        (Budget(), Stage.PLANNED),
        (Budget(max_cost_usd=10.0), Stage.PLANNED),
        (Budget(max_cost_usd=1.25), Stage.CHEAPER),
        (Budget(max_cost_usd=1.0), Stage.STOP),
        (Budget(max_tokens=151), Stage.PLANNED),
        (Budget(max_tokens=150), Stage.CHEAPER),
        (Budget(max_tokens=120), Stage.STOP),
        (Budget(max_cost_usd=10.0, max_tokens=120), Stage.STOP),
    ],
)
def test_a_budget_that_runs_low(budget: Budget, stage: Stage) -> None:
    assert budget.stage(Usage(prompt_tokens=100, completion_tokens=20, cost_usd=1.0)) is stage


def test_an_unknown_cost_is_told_as_a_lower_bound() -> None:
    spent = Usage(prompt_tokens=1_000, completion_tokens=200, cost_usd=0.5, cost_complete=False)
    assert Budget(max_cost_usd=2.0, max_tokens=5_000).told(spent) == "≥ $0.5000 of $2.0000 and 1,200 of 5,000 tokens"
    assert Budget(max_cost_usd=2.0).told(Usage()) == "$0.0000 of $2.0000"


@pytest.mark.parametrize("limits", [{"max_cost_usd": 0.0}, {"max_tokens": -1}, {"max_cost_usd": float("nan")}])
def test_a_budget_that_makes_no_sense(limits: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match="A budget is more than 0; leave it out for no limit"):
        Budget(**limits)


@pytest.mark.parametrize(
    ("mode", "own", "run", "name", "settings"),
    [
        ("full-history", {}, {}, "retrieval", {}),
        ("cumulative", {}, {}, "retrieval", {}),
        ("retrieval", {"top_k": 3}, {}, "default", {"top_k": 3}),
        ("auto", {}, {}, "default", {}),
        ("cumulative", {"curation": "rewrite"}, {}, "cumulative+curation-delta", {"curation": "delta"}),
        ("cumulative", {}, {"curation": "rewrite"}, "cumulative+curation-delta", {"curation": "delta"}),
        ("retrieval", {"synthesis": True}, {}, "retrieval+synthesis-False", {"synthesis": False}),
        ("full-history", {}, {"synthesis": True}, "retrieval", {"synthesis": False}),
    ],
)
def test_the_next_cheaper_mode(
    mode: str, own: dict[str, Any], run: dict[str, Any], name: str, settings: dict[str, Any]
) -> None:
    rung = cheaper(ArmSpec(mode=mode, name="mine", settings=own), run)
    assert rung is not None
    assert (rung.name, rung.mode, rung.settings) == (name, name.partition("+")[0], settings)


@pytest.mark.parametrize("mode", ["default", "placebo", "nearest"])
def test_nothing_is_cheaper_than_no_memory_and_a_control_stays_what_it_is(mode: str) -> None:
    assert cheaper(ArmSpec(mode=mode), {}) is None


@pytest.mark.parametrize("engine", [Sequential(), Processes(workers=2)], ids=["sequential", "processes"])
def test_a_cheaper_mode_first_then_a_clean_stop(tmp_path: Path, events: Events, engine: CellEngine) -> None:
    """Nine of ten questions: from 8 of 9 × 0.5 on with the same memory in a cheaper mode; the row says so."""
    listener = Listener()
    result = grid(tmp_path, events, "full-history", engine=engine, budget=Budget(max_cost_usd=4.5), progress=listener)
    rows = result.runs[0].arms[0].rows
    assert [row.mode for row in rows] == [""] * 8 + ["retrieval"]
    assert "asked in retrieval, since 80 % of the budget was spent" in rows[-1].notes
    assert rows[-1].experiences == 8  # it knows what was learnt in the other mode
    assert events.noted("opened") == ["full-history full-history", "retrieval full-history"]
    assert (result.done, result.total, result.over, result.spent.cost_usd) == (9, 10, False, 4.5)
    assert [note for note in listener.notes if "80 % of the budget is spent ($4.0000 of $4.5000)" in note]


def test_a_higher_budget_goes_on_in_the_arm_s_own_mode(tmp_path: Path, events: Events) -> None:
    """What was spent before counts, so that the sum of all tries keeps the budget."""
    grid(tmp_path, events, "full-history", budget=Budget(max_tokens=60))
    same = grid(tmp_path, events, "full-history", budget=Budget(max_tokens=60), resume=True)
    assert (same.done, same.spent.prompt_tokens + same.spent.completion_tokens) == (5, 60)
    assert len(events.noted("asked")) == 5
    more = grid(tmp_path, events, "full-history", budget=Budget(max_tokens=1_000), resume=True)
    assert more.over
    assert [row.mode for row in more.runs[0].arms[0].rows] == [""] * 4 + ["retrieval"] + [""] * 5
    assert events.noted("asked") == [f"full-history:{place}" for place in range(1, 11)]


def test_an_arm_without_a_cheaper_mode_goes_on_as_it_is(tmp_path: Path, events: Events) -> None:
    result = grid(tmp_path, events, "default", budget=Budget(max_tokens=60))
    assert [row.mode for row in result.runs[0].arms[0].rows] == [""] * 5
    assert events.noted("opened") == ["default default"]


def test_what_fails_again_in_a_retry_is_not_asked_again_in_the_cheaper_mode(tmp_path: Path) -> None:
    world = World(failures={"b": ModelUnavailableError("no connection")})
    spec = spec_for(TASK, "full-history")
    planned = Planned(spec=spec, task=TASK, folder=tmp_path / "run", open_memory=world.open)
    run_grid((planned,), budget=Budget(max_cost_usd=1.0))
    world.asked.clear()
    result = run_grid((planned,), budget=Budget(max_cost_usd=4.0), resume=True, retry_failed=True)
    assert [row.mode for row in result.runs[0].arms[0].rows][-1] == "retrieval"
    assert world.asked.count("full-history:2") == 1


def test_cells_share_one_budget(tmp_path: Path, events: Events) -> None:
    """Of two workers, each may be at one question when the budget is spent."""
    result = grid(tmp_path, events, "default", "retrieval", engine=Processes(workers=2), budget=Budget(max_tokens=120))
    assert 10 <= result.done <= 11
    assert result.total == 20


@pytest.mark.parametrize(("cells", "told"), [("ab", ["a failed, the others go on: no such file"]), ("a", [])])
def test_a_failure_is_told_at_once_where_there_are_others(cells: str, told: list[str]) -> None:
    listener = Listener()
    coordinator = Coordinator({name: Standing(total=1) for name in cells}, progress=listener)
    coordinator.over(CellOutcome(cell="a", error=TaskError("no such file")))
    assert listener.notes == told


def test_a_cell_that_sets_out_again_is_not_counted_twice() -> None:
    coordinator = Coordinator({"a": Standing(total=3), "b": Standing(total=3)})
    row = Row(id="1", position=0, target="A", prompt_tokens=10, cost_usd=0.5)
    for _ in range(2):
        coordinator.start("a", Standing(total=3))
        coordinator.row("a", row)
    coordinator.row("b", row)
    assert (coordinator.done, coordinator.total, coordinator.spent.prompt_tokens, coordinator.spent.cost_usd) == (
        2,
        6,
        20,
        1.0,
    )
