"""Clocks that are wrong: versions tell the order, and times only when it is said to have been."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks.faults.states import state_of
from cheatsheet.engine.engine import Engine
from cheatsheet.interfaces.wiring import Given, build_engine
from cheatsheet.memory.operations import Add, Draft, Tag
from cheatsheet.settings import load_settings
from tests.faults import deeds

NOW = deeds.START
DAY = timedelta(days=1)
CLOCKS: dict[str, Sequence[datetime]] = {
    "back by a day": (NOW, NOW - DAY, NOW - DAY, NOW + DAY),
    "back to 1970": (NOW, datetime(1970, 1, 1, tzinfo=UTC), NOW + DAY),
    "ahead to the end of time and back": (NOW, datetime.max.replace(tzinfo=UTC), NOW + DAY),
    "the beginning of time": (datetime.min.replace(tzinfo=UTC), NOW),
    "standing still": (NOW, NOW, NOW),
}


class Wrong:
    """A clock that shows whatever it is set to."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@contextmanager
def opened(path: Path, **settings: object) -> Iterator[tuple[Engine, Wrong]]:
    clock = Wrong()
    own = {"embedder": "hashing", "counter": "chars", "reflector": "rules", "curator": "rules"}
    with build_engine(load_settings(path=str(path), **{**own, **settings}), Given(clock=clock)) as engine:
        yield engine, clock


@pytest.mark.parametrize("times", CLOCKS.values(), ids=CLOCKS)
@pytest.mark.parametrize("half_life_days", [None, 1.0], ids=["votes that last", "votes that age"])
def test_the_journal_is_in_the_order_of_what_happened(
    memory_file: Path, times: Sequence[datetime], half_life_days: float | None
) -> None:
    with opened(memory_file, max_bullets=2, half_life_days=half_life_days) as (engine, clock):
        seen = []
        for number, clock.now in enumerate(times):
            engine.learn_batch([deeds.turn(number)])
            engine.apply([Tag(id=engine.memory.bullets()[0].id, helpful=1)])
            engine.refine(full=True)
            seen.append((engine.memory.version, [bullet.content for bullet in engine.memory.bullets()]))
        entries = engine.history()[::-1]
        assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
        for version, contents in seen:
            assert [bullet.content for bullet in engine.past(version).bullets()] == contents
        assert engine.memory.count_bullets() <= 2
        assert not state_of(engine._store).flaws


@pytest.mark.parametrize("times", CLOCKS.values(), ids=CLOCKS)
def test_the_memory_at_a_time_is_one_that_there_was(memory_file: Path, times: Sequence[datetime]) -> None:
    """It is as it was after the newest entry that the time reaches, with all that stands before that entry."""
    with opened(memory_file) as (engine, clock):
        for number, clock.now in enumerate(times):
            engine.learn_batch([deeds.turn(number)])
        for moment in times:
            reached = [entry.version for entry in engine.history() if entry.at <= moment]
            assert engine.past(moment).version == max(reached)
            assert engine.recall("How much is item 0?", as_of=moment).version == max(reached)


def test_what_expires_is_archived_once_and_stays_so_when_the_clock_is_set_back(memory_file: Path) -> None:
    with opened(memory_file) as (engine, clock):
        engine.apply([Add(draft=Draft(content="Good for a week.", expires_at=NOW + 7 * DAY))])
        clock.now = NOW - DAY
        assert engine.refine() is None
        clock.now = NOW + 8 * DAY
        committed = engine.refine()
        assert committed is not None
        clock.now = NOW
        assert engine.refine() is None
        assert engine.memory.count_bullets() == 0
        assert engine.memory.count_bullets("archived") == 1


def test_a_clock_that_is_set_back_gives_no_vote_more_weight(memory_file: Path) -> None:
    with opened(memory_file, half_life_days=1.0) as (engine, _):
        engine.apply([Add(draft=Draft(content="Check the units.", helpful=4))])
        (bullet,) = engine.memory.bullets()
        policy = engine.options.refine
        assert policy.utility_at(bullet, NOW - 100 * DAY) == policy.utility_at(bullet, NOW) == 4
        assert 0 <= policy.utility_at(bullet, datetime.max.replace(tzinfo=UTC)) < 1e-9
