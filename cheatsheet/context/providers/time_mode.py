"""Time modes: which part of the day it is, by a table of half-open local hours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from cheatsheet.errors import SettingsError, UnknownNameError

DAY_MINUTES: Final = 24 * 60

_WINDOW: Final = re.compile(r"\s*(\d{1,2})(?::(\d{2}))?\s*[-–]\s*(\d{1,2})(?::(\d{2}))?\s*")


class TimeMode(StrEnum):
    """A part of the day."""

    MORNING = "morning"
    WORK = "work"
    BREAK = "break"
    EVENING = "evening"
    NIGHT = "night"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Part of a day: minutes after midnight, the end not included. It goes over midnight where the end comes first."""

    mode: TimeMode
    start: int
    end: int

    def __str__(self) -> str:
        return f"{clock_text(self.start)}–{clock_text(self.end)}"

    def spans(self) -> list[tuple[int, int]]:
        """The window as one or two stretches of the same day."""
        if self.start < self.end:
            return [(self.start, self.end)]
        return [(self.start, DAY_MINUTES), (0, self.end)] if self.end else [(self.start, DAY_MINUTES)]


@dataclass(frozen=True, slots=True)
class TimeModes:
    """The table of the day: every minute belongs to exactly one mode.

    Raises:
        SettingsError: a window without length, minutes that belong to nobody, or to two.
    """

    windows: tuple[Window, ...]

    def __post_init__(self) -> None:
        for window in self.windows:
            _check_window(window)
        _check_cover([(start, end, window) for window in self.windows for start, end in window.spans()])

    @classmethod
    def parse(cls, table: Mapping[str, str | Iterable[str]]) -> TimeModes:
        """A table from names and hours: `{"morning": "06:00-09:00", "work": ["09:00-12:00", "14:00-18:00"], …}`.

        Raises:
            UnknownNameError: no such mode.
            SettingsError: hours that cannot be read, or that do not make up a day.
        """
        windows: list[Window] = []
        for name, hours in table.items():
            if name not in list(TimeMode):
                raise UnknownNameError("time mode", name, [mode.value for mode in TimeMode])
            texts = [hours] if isinstance(hours, str) else hours
            windows += [_window(TimeMode(name), text) for text in texts]
        return cls(tuple(windows))

    def at(self, now: datetime) -> TimeMode:
        """The mode at a moment, by the clock on the wall of its time zone.

        Where clocks are put forward, a switch within the skipped hour comes with the skip; where they are put back,
        the repeated hour keeps the mode that was reached. So every switch happens once a day.
        """
        return self.of_minute(wall_minute(now))

    def of_minute(self, minute: int) -> TimeMode:
        """The mode at so many minutes after midnight, 0 to 1439."""
        return next(w.mode for w in self.windows for start, end in w.spans() if start <= minute < end)

    def hours(self, mode: TimeMode) -> str:
        """The hours of a mode, such as "09:00–12:00, 14:00–18:00"."""
        return ", ".join(str(window) for window in self.windows if window.mode is mode)


def elapsed(earlier: datetime, later: datetime) -> timedelta:
    """The time that passed between two moments, whatever was done to the clocks between them.

    Python subtracts two moments of the same zone by their clocks on the wall; in UTC there is nothing to get wrong.
    """
    return later.astimezone(UTC) - earlier.astimezone(UTC)


def wall_minute(now: datetime) -> int:
    """Minutes after midnight on the wall; within a repeated hour, the last minute before clocks were put back."""
    local = now.astimezone(UTC).astimezone(now.tzinfo)  # a time that clocks skip becomes one that they show
    if _is_repeat(local):
        local = _put_back_at(local) - timedelta(microseconds=1)
    return 60 * local.hour + local.minute


def clock_text(minute: int) -> str:
    """`09:30` for 570."""
    return f"{minute // 60:02}:{minute % 60:02}"


def _is_repeat(local: datetime) -> bool:
    """Whether the clock shows this time for the second time on this day."""
    return local.fold == 1 and local.replace(fold=0).utcoffset() != local.utcoffset()


def _put_back_at(local: datetime) -> datetime:
    """What the clock showed when it was put back, by bisection; zones change at whole seconds."""
    before, after = local.replace(fold=0).utcoffset(), local.utcoffset()
    assert before is not None  # an aware moment has an offset
    assert after is not None
    second = timedelta(seconds=1)
    moment = local.astimezone(UTC).replace(microsecond=0)
    low, high = moment - (before - after), moment  # the old offset holds at `low`, the new one at `high`
    while high - low > second:
        middle = low + (high - low) // second // 2 * second
        if middle.astimezone(local.tzinfo).utcoffset() == before:
            low = middle
        else:
            high = middle
    return (high + before).replace(tzinfo=None)


def _window(mode: TimeMode, text: str) -> Window:
    found = _WINDOW.fullmatch(text)
    if found is None:
        raise SettingsError(f"{text!r} are no hours for the time mode {mode.value!r}; write them like '09:00-12:30'.")
    start, end = (60 * int(found[at]) + int(found[at + 1] or 0) for at in (1, 3))
    return Window(mode=mode, start=start, end=end)


def _check_window(window: Window) -> None:
    start, end = window.start, window.end
    if not (0 <= start < DAY_MINUTES and 0 <= end <= DAY_MINUTES):
        raise SettingsError(f"The time mode {window.mode.value!r} has {window}; a day goes from 00:00 to 24:00.")
    if start == end:
        raise SettingsError(
            f"The time mode {window.mode.value!r} starts and ends at {clock_text(start)}, which is never or always. "
            f"Leave it out, or write '00:00-24:00' for the whole day."
        )


def _check_cover(spans: Iterable[tuple[int, int, Window]]) -> None:
    reached, last = 0, None
    for start, end, window in sorted(spans, key=lambda span: span[:2]):
        if start > reached:
            raise SettingsError(_gap(reached, start))
        if start < reached:
            assert last is not None  # something reached further than this start
            raise SettingsError(
                f"The time modes {last.mode.value!r} ({last}) and {window.mode.value!r} ({window}) overlap; every "
                f"minute belongs to one mode."
            )
        reached, last = end, window
    if reached < DAY_MINUTES:
        raise SettingsError(_gap(reached, DAY_MINUTES))


def _gap(start: int, end: int) -> str:
    modes = ", ".join(repr(mode.value) for mode in TimeMode)
    return (
        f"No time mode has the hours {clock_text(start)}–{clock_text(end)}. Every minute belongs to one of {modes}; "
        f"give these hours to one of them."
    )


DEFAULT_TIME_MODES: Final = TimeModes.parse(
    {
        "morning": "06:00-09:00",
        "work": ["09:00-12:00", "14:00-18:00"],
        "break": "12:00-14:00",
        "evening": "18:00-22:00",
        "night": "22:00-06:00",
    }
)


def get_time_mode(hour: int, table: TimeModes = DEFAULT_TIME_MODES) -> TimeMode:
    """The mode at the start of an hour, 0 to 23.

    Raises:
        SettingsError: no such hour.
    """
    if not 0 <= hour <= 23:
        raise SettingsError(f"The hour is {hour!r}; give a whole number from 0 to 23.")
    return table.of_minute(60 * hour)
