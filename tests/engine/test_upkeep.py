"""An engine backs up, verifies and vacuums its memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import cheatsheet
from cheatsheet.engine.engine import Engine
from cheatsheet.errors import OperationError, SetupError
from cheatsheet.interfaces.wiring import Given, build_engine
from cheatsheet.memory.operations import Add, Draft, Remove
from cheatsheet.settings import load_settings

NOW = datetime(2026, 1, 5, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Engine:
    settings = load_settings(path=str(tmp_path / "memory.db"), embedder="hashing", index="exact")
    engine = build_engine(settings, Given(clock=clock))
    engine.apply([Add(draft=Draft(content="Check the units.")), Add(draft=Draft(content="Deploy on Mondays."))])
    clock.now += timedelta(days=40)
    engine.apply([Remove(id="misc-00002", reason="old")])
    clock.now += timedelta(days=1)
    engine.apply([Add(draft=Draft(content="Close the file."))])
    return engine


def test_a_backup_is_a_memory_of_its_own(memory: Engine, tmp_path: Path) -> None:
    with memory:
        memory.backup(tmp_path / "copy.db")
        with pytest.raises(SetupError, match="is there already"):
            memory.backup(str(tmp_path / "copy.db"))
        expected = memory.memory.bullets()
    with cheatsheet.open(tmp_path / "copy.db", embedder="hashing", index="exact") as copy:
        assert copy.memory.bullets() == expected
        assert copy.verify() == []


def test_a_vacuum_keeps_days_or_from_a_place_on(memory: Engine, clock: Clock) -> None:
    with memory:
        assert memory.vacuum(dry_run=True).since == 0, "of the first entry everything lives or is needed"
        assert memory.vacuum(before=2, dry_run=True).since == 2
        assert memory.vacuum(before="2026-02-14", dry_run=True).since == 2
        with pytest.raises(SetupError, match="choose one"):
            memory.vacuum(keep_days=1, before=2)
        with pytest.raises(OperationError, match="There is no version 9"):
            memory.vacuum(before=9)
        done = memory.vacuum(keep_days=0)
        assert (done.since, done.operations) == (3, 2)
        assert memory.verify() == []
        assert [touch.version for touch in memory.blame("misc-00001")] == [1]
        with pytest.raises(OperationError, match="What was before version 3 was compacted"):
            memory.rollback(2)
        assert memory.recall("units").bullets
