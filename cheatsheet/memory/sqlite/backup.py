"""A copy of a memory file, made while others read and write it."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from cheatsheet.errors import SetupError, StoreCorruptError, StoreError
from cheatsheet.memory.sqlite.migrations import APPLICATION_ID
from cheatsheet.memory.sqlite.translating import translated
from cheatsheet.memory.store import Progress
from cheatsheet.safety.private import make_private_file

PAGES_AT_ONCE = 4_096  # of 4 KiB: between two of them the progress is told


def back_up(
    source: sqlite3.Connection, path: Path, *, origin: str, force: bool = False, progress: Progress | None = None
) -> None:
    """Copy a memory to a file for its owner alone.

    The copy is made beside its place, looked through, and only then put there; on any failure what stands there stays
    as it is.

    Args:
        source: inside a transaction that reads, so that the copy is of one moment.
        origin: the file that is copied.

    Raises:
        SetupError: there is a file already, or it is the memory itself.
        StoreError: it cannot be written.
    """
    _check_free(path, origin, force)
    try:
        with _beside(path) as part:
            _copy(source, part, progress)
            _check(part)
            _sync(part)
            _check_free(path, origin, force)
            part.replace(path)
        _sync(path.parent)
    except (OSError, sqlite3.DatabaseError) as error:
        if isinstance(error, sqlite3.DatabaseError) and isinstance(translated(error, origin), StoreCorruptError):
            raise  # it is the memory that cannot be read
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise StoreError(
            f"The backup {path} cannot be written: {reason}. Nothing was left there; free some space, or give another "
            f"place."
        ) from error


def _check_free(path: Path, origin: str, force: bool) -> None:
    if not path.exists():
        return
    if Path(origin).exists() and path.samefile(origin):
        raise SetupError(f"{path} is the memory itself. Give another file for its backup.")
    if not force:
        raise SetupError(f"{path} is there already. Give another file, or --force to replace it.")
    if not path.is_file():
        raise SetupError(f"{path} is no file, and is not replaced. Give another one.")


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A new file in the same folder, which is gone at the end unless it was moved."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        make_private_file(part)
        yield part
    finally:
        for left in (part, part.with_name(f"{part.name}-journal")):
            left.unlink(missing_ok=True)


def _copy(source: sqlite3.Connection, part: Path, progress: Progress | None) -> None:
    def told(status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    with closing(sqlite3.connect(part)) as target:
        source.backup(target, pages=PAGES_AT_ONCE, progress=told)
        target.execute("PRAGMA journal_mode = DELETE")  # so that no log beside it is taken for its own (`check_log`)


def _check(part: Path) -> None:
    """Open the copy as it will be opened one day.

    Raises:
        StoreError: it is not sound.
    """
    with closing(sqlite3.connect(f"{part.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if application != APPLICATION_ID or found != "ok":
        raise StoreError(
            f"The copy is not sound ({found}), so no backup was made. `cheatsheet verify` tells whether the memory is."
        )


def _sync(place: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; not all systems let folders be opened."""
    if place.is_dir() and os.name != "posix":
        return
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
