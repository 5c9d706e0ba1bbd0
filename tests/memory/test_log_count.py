"""Which logs are a file's own: the count of its transactions, and what others do to the file while one looks."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import StoreCorruptError
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.sqlite import log_count, opening
from cheatsheet.memory.sqlite.opening import check_log
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.upkeep.verify import verify
from tests.memory.search.worlds import NOW


def learn(store: SqliteStore, count: int, *, at_once: int = 1) -> None:
    """Turns in so many transactions, each with so many entries of the journal."""
    change = Change(at=NOW, cause="user", operations=(Add(draft=Draft(content="advice " * 60)),))
    for _ in range(count):
        store.commit("default", change, beside=[change] * (at_once - 1))


def copied(path: Path, folder: Path) -> Path:
    """A copy of a memory in use, with its log: as a process leaves it that is killed."""
    folder.mkdir()
    for file in (path, Path(f"{path}-wal")):
        shutil.copy(file, folder)
    return folder / path.name


def older_copy(path: Path, *, before: int, between: int, after: int, at_once: int = 1) -> Path:
    """A memory with a log, and in the place of its file a copy from before some that is in the file."""
    with closing(SqliteStore(path)) as store:
        learn(store, before, at_once=at_once)
    shutil.copy(path, path.with_name("older.db"))
    with closing(SqliteStore(path)) as store:
        learn(store, between, at_once=at_once)
    with closing(SqliteStore(path)) as store:
        learn(store, after, at_once=at_once)
        killed = copied(path, path.parent / "killed")
    shutil.copy(path.with_name("older.db"), killed)
    return killed


@pytest.mark.parametrize(("before", "between", "after"), [(5, 1, 1), (5, 3, 2), (200, 1, 1), (20, 100, 3)])
@pytest.mark.parametrize("at_once", [1, 3])
def test_an_older_copy_beside_a_newer_log_is_told_and_left(
    tmp_path: Path, before: int, between: int, after: int, at_once: int
) -> None:
    """SQLite would open it: with entries missing in its indexes, or with the older copy undone."""
    path = older_copy(tmp_path / "memory.db", before=before, between=between, after=after, at_once=at_once)
    content = path.read_bytes()
    with pytest.raises(StoreCorruptError, match="is not that of the memory"):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_an_older_copy_is_made_whole_by_a_log_that_has_all_since(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        learn(store, 3)
        older = copied(tmp_path / "memory.db", tmp_path / "older")
        learn(store, 3)
        killed = copied(tmp_path / "memory.db", tmp_path / "killed")
    shutil.copy(older, killed)
    with closing(SqliteStore(killed)) as store:
        assert store.version("default") == 6
        assert verify(store) == []


def vacuumed(store: SqliteStore) -> None:
    store.shrink()
    learn(store, 1)


@pytest.mark.parametrize(
    "then",
    [lambda store: learn(store, 1, at_once=5), vacuumed, lambda store: store.matching_bullets("default", "advice", 3)],
    ids=["several turns in one transaction", "a file that was vacuumed", "a transaction without a turn"],
)
def test_a_log_of_its_own_is_taken(tmp_path: Path, then: Callable[[SqliteStore], object]) -> None:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        learn(store, 4)
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        then(store)
        version = store.version("default")
        killed = copied(tmp_path / "memory.db", tmp_path / "killed")
    with closing(SqliteStore(killed)) as store:
        assert store.version("default") == version
        assert verify(store) == []


def test_a_log_of_a_version_that_did_not_count_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("cheatsheet.memory.sqlite.connections.count_commit", lambda db: None)
        with closing(SqliteStore(tmp_path / "memory.db")) as store:
            learn(store, 3)
            killed = copied(tmp_path / "memory.db", tmp_path / "killed")
    for turns in (3, 4):
        with closing(SqliteStore(killed)) as store:
            assert store.version("default") == turns
            learn(store, 1)


def test_what_changes_while_it_is_looked_at_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process moves the log into the file at this moment, and the file is some of each."""
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        learn(store, 1)
        path = copied(tmp_path / "memory.db", tmp_path / "copy")
    looks: list[str] = []

    def foreign(path: str) -> bool:
        looks.append(path)
        os.utime(path, ns=(0, len(looks)))
        return len(looks) < 3

    monkeypatch.setattr(opening, "_is_foreign", foreign)
    check_log(str(path))
    assert len(looks) == 3

    def gone(path: str) -> bool:
        raise FileNotFoundError(path)

    monkeypatch.setattr(opening, "_is_foreign", gone)
    check_log(str(path))


@settings(max_examples=60)
@given(st.integers(0, 2**63 - 1))
def test_any_count_is_read_from_its_page(count: int) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE journal (version INTEGER PRIMARY KEY AUTOINCREMENT)")
        db.execute("INSERT INTO journal DEFAULT VALUES")
        log_count.count_commit(db)
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'commits'", (count,))
        db.commit()
        (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_sequence'").fetchone()
        page = db.serialize()[(root - 1) * 4096 : root * 4096]
    assert log_count._count_on(page) == count


@given(st.binary(max_size=300))
def test_no_page_is_read_wrongly_for_a_count(page: bytes) -> None:
    assert log_count._count_on(page) is None
    assert log_count._count_on(b"\x0d" + page) is None
