"""What is stored and cannot be what was written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from cheatsheet.errors import StoreCorruptError


@contextmanager
def damage_told(place: str | sqlite3.Connection) -> Iterator[None]:
    """Tell rows that make no sense to who reads them inside the block as damage to the file.

    SQLite keeps no checksums: a changed byte inside a value is found only where the value can no longer be read.

    Args:
        place: the memory file, or a connection to it.

    Raises:
        StoreCorruptError: a row could not be read.
    """
    try:
        yield
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise StoreCorruptError(
            f"What the memory {_path(place)} holds cannot be read ({reason}): something else has changed the file, or "
            f"the disk has. It was left as it is: restore a backup. `cheatsheet verify` tells all that is wrong."
        ) from error


def _path(place: str | sqlite3.Connection) -> str:
    if isinstance(place, str):
        return place
    path: str = place.execute("PRAGMA database_list").fetchone()[2]
    return path or ":memory:"
