"""A day's log: `memory/YYYY-MM-DD.md` in the home."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Final

from cheatsheet.context.providers.files import FileFact, read_file

LOG_FOLDER: Final = "memory"
# Of a longer log the end is read: what is new stands there.
READ_BYTES: Final = 1_048_576


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLog:
    """The log of one day.

    Attributes:
        day: of the user's calendar.
        text: all of it, or its end where it is very long.
        data: the bytes of that text.
        fact: the file; `modified_at` is None when there is none.
    """

    day: date
    fact: FileFact
    text: str = ""
    data: bytes = b""

    @property
    def modified_at(self) -> datetime | None:
        """When it was last written; None when there is none."""
        return self.fact.modified_at

    @property
    def size_bytes(self) -> int:
        """Of the whole file."""
        return self.fact.size_bytes

    def written_after(self, size_bytes: int) -> str:
        """What was added since the file had this size; nothing where it became shorter."""
        added = self.size_bytes - size_bytes
        return self.data[-added:].decode("utf-8", "ignore") if added > 0 else ""


def log_name(day: date) -> str:
    """The file's name below the log folder."""
    return f"{day.isoformat()}.md"


def read_log(home: Path, day: date) -> DayLog:
    """The log of a day, whatever state it is in."""
    read = read_file(home, f"{LOG_FOLDER}/{log_name(day)}", max_bytes=READ_BYTES, tail=True)
    return DayLog(day=day, fact=read.fact, text=read.text, data=read.data)
