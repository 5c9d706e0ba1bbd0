"""Whether a session goes on."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from cheatsheet.context.providers.continuation import FRESH, ago, detect_continuation
from cheatsheet.context.providers.day_log import read_log
from tests.context.providers.worlds import WORK_TIME, at, touch, write


def log(home: Path, chars: int, age: timedelta) -> Path:
    path = write(home, {"memory/2026-01-05.md": "x" * chars}) / "memory/2026-01-05.md"
    touch(path, WORK_TIME - age)
    return home


@pytest.mark.parametrize(
    ("chars", "minutes", "goes_on"),
    [(101, 5, True), (100, 5, False), (101, 30, True), (101, 31, False), (5_000, 0, True), (101, -10, True)],
)
def test_the_rule_of_length_and_age(tmp_path: Path, chars: int, minutes: int, goes_on: bool) -> None:
    home = log(tmp_path, chars, timedelta(minutes=minutes))
    found = detect_continuation(read_log(home, WORK_TIME.date()), WORK_TIME)
    assert found.is_continuation is goes_on
    assert bool(found.hint) is goes_on


def test_the_last_activity_is_told(tmp_path: Path) -> None:
    home = log(tmp_path, 200, timedelta(minutes=5, seconds=50))
    assert detect_continuation(read_log(home, WORK_TIME.date()), WORK_TIME).last_activity == "5 minutes ago"
    home = log(tmp_path, 200, timedelta(hours=3))
    fresh = detect_continuation(read_log(home, WORK_TIME.date()), WORK_TIME)
    assert (fresh.is_continuation, fresh.last_activity) == (False, "3 hours ago")


def test_no_log_is_a_fresh_session(tmp_path: Path) -> None:
    assert detect_continuation(None, WORK_TIME) == FRESH
    assert detect_continuation(read_log(tmp_path, WORK_TIME.date()), WORK_TIME) == FRESH


def test_a_log_from_the_future_is_no_activity(tmp_path: Path) -> None:
    """Such as when a context of another moment is asked for."""
    home = log(tmp_path, 200, -timedelta(hours=2))
    assert detect_continuation(read_log(home, WORK_TIME.date()), WORK_TIME) == FRESH


def test_the_age_does_not_depend_on_the_clocks(tmp_path: Path) -> None:
    """Case W05: 01:50 and 03:10 of the spring day are 20 minutes apart; the two 02:30 of autumn are an hour apart."""
    path = write(tmp_path, {"memory/2026-03-29.md": "x" * 200, "memory/2026-10-25.md": "x" * 200}) / "memory"
    touch(path / "2026-03-29.md", at("2026-03-29T01:50"))
    touch(path / "2026-10-25.md", at("2026-10-25T02:30"))
    spring = at("2026-03-29T03:10")
    autumn = at("2026-10-25T02:30").replace(fold=1)
    assert detect_continuation(read_log(tmp_path, spring.date()), spring).last_activity == "20 minutes ago"
    assert not detect_continuation(read_log(tmp_path, autumn.date()), autumn).is_continuation


@pytest.mark.parametrize(
    ("age", "told"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(minutes=60), "1 hour ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=2), "2 days ago"),
    ],
)
def test_ages_in_words(age: timedelta, told: str) -> None:
    assert ago(age) == told
