"""The daily log: what was done on which day, written turn by turn; yesterday's is shown in the morning."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

from cheatsheet.context.fence import NOT_INSTRUCTIONS, one_line, quoted
from cheatsheet.context.home import home_lock, open_home, path_in
from cheatsheet.context.providers.day_log import LOG_FOLDER, DayLog, log_name, read_log
from cheatsheet.context.providers.effects import EFFECTS
from cheatsheet.context.providers.provider import ContextRequest, Note, Provided
from cheatsheet.context.section import Item, Section
from cheatsheet.errors import StoreReadOnlyError
from cheatsheet.safety.secrets import mask_secrets

LOG_PRIORITY: Final = 3
YESTERDAY_PRIORITY: Final = 2  # a long yesterday must not push out today
_FIELD_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class DailyLogProvider:
    """Today's log, and in the morning yesterday's, quoted; the oldest entries are left out first."""

    name: str = "daily-log"

    def provide(self, request: ContextRequest) -> Provided:
        today = request.today or read_log(request.home, request.now.date())
        logs = [("log-today", "Today's log", today)]
        if EFFECTS[request.time_mode].yesterday:
            yesterday = read_log(request.home, request.now.date() - timedelta(days=1))
            logs.append(("log-yesterday", "Yesterday's log", yesterday))
        return Provided(
            sections=tuple(_section(name, title, log) for name, title, log in logs if log.text.strip()),
            notes=_notes(today, request.limits.log_bytes),
            files=(today.fact,),
        )


def append_turn(
    home: Path, now: datetime, *, query: str, answer: str = "", outcome: str = "", by: str = "", lock_s: float = 10.0
) -> Path:
    """Add one turn to the log of the day that `now` is in; returns the log's path.

    Texts are made single lines of at most 500 characters, and what looks like a key is masked.

    Args:
        outcome: what is known of the answer, such as "right".
        by: who worked, such as the name of a mode or an agent.

    Raises:
        StoreReadOnlyError, StoreBusyError: the log cannot be written.
    """
    fields = (("asked", query), ("answered", answer), ("outcome", outcome), ("by", by))
    lines = [
        f"- {name}: {one_line(mask_secrets(text), max_chars=_FIELD_CHARS)}" for name, text in fields if text.strip()
    ]
    return append_log(home, now, "\n".join(lines), lock_s=lock_s)


def append_log(home: Path, now: datetime, text: str, *, lock_s: float = 10.0) -> Path:
    """Add an entry under the time of `now` to the log of its day; returns the log's path.

    Raises:
        StoreReadOnlyError, StoreBusyError: the log cannot be written.
    """
    with home_lock(home, timeout_s=lock_s):
        open_home(path_in(home, LOG_FOLDER))
        path = path_in(home, LOG_FOLDER, log_name(now.date()))
        try:
            _append(path, now, mask_secrets(text).strip())
        except OSError as error:
            raise StoreReadOnlyError(f"Cannot write the log {path}: {error.strerror}. Make it writable.") from error
    return path


def _append(path: Path, now: datetime, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(handle, "ab") as file:
        heading = "" if file.tell() else f"# {now.date().isoformat()}\n"
        entry = f"{heading}\n## {now:%H:%M}\n\n{text}\n"
        file.write(entry.encode("utf-8", "replace"))


def _section(name: str, title: str, log: DayLog) -> Section:
    return Section(
        name=name,
        priority=LOG_PRIORITY if name == "log-today" else YESTERDAY_PRIORITY,
        text=f"# {title} ({log.day.isoformat()})\n{NOT_INSTRUCTIONS}\n",
        items=tuple(Item(text=quoted(entry)) for entry in entries(log.text)),
        shorten="drop-first",
        stable=name == "log-yesterday",
    )


def entries(text: str) -> list[str]:
    """A log cut before its headings, so that old entries can be left out; blank entries are none."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("#"):
            found.append([])
        found[-1].append(line)
    return [entry for lines in found if (entry := "\n".join(lines).strip())]


def _notes(log: DayLog, limit_bytes: int) -> tuple[Note, ...]:
    if log.size_bytes <= limit_bytes:
        return ()
    return (Note(kind="suggestion", provider="daily-log", text=_distil(log.day, log.size_bytes)),)


def _distil(day: date, size_bytes: int) -> str:
    return (
        f"The log of {day.isoformat()} has {size_bytes:,} bytes; distil what should last into MEMORY.md and shorten "
        f"the log."
    )
