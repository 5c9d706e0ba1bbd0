"""Which locks others hold on a SQLite file: in the midst of what a process was stopped."""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path

# struct flock of 64-bit Linux: type, whence, start, length, pid.
_FLOCK = struct.Struct("hhqqi4x")

# Where SQLite locks: bytes of the file itself while it keeps a rollback journal, and of the file `-shm` while it keeps
# a write-ahead log (sqlite.org/fileformat2.html#the_lock_byte_page, sqlite.org/walformat.html#wal_locks).
_PLACES = (
    ("transaction", "-shm", 120),
    ("checkpoint", "-shm", 121),
    ("recovery", "-shm", 122),
    ("transaction", "", 0x40000001),
)


def held_by_others(path: str) -> tuple[str, ...]:
    """What another process is doing to a file that its locks tell of: `transaction`, `checkpoint`, `recovery`."""
    return tuple(dict.fromkeys(what for what, suffix, place in _PLACES if _is_locked(f"{path}{suffix}", place)))


def _is_locked(path: str, place: int) -> bool:
    if not Path(path).exists():
        return False
    handle = os.open(path, os.O_RDONLY)
    try:
        asked = _FLOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, place, 1, 0)
        kind, *_ = _FLOCK.unpack(fcntl.fcntl(handle, fcntl.F_GETLK, asked))
        return bool(kind != fcntl.F_UNLCK)
    finally:
        os.close(handle)
