"""The session: a new one or one that goes on, what changed since last time, and which files need care."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cheatsheet.context.fence import one_line
from cheatsheet.context.providers.effects import EFFECTS
from cheatsheet.context.providers.provider import ContextRequest
from cheatsheet.context.providers.runtime import day_text
from cheatsheet.context.section import Section

SESSION_PRIORITY: Final = 10
_LISTED: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionNews:
    """What a session begins with, as sentences.

    Attributes:
        changes: since last time.
        care: files that are damaged or too large, and logs that are too long.
        first_run: whether nothing was ever seen in this home.
    """

    changes: tuple[str, ...] = ()
    care: tuple[str, ...] = ()
    first_run: bool = False


def session_section(request: ContextRequest, news: SessionNews) -> Section:
    """What an agent has to know of the session; the new-session lines are left out where it goes on."""
    blocks = [f"# Session\n\n{' '.join(_opening(request, news))}"]
    for title, lines in (("Changed since last time:", news.changes), ("To take care of:", news.care)):
        if lines:
            blocks.append("\n".join([title, *(f"- {one_line(line)}" for line in _some(lines))]))
    return Section(name="session", priority=SESSION_PRIORITY, text="\n\n".join(blocks))


def _opening(request: ContextRequest, news: SessionNews) -> list[str]:
    going_on = request.continuation
    if going_on.is_continuation:
        return [f"The session goes on; last activity {going_on.last_activity}.", going_on.hint]
    greeting = EFFECTS[request.time_mode].greeting
    opening = [f"{greeting}! A new day: {day_text(request.now)}."] if greeting else []
    opening.append("A new session begins.")
    if going_on.last_activity:
        opening.append(f"Last activity today: {going_on.last_activity}.")
    if news.first_run:
        opening.append("It is the first one in this home.")
    return opening


def _some(lines: tuple[str, ...]) -> list[str]:
    more = len(lines) - _LISTED
    return [*lines[:_LISTED], *([f"… and {more:,} more."] if more > 0 else [])]
