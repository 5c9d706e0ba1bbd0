"""No room left, at any step: the turn is not acknowledged, it is told, and the memory can still be read."""

from __future__ import annotations

import errno
import signal
from pathlib import Path

import pytest

from benchmarks.faults.dying import AtStep, FailingCalls
from benchmarks.faults.nursery import Nursery
from benchmarks.faults.states import state_in
from tests.faults.worlds import before_or_after, copy_of, is_sentence, runs

TRY = "tests.faults.deeds:act_in_trouble"
FOR_GOOD = 10**9


@pytest.mark.parametrize("action", ["learn", "roll back"])
@pytest.mark.parametrize(
    ("error", "span"), [(errno.ENOSPC, FOR_GOOD), (errno.EIO, 1)], ids=["full for good", "one input/output error"]
)
def test_whatever_call_fails_is_told_and_leaves_the_memory_before_or_after(
    failing_nursery: Nursery, lived_once: Path, tmp_path: Path, action: str, error: int, span: int
) -> None:
    whole = copy_of(lived_once, tmp_path / "whole")
    life = failing_nursery.live(TRY, death=AtStep(step=0), path=str(whole), action=action)
    before, after = state_in(lived_once), state_in(whole)
    failures = 0
    for step in runs(life.facts["calls"]):
        path = copy_of(lived_once, tmp_path / str(step))
        death = FailingCalls(step=step, until=step + span, errno=error)
        tried, recalled = failing_nursery.live(TRY, death=death, path=str(path), action=action).said
        assert recalled == ["recall", "done", ""], f"from step {step} on"
        assert tried[1] == "done" or is_sentence(tried, path), f"from step {step} on"
        assert before_or_after(state_in(path), before, after, acknowledged=tried[1] == "done"), f"from step {step} on"
        failures += tried[1] != "done"
    assert failures > 1


@pytest.mark.parametrize("deadly", [False, True], ids=["the write fails", "the write kills"])
def test_a_write_that_is_cut_anywhere_leaves_the_memory_before_or_after(
    nursery: Nursery, lived_once: Path, tmp_path: Path, deadly: bool
) -> None:
    """Within the header of a frame, within its page, at its end, in the first frames and in later ones."""
    frame, header = 24 + 4096, 32
    rooms = [33_000, *(header + number * frame + part for number in (9, 13) for part in (0, 5, 24, 2_000))]
    before, found = state_in(lived_once), set()
    for room in rooms:
        path = copy_of(lived_once, tmp_path / str(room))
        deed = "tests.faults.deeds:act_in_little_room"
        life = nursery.live(deed, path=str(path), action="learn a batch", room=room, deadly=deadly)
        if deadly:
            assert (life.said, life.signal) == ([], signal.SIGXFSZ), room
        else:
            tried, recalled = life.said
            assert recalled == ["recall", "done", ""], room
            assert is_sentence(tried, path), room
        found.add(state_in(path))
    assert found == {before}


def test_a_disk_that_is_really_full_goes_on_when_there_is_room(mounting_nursery: Nursery, mounted: Path) -> None:
    """S05: what was acknowledged before is there, what was not is not, and space that is freed is used."""
    path = mounted / "full" / "memory.db"
    (refused, count, recalled) = mounting_nursery.live("tests.faults.deeds:fill", path=str(path)).said
    assert is_sentence(refused, path)
    assert count > 3
    assert recalled == ["recall", "done", ""]
    names = [f"turn-{number}" for number in range(1_000, 1_000 + count)]
    assert state_of_child(mounting_nursery, path) == (names, [])
    mounting_nursery.live("tests.faults.deeds:delete", path=str(mounted / "full" / "filler"))
    assert mounting_nursery.live("tests.faults.deeds:act", path=str(path), action="learn", settings={}).said == ["done"]
    assert state_of_child(mounting_nursery, path) == ([*names, "turn-100"], [])


def state_of_child(nursery: Nursery, path: Path) -> tuple[list[str], list[str]]:
    """Turns and flaws of a memory that lies in the children's world."""
    ((_, turns, flaws),) = nursery.live("tests.faults.deeds:tell_state", path=str(path)).said
    return turns, flaws
