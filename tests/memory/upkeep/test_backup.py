"""Backup: a whole copy of one moment, or nothing."""

from __future__ import annotations

import os
import resource
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from cheatsheet.errors import SetupError, StoreCorruptError, StoreError
from cheatsheet.memory.sqlite import backup as backup_module
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.upkeep.verify import verify
from tests.memory.upkeep.worlds import add, worn, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    worn(tmp_path / "memory.db")
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path)) as store:
        yield store


def contents(path: Path) -> list[object]:
    with closing(SqliteStore(path)) as store:
        assert verify(store) == []
        parts: list[object] = [list(store.vectors())]
        for name in store.namespaces():
            parts += [store.journal(name), store.bullets(name, status=None), store.experiences(name, status=None)]
        return [str(part) for part in parts]


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if not file.name.endswith(("-wal", "-shm")))


def test_a_copy_is_the_same_memory(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    copy = tmp_path / "copy.db"
    store.backup(copy, progress=lambda done, total: told.append((done, total)))
    assert contents(copy) == contents(path)
    assert told[-1][0] == told[-1][1] > 0
    assert names(tmp_path) == ["copy.db", "memory.db"]
    if os.name == "posix":
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_copy_goes_on_by_itself(store: SqliteStore, tmp_path: Path) -> None:
    store.backup(tmp_path / "copy.db")
    with closing(SqliteStore(tmp_path / "copy.db")) as copy:
        assert write(copy, add("new")) == store.version("default") + 1
    assert store.count_bullets("default") == 1


def test_a_memory_in_ram_can_be_kept_in_a_file(tmp_path: Path) -> None:
    with closing(SqliteStore(":memory:")) as store:
        write(store, add("one"))
        store.backup(tmp_path / "kept.db")
    with closing(SqliteStore(tmp_path / "kept.db")) as kept:
        assert [bullet.content for bullet in kept.bullets("default")] == ["one"]


def test_what_is_there_is_replaced_only_when_asked(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_text("something else", encoding="utf-8")
    with pytest.raises(SetupError, match=r"is there already\. Give another file, or --force"):
        store.backup(copy)
    assert copy.read_text(encoding="utf-8") == "something else"
    store.backup(copy, force=True)
    assert contents(copy) == contents(path)
    with pytest.raises(SetupError, match="is the memory itself"):
        store.backup(path, force=True)
    with pytest.raises(SetupError, match="is no file"):
        store.backup(tmp_path, force=True)


def test_a_copy_is_of_one_moment_while_others_write(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_module, "PAGES_AT_ONCE", 1)
    with closing(SqliteStore(path)) as store, closing(SqliteStore(path)) as other:
        before, stop = contents(path), threading.Event()

        def keep_writing() -> None:
            while not stop.is_set():
                write(other, add(f"written meanwhile {other.version('default')}"))

        writer = threading.Thread(target=keep_writing)
        done: list[int] = []

        def begin(pages: int, total: int) -> None:
            done.append(pages)
            if len(done) == 1:
                writer.start()
            while len(done) == 2 and other.count_bullets("default") < 4:
                pass  # so that something was written while it was copied

        store.backup(tmp_path / "copy.db", progress=begin)
        stop.set()
        writer.join()
        assert other.count_bullets("default") >= 4
    assert contents(tmp_path / "copy.db") == before


def test_a_folder_that_is_not_there_is_told(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be written: No such file or directory. Nothing was left there"):
        store.backup(tmp_path / "none" / "copy.db")


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """What a full disk does to who writes, as far as a process can ask for it."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.skipif(os.name != "posix", reason="needs limits of a process")
def test_a_disk_that_is_full_leaves_what_was_there(store: SqliteStore, tmp_path: Path) -> None:
    """S05: what is written anew must not cost what was there before."""
    copy = tmp_path / "copy.db"
    copy.write_text("of yesterday", encoding="utf-8")
    with files_of_at_most(20_000), pytest.raises(StoreError, match=r"The backup .* cannot be written"):
        store.backup(copy, force=True)
    assert copy.read_text(encoding="utf-8") == "of yesterday"
    assert names(tmp_path) == ["copy.db", "memory.db"]


def test_whoever_is_stopped_leaves_nothing(store: SqliteStore, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.backup(tmp_path / "copy.db", progress=stop)
    assert names(tmp_path) == ["memory.db"]


def test_a_damaged_memory_is_not_copied(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'bullets'").fetchone()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(data)
    with closing(SqliteStore(path)) as store, pytest.raises((StoreError, StoreCorruptError), match=r"sound|damaged"):
        store.backup(tmp_path / "copy.db")
    assert names(tmp_path) == ["memory.db"]
