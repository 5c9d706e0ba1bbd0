"""Whether the session goes on: told by today's log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from cheatsheet.context.providers.day_log import DayLog
from cheatsheet.context.providers.time_mode import elapsed

DEFAULT_MINUTES: Final = 30
DEFAULT_CHARS: Final = 100

_UNITS: Final = ((24 * 60, "day"), (60, "hour"), (1, "minute"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """Whether a session goes on.

    Attributes:
        last_activity: when today's log was last written, such as "5 minutes ago"; empty when there is none.
        hint: what to do with it, as a sentence; empty for a fresh session.
    """

    is_continuation: bool
    last_activity: str = ""
    hint: str = ""


FRESH: Final = Continuation(is_continuation=False)


def detect_continuation(
    today_log: DayLog | None,
    now: datetime,
    *,
    within_minutes: int = DEFAULT_MINUTES,
    over_chars: int = DEFAULT_CHARS,
) -> Continuation:
    """A session goes on when today's log is longer than so many characters and was written within so many minutes.

    Source: the continuation rule of MiniClaw 0.5.0 (100 characters, 30 minutes).
    """
    if today_log is None or today_log.modified_at is None:
        return FRESH
    age = elapsed(today_log.modified_at, now)
    within = timedelta(minutes=within_minutes)
    if age < -within:
        return FRESH  # the clock of the log, or of the question, is another one
    if len(today_log.text) <= over_chars or age > within:
        return Continuation(is_continuation=False, last_activity=ago(age))
    return Continuation(
        is_continuation=True,
        last_activity=ago(age),
        hint="Go on where the log of today ends; do not greet again.",
    )


def ago(age: timedelta) -> str:
    """A time that has passed, in words; one in the future, of a clock that is ahead, is just now."""
    minutes = int(age.total_seconds() // 60)
    if minutes < 1:
        return "just now"
    size, unit = next((size, unit) for size, unit in _UNITS if minutes >= size)
    count = minutes // size
    return f"{count} {unit}{'s' if count > 1 else ''} ago"
