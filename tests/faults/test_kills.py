"""Killed at every step that writes: what is left is the memory before the action or after it, and it goes on."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from benchmarks.faults.dying import AtStep
from benchmarks.faults.nursery import Nursery
from benchmarks.faults.states import State, state_in
from tests.faults import deeds
from tests.faults.worlds import before_or_after, copy_of, runs, spread
from tests.memory.test_sqlite_store import write_schema_1

ACT = "tests.faults.deeds:act"
BACK_UP = "tests.faults.deeds:back_up"
OPEN_AND_LEARN = "tests.faults.deeds:open_and_learn"
MOST_STEPS = 20  # of opening, which writes hundreds of times


@pytest.mark.parametrize("action", ["learn", "learn a batch", "import", "roll back", "vacuum"])
def test_killed_at_any_step_it_is_the_memory_before_or_after(
    tracing_nursery: Nursery, lived_once: Path, tmp_path: Path, action: str
) -> None:
    values = {"action": action, "settings": {"max_bullets": 6}}
    whole = copy_of(lived_once, tmp_path / "whole")
    life = tracing_nursery.live(ACT, death=AtStep(step=0), path=str(whole), **values)
    assert (life.said, life.error) == (["done"], "")
    before, after = state_in(lived_once), state_in(whole)
    found: list[State] = []
    for step in runs(life.facts["calls"]):
        path = copy_of(lived_once, tmp_path / str(step))
        killed = tracing_nursery.live(ACT, death=AtStep(step=step), path=str(path), **values)
        assert killed.signal == signal.SIGKILL, f"before step {step}"
        found.append(state_in(path))
        assert before_or_after(found[-1], before, after, acknowledged=bool(killed.said)), f"before step {step}"
    assert set(found) == {before, after}
    assert before.flaws == after.flaws == ()
    goes_on(path)


def test_killed_during_a_backup_it_is_whole_or_not_there(
    tracing_nursery: Nursery, lived_once: Path, tmp_path: Path
) -> None:
    values = {"path": str(lived_once)}
    (tmp_path / "whole").mkdir()
    backup = tmp_path / "whole" / "backup.db"
    life = tracing_nursery.live(BACK_UP, death=AtStep(step=0), backup=str(backup), **values)
    there, state = set(), state_in(lived_once)
    for step in spread(list(runs(life.facts["calls"])), MOST_STEPS):
        folder = tmp_path / str(step)
        folder.mkdir()
        backup = folder / "backup.db"
        killed = tracing_nursery.live(BACK_UP, death=AtStep(step=step), backup=str(backup), **values)
        assert killed.signal == signal.SIGKILL, f"before step {step}"
        there.add(backup.exists())
        assert not killed.said or backup.exists(), f"before step {step}"
        assert not backup.exists() or state_in(backup) == state, f"before step {step}"
    assert there == {False, True}
    assert state_in(lived_once) == state


@pytest.mark.parametrize("old", [False, True], ids=["a new memory", "a memory of the first schema"])
def test_killed_while_it_is_opened_it_opens_again(tracing_nursery: Nursery, tmp_path: Path, old: bool) -> None:
    base = tmp_path / "base" / "memory.db"
    base.parent.mkdir()
    if old:
        write_schema_1(base)
    whole = copy_of(base, tmp_path / "whole")
    life = tracing_nursery.live(OPEN_AND_LEARN, death=AtStep(step=0), path=str(whole))
    assert (life.said, life.error) == (["done"], "")
    after, found = state_in(whole), set()
    for step in spread(list(runs(life.facts["calls"])), MOST_STEPS):
        path = copy_of(base, tmp_path / str(step))
        killed = tracing_nursery.live(OPEN_AND_LEARN, death=AtStep(step=step), path=str(path))
        assert killed.signal == signal.SIGKILL, f"before step {step}"
        state = state_in(path)
        assert not state.flaws, f"before step {step}"
        assert not killed.said or state == after, f"before step {step}"
        found.add(state)
    assert len(found) == 2
    goes_on(path)


def goes_on(path: Path) -> None:
    """Learn one more turn with a memory whose process was killed."""
    with deeds.opened(path, top_k=50) as engine:
        (lesson,) = engine.learn_batch([deeds.turn(500)])
        found = {hit.value.id: hit.value.query for hit in engine.recall("How much is item 500?").experiences}
    assert found[lesson.experience_id] == deeds.turn(500).recall
