"""The table of time modes: at every hour, in several zones, and over the changes of the clocks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.context.providers.time_mode import (
    DEFAULT_TIME_MODES,
    TimeMode,
    TimeModes,
    elapsed,
    get_time_mode,
    wall_minute,
)
from cheatsheet.errors import SettingsError, UnknownNameError
from tests.context.providers.worlds import at

# The design's table, hour by hour.
BY_HOUR = (
    ["night"] * 6 + ["morning"] * 3 + ["work"] * 3 + ["break"] * 2 + ["work"] * 4 + ["evening"] * 4 + ["night"] * 2
)

# Zones with the days on which their clocks are put forward and back in 2026; Lord Howe's by half an hour, Nuuk's in the
# evening of the day before, Kolkata's never.
ZONES = {
    "Europe/Berlin": ("2026-03-29", "2026-10-25"),
    "America/New_York": ("2026-03-08", "2026-11-01"),
    "Australia/Lord_Howe": ("2026-10-04", "2026-04-05"),
    "America/Nuuk": ("2026-03-28", "2026-10-24"),
    "Asia/Kolkata": ("2026-03-29", "2026-10-25"),
}
DAYS = [(zone, day) for zone, days in ZONES.items() for day in (*days, "2026-01-05")]


def minutes_of(day: str, zone: str, *, days: int = 1) -> Iterator[datetime]:
    """Every minute of days of the calendar, as time passes."""
    now = at(day, zone).astimezone(UTC)
    end = at(day, zone).date() + timedelta(days=days)
    while (local := now.astimezone(ZoneInfo(zone))).date() < end:
        yield local
        now += timedelta(minutes=1)


def switches(day: str, zone: str, table: TimeModes, *, days: int = 1) -> list[tuple[str, TimeMode]]:
    """The switches of days: when, by the clock on the wall, and to what."""
    moments = list(minutes_of(day, zone, days=days))
    return [
        (f"{after:%H:%M} fold {after.fold}", table.at(after))
        for before, after in pairwise(moments)
        if table.at(before) is not table.at(after)
    ]


@pytest.mark.parametrize("hour", range(24))
def test_the_table_at_every_hour(hour: int) -> None:
    assert get_time_mode(hour) == BY_HOUR[hour]


@pytest.mark.parametrize(("zone", "day"), DAYS)
def test_the_table_over_whole_days_in_every_zone(zone: str, day: str) -> None:
    """Every hour of the day, and both changes of the clocks: each minute has the mode of its hour on the wall."""
    for local in minutes_of(day, zone):
        assert DEFAULT_TIME_MODES.at(local) == BY_HOUR[local.hour], local


@pytest.mark.parametrize(("zone", "day"), DAYS)
@pytest.mark.parametrize("minute", [30, 90, 135, 150, 180, 1_350, 1_410])
def test_a_switch_comes_exactly_once_a_day(zone: str, day: str, minute: int) -> None:
    """Over two days, as a clock may be put forward over midnight."""
    start = f"{minute // 60:02}:{minute % 60:02}"
    hours = [f"{start}-12:00", f"12:00-{start}"]
    table = TimeModes.parse(dict(zip(["work", "night"], hours, strict=True)))
    assert len(switches(day, zone, table, days=2)) == 4


def test_the_switch_that_the_clock_skips_or_shows_twice() -> None:
    """Case W03: in spring it comes with the skip, in autumn at the first 02:30."""
    table = TimeModes.parse({"night": "22:00-02:30", "work": "02:30-22:00"})
    spring, autumn = (switches(day, "Europe/Berlin", table) for day in ("2026-03-29", "2026-10-25"))
    assert spring == [("03:00 fold 0", TimeMode.WORK), ("22:00 fold 0", TimeMode.NIGHT)]
    assert autumn == [("02:30 fold 0", TimeMode.WORK), ("22:00 fold 0", TimeMode.NIGHT)]


def test_a_time_that_no_clock_shows_is_the_one_after_the_skip() -> None:
    """Case W03: 02:30 on the spring day is 03:30."""
    assert wall_minute(at("2026-03-29T02:30")) == 210


def test_a_repeated_hour_keeps_what_was_reached() -> None:
    second = at("2026-10-25T02:10").replace(fold=1)
    assert wall_minute(at("2026-10-25T02:10")) == 130
    assert wall_minute(second) == 179
    assert wall_minute(datetime(2026, 10, 25, 2, 10, fold=1, tzinfo=timezone(timedelta(hours=1)))) == 130


def test_a_window_over_midnight() -> None:
    """Case W01."""
    table = TimeModes.parse({"night": "20:30-07:15", "work": "07:15-20:30"})
    moments = ["23:10", "01:40", "07:14", "07:15", "13:00", "20:30"]
    active = [table.at(at(f"2026-01-05T{moment}")) is TimeMode.NIGHT for moment in moments]
    assert active == [True, True, True, False, False, True]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"work": "10:00-10:00"}, "starts and ends at 10:00, which is never or always"),  # W02
        ({"night": "00:00-00:00"}, "starts and ends at 00:00"),  # W02
        ({"work": "08:00-20:00"}, "No time mode has the hours 00:00–08:00"),
        ({"work": "00:00-20:00"}, "No time mode has the hours 20:00–24:00"),
        ({"night": "22:00-06:00", "work": "07:00-22:00"}, "No time mode has the hours 06:00–07:00"),
        ({"night": "00:00-12:00", "work": "11:30-24:00"}, "'night' (00:00–12:00) and 'work' (11:30–24:00) overlap"),
        ({"night": "22:00-23:00", "work": "00:00-24:00"}, "overlap"),
        ({"work": "all day"}, "'all day' are no hours"),
        ({"work": "00:00-25:00"}, "a day goes from 00:00 to 24:00"),
        ({"work": "24:00-12:00", "night": "12:00-24:00"}, "a day goes from 00:00 to 24:00"),
        ({}, "No time mode has the hours 00:00–24:00"),
    ],
)
def test_tables_that_are_no_day_are_refused(table: dict[str, str], told: str) -> None:
    """Case W02, and its kind: a gap, an overlap, a window without length."""
    with pytest.raises(SettingsError) as refused:
        TimeModes.parse(table)
    assert told in str(refused.value)


def test_wrong_names_and_hours_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'morning'"):
        TimeModes.parse({"mornig": "00:00-24:00"})
    for hour in (-1, 24):
        with pytest.raises(SettingsError, match="from 0 to 23"):
            get_time_mode(hour)


def test_one_mode_may_have_the_whole_day() -> None:
    table = TimeModes.parse({"work": "0-24"})
    assert {table.of_minute(minute) for minute in range(24 * 60)} == {TimeMode.WORK}


@given(st.lists(st.integers(1, 24 * 60 - 1), min_size=2, max_size=5, unique=True), st.integers(0, 24 * 60 - 1))
def test_half_open_windows_that_meet_make_up_a_day(cuts: list[int], minute: int) -> None:
    """Every minute has the mode of the window that started last."""
    starts = sorted(cuts)
    names = list(TimeMode)
    clock = [f"{cut // 60:02}:{cut % 60:02}" for cut in starts]
    ends = [*clock[1:], clock[0]]
    table = TimeModes.parse({names[n]: f"{clock[n]}-{ends[n]}" for n in range(len(starts))})
    last = max((n for n, start in enumerate(starts) if start <= minute), default=len(starts) - 1)
    assert table.of_minute(minute) is names[last]


def test_durations_are_those_of_utc() -> None:
    """Case W05: two hours on the wall of the spring day are one hour."""
    assert elapsed(at("2026-03-29T01:30"), at("2026-03-29T03:30")) == timedelta(hours=1)
    first, second = at("2026-10-25T02:30"), at("2026-10-25T02:30").replace(fold=1)
    assert elapsed(first, second) == timedelta(hours=1)


def test_the_hours_of_a_mode_are_told() -> None:
    assert DEFAULT_TIME_MODES.hours(TimeMode.WORK) == "09:00–12:00, 14:00–18:00"
    assert DEFAULT_TIME_MODES.hours(TimeMode.NIGHT) == "22:00–06:00"
