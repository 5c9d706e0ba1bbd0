"""A count of the transactions of a memory, by which an older file is told from the one that a log was begun for.

SQLite knows of a log only that it is whole. It would put the pages of a log over any file, also over an older copy of
the same memory: what was moved into the file since that copy was made would be missing between the two, and the memory
be some of each. So every transaction raises a count, which a log holds with the pages of its first one.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

# The count stands where SQLite keeps the newest version of the journal: on a page that every turn writes anyway.
_RAISE = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'commits'"
_BEGIN = "INSERT INTO sqlite_sequence (name, seq) VALUES ('commits', 1)"
_PAGE = "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_sequence'"

# sqlite.org/fileformat2.html: a log, section 4.1; a page of a table, section 1.6; a record of two columns, section 2.1.
_LOG_HEADER, _FRAME_HEADER, _LEAF_HEADER = 32, 24, 8
_LEAF = b"\x0d"
_RECORD = re.compile(rb"..\x03\x1b([\x01-\x06\x08\x09])commits", re.DOTALL)
_BYTES_OF = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_ZERO = 8  # from here on the kind of a number is the number


def count_commit(db: sqlite3.Connection) -> None:
    """Raise the count, within a transaction that is about to be committed."""
    if not db.execute(_RAISE).rowcount:
        db.execute(_BEGIN)


def is_older_than_log(path: str, alone: sqlite3.Connection) -> bool:
    """Whether transactions are missing between a file and the first one in its log.

    False where that is not known: an older version of Cheatsheet wrote one of them, or the log has none that counts.

    Args:
        alone: the file, read without its log.
    """
    row = alone.execute(_PAGE).fetchone()
    (size,) = alone.execute("PRAGMA page_size").fetchone()
    if row is None:
        return False
    # In this order: others may move the log into the file meanwhile, and begin it anew.
    first = _first_in_log(Path(f"{path}-wal"), row[0], size)
    with Path(path).open("rb") as file:
        file.seek((row[0] - 1) * size)
        here = _count_on(file.read(size))
    return first is not None and here is not None and here < first - 1


def _first_in_log(log: Path, page: int, size: int) -> int | None:
    """The count on the oldest version of a page in a log."""
    with log.open("rb") as file:
        salts = file.read(_LOG_HEADER)[16:24]
        return next((_count_on(held) for number, held in _frames(file, salts, size) if number == page), None)


def _frames(file: BinaryIO, salts: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Numbers and pages of the frames that were written since the log was begun anew."""
    while len(frame := file.read(_FRAME_HEADER + size)) == _FRAME_HEADER + size and frame[8:16] == salts:
        yield int.from_bytes(frame[:4]), frame[_FRAME_HEADER:]


def _count_on(page: bytes) -> int | None:
    """The count on a page of the table `sqlite_sequence`; None where it has none, or is another page."""
    if page[:1] != _LEAF:
        return None
    for entry in range(int.from_bytes(page[3:5])):
        pointer = _LEAF_HEADER + 2 * entry
        record = _RECORD.match(page, int.from_bytes(page[pointer : pointer + 2]))
        if record:
            kind = record[1][0]
            return kind - _ZERO if kind >= _ZERO else int.from_bytes(page[record.end() :][: _BYTES_OF[kind]])
    return None
