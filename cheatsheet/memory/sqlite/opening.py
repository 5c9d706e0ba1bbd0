"""The first look at a memory file: whether it can be one, whether it can be written, and whose log lies beside it."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import closing, suppress
from pathlib import Path

from cheatsheet.errors import StoreCorruptError, StoreError, StoreReadOnlyError
from cheatsheet.memory.sqlite.log_count import is_older_than_log
from cheatsheet.memory.sqlite.migrations import APPLICATION_ID
from cheatsheet.safety.private import make_private_file, make_private_folder

# What a compaction of the journal leaves as it is, and no two entries have in common.
_NEWEST = "SELECT version, namespace_id, at, cause, turn_id, experience_id FROM journal ORDER BY version DESC LIMIT 1"
_KNOWN = "SELECT 1 FROM journal WHERE (version, namespace_id, at, cause, turn_id, experience_id) = (?, ?, ?, ?, ?, ?)"
_UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)

_LOOKS, _PAUSE_S = 5, 0.02  # longer than what the times of files are exact to

# Where the header says how the file is written, and what it says of one without a log (sqlite.org/fileformat2.html).
_WRITE_VERSION = 18
_NO_LOG = b"\x01"


def make_ready(path: str) -> bool:
    """Make the file and its folder for their owner alone; rights stay as they are once they exist.

    SQLite gives the files that it keeps beside it (`-wal`, `-shm`) the rights of the file itself.

    Returns:
        Whether the file can be written.

    Raises:
        StoreReadOnlyError: it cannot be made, or cannot be read.
        StoreError: what is there is no file.
    """
    try:
        _check_kind(path)
        make_private_folder(Path(path).parent)
        make_private_file(Path(path))
    except OSError as error:
        if os.access(path, os.R_OK):
            return False
        raise StoreReadOnlyError(
            f"Cannot create or open the memory {path}: {error.strerror}. Choose a file in a folder that you may "
            f"write to, or ':memory:'."
        ) from error
    return True


def check_ours(connection: sqlite3.Connection, path: str) -> None:
    """See whether an open file is a memory, or may become one.

    Raises:
        StoreCorruptError: it is another program's.
    """
    # One statement, as another process may be making the memory at this moment.
    query = "SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id"
    application_id, tables = connection.execute(query).fetchone()
    if tables and application_id != APPLICATION_ID:
        raise StoreCorruptError(
            f"{path} is a SQLite file of another program, not a memory of Cheatsheet. Choose another file."
        )


def has_log(path: str) -> bool:
    """Whether changes lie beside the file that were not moved into it yet."""
    try:
        return os.stat(f"{path}-wal").st_size > 0  # noqa: PTH116 - a path of SQLite's, of any length
    except OSError:
        return False


def as_it_lies(path: str) -> str:
    """The URI by which SQLite reads a file alone: without its log, without locks, and writing nothing."""
    return f"{Path(path).absolute().as_uri()}?immutable=1"


def check_log(path: str) -> None:
    """See whether the log beside a memory is its own; SQLite would take any whole log for that.

    Raises:
        StoreCorruptError: the log belongs to something else; neither file was changed.
    """
    before = None
    with suppress(FileNotFoundError):  # the log, once the last of others has moved it into the file
        for _ in range(_LOOKS):
            if not has_log(path) or not _is_foreign(path):
                return
            # Whoever looks while another process moves the log into the file sees some of each.
            now = [(of.st_mtime_ns, of.st_size) for of in map(os.stat, (path, f"{path}-wal"))]
            if now == before:
                raise _of_another(path)
            before = now
            time.sleep(_PAUSE_S)


def _is_foreign(path: str) -> bool:
    """Whether a log is that of another file, as far as one look tells.

    A file that says that it keeps no log, as a backup does, was put there since. In any other, no transaction may be
    missing between the file and the log, and the newest entry of the journal in the file alone has to be known with the
    log as well. Where that is not so, and the file alone is sound, the log is that of another memory, or of a later
    state of this one. Where it is not sound, a process died while it moved the log into the file, which needs it.
    """
    if not _keeps_log(path):
        return True
    # What cannot be read so, is told by whoever opens it in earnest.
    with suppress(*_UNREADABLE), closing(sqlite3.connect(as_it_lies(path), uri=True)) as alone:
        newest = alone.execute(_NEWEST).fetchone()
        if newest is None or (_knows(path, newest) and not is_older_than_log(path, alone)):
            return False
        return bool(alone.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    return False


def _of_another(path: str) -> StoreCorruptError:
    return StoreCorruptError(
        f"The log {path}-wal is not that of the memory {path}: opened with it, the memory would be another one. Both "
        f"were left as they are. Move {path}-wal and {path}-shm away, and the memory is as its file has it."
    )


def _keeps_log(path: str) -> bool:
    """Whether the header of a file says that it does, as all have that were opened as a memory."""
    with Path(path).open("rb") as file:
        header = file.read(_WRITE_VERSION + 1)
    return header[_WRITE_VERSION:] != _NO_LOG


def _check_kind(path: str) -> None:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - as above
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no file but a pipe, a device or the like"
        raise StoreError(f"Cannot open the memory {path}: it is {what}. Choose a file.")


def _knows(path: str, entry: tuple[object, ...]) -> bool:
    """Whether an entry is there when the log is read as well; what was compacted away is known by its snapshot."""
    # A connection that only reads does not move the log into the file when it is closed.
    uri = f"{Path(path).absolute().as_uri()}?mode=ro"
    with suppress(*_UNREADABLE), closing(sqlite3.connect(uri, uri=True)) as both:
        if both.execute(_KNOWN, entry).fetchone():
            return True
        (tables,) = both.execute("SELECT count(*) FROM sqlite_master WHERE name = 'snapshots'").fetchone()
        query = "SELECT 1 FROM snapshots WHERE namespace_id = ? AND version >= ?"
        return bool(tables and both.execute(query, (entry[1], entry[0])).fetchone())
    return True
