"""What SQLite says when something is wrong, as the errors of the store."""

from __future__ import annotations

import re
import sqlite3

from cheatsheet.errors import SettingsError, StoreBusyError, StoreCorruptError, StoreError, StoreReadOnlyError

READ_ONLY = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH})
# The last of them: readers of a log that is begun anew again and again could not agree with its writer.
BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
# Our statements fit the schema of every memory; where they do not, something has changed the schema or what is stored.
_SIGNS_OF_DAMAGE = re.compile(
    r"no such |duplicate column|already exists|unsupported file format|malformed|Could not decode to UTF-8"
)
_NO_FULL_TEXT = re.compile(r"no such module: fts5|no such tokenizer")
_WHILE_READING = frozenset({"SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_FSTAT"})


def code_of(error: sqlite3.Error) -> int:
    """SQLite's primary result code; the low byte of the one that tells variants of it apart."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def translated(error: sqlite3.DatabaseError, path: str) -> StoreError | SettingsError | sqlite3.DatabaseError:
    """The store's error for one of SQLite's, with a sentence that says what to do; the same one where there is none."""
    code = code_of(error)
    if code == sqlite3.SQLITE_ERROR and _NO_FULL_TEXT.search(str(error)):
        return SettingsError(
            f"The words of the memory {path} cannot be indexed: the SQLite of this Python, {sqlite3.sqlite_version}, "
            f"lacks FTS5 or its trigram tokenizer ({error}). Use a Python whose SQLite has both, or search='vectors' "
            f"for a memory in which words were never looked for."
        )
    if code in _CORRUPT or (code == sqlite3.SQLITE_ERROR and _SIGNS_OF_DAMAGE.search(str(error))):
        return damaged(error, path)
    if code in READ_ONLY:
        return StoreReadOnlyError(
            f"Cannot write the memory {path} ({error}). To learn, make the file and its folder writable, or work with "
            f"a copy; to recall, they must be readable."
        )
    if code in BUSY:
        return StoreBusyError(
            f"The memory {path} is locked by another process ({error}). Try again, or raise busy_timeout_s."
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreError(
            f"Cannot write the memory {path}: {error}. Nothing of this change was stored; free some space."
        )
    if code == sqlite3.SQLITE_IOERR:
        return _disk_error(error, path)
    return error


def damaged(error: Exception, path: str) -> StoreCorruptError:
    """What is told of a file that SQLite cannot read."""
    return StoreCorruptError(
        f"{path} is not a memory of Cheatsheet, or is damaged ({error}). It was left as it is: restore a backup, or "
        f"move it away and start anew."
    )


def _disk_error(error: sqlite3.DatabaseError, path: str) -> StoreError:
    name = getattr(error, "sqlite_errorname", "")
    if name in _WHILE_READING:
        return StoreError(
            f"Cannot read the memory {path}: {error} ({name}). Look whether its disk is there and sound; if it is not, "
            f"restore a backup on another one."
        )
    # When the disk does not confirm what it was given, it may have it or not.
    return StoreError(
        f"Cannot write the memory {path}: {error} ({name}). This change is not acknowledged: it is there as a whole or "
        f"not at all when the memory is opened again. Free some space, or look whether the disk is sound."
    )
