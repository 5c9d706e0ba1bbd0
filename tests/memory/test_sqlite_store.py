"""Files that are no memory, or cannot be used as one: told in a sentence, and left as they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cheatsheet.errors import StoreBusyError, StoreCorruptError, StoreError, StoreReadOnlyError, StoreVersionError
from cheatsheet.memory.journal import Change
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.sqlite_store import SqliteStore

CHANGE = Change(
    at=datetime(2026, 1, 5, tzinfo=UTC), cause="user", operations=(Add(draft=Draft(content="Check the units.")),)
)


def write_newer(path: Path) -> None:
    SqliteStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def write_foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()


def write_garbage(path: Path) -> None:
    path.write_bytes(b'{"bullets": [{"id": "a-1", "conte' * 99)


@pytest.mark.parametrize(
    ("write", "error", "sentence"),
    [
        (write_newer, StoreVersionError, "schema 99; this version of Cheatsheet knows up to 1"),
        (write_foreign, StoreCorruptError, "a SQLite file of another program"),
        (write_garbage, StoreCorruptError, "It was left as it is"),
    ],
)
def test_what_is_no_memory_of_ours_is_told_and_left_as_it_is(
    tmp_path: Path, write: Callable[[Path], None], error: type[StoreError], sentence: str
) -> None:
    """S01: what cannot be read is never taken for an empty memory and written over."""
    path = tmp_path / "memory.db"
    write(path)
    before = path.read_bytes()
    with pytest.raises(error, match=sentence):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    with pytest.raises(StoreReadOnlyError, match="Choose a file in a folder that you may write to"):
        SqliteStore(tmp_path / "file" / "memory.db")


def test_an_empty_file_becomes_a_memory(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    store = SqliteStore(path)
    assert store.commit("default", CHANGE).entry.version == 1
    store.close()


def test_a_writer_that_keeps_the_file_too_long_is_told_and_readers_do_not_wait(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db", busy_timeout_s=0.05)
    store.commit("default", CHANGE)
    other = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.count_bullets("default") == 1
    with pytest.raises(StoreBusyError, match="locked by another process"):
        store.commit("default", CHANGE)
    other.execute("ROLLBACK")
    other.close()
    assert store.commit("default", CHANGE).entry.version == 2
    store.close()
