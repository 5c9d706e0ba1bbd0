"""What a check of the doctor finds."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Level = Literal["ok", "warning", "error"]

Found = tuple[Level, str, str]
"""Level, text and what to do, as a check yields them."""

_OTHERS: Final = 0o077


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was found.

    Attributes:
        level: `warning`: something is missing or could be better; `error`: something does not work.
        mend: what to do about it; empty where nothing is to be done.
    """

    check: str
    level: Level
    text: str
    mend: str = ""


def read_by_others(path: Path) -> int:
    """The mode of a file that others than its owner may use; 0 where they may not, or where there are no modes."""
    mode = stat.S_IMODE(path.stat().st_mode)
    return mode if os.name == "posix" and mode & _OTHERS else 0
