"""The death of a process in the middle of what SQLite does, as its files would lie there."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def dying_at(step: int, db: sqlite3.Connection, path: Path, copy: Path) -> Iterator[None]:
    """Copy the files at some step of SQLite's machine and end there, as an interrupt; later than all steps: not at all.

    Args:
        db: the connection whose steps are counted.
        path: its file.
        copy: where the file, and those that SQLite keeps beside it, are copied to.
    """
    left = step

    def one_more() -> bool:
        nonlocal left
        left -= 1
        if left == 0:
            for suffix in ("", "-wal", "-journal"):
                if Path(f"{path}{suffix}").exists():
                    shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
        return left <= 0

    db.set_progress_handler(one_more, 1)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
    finally:
        db.set_progress_handler(None, 1)
