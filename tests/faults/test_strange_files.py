"""What lies where a memory is looked for and is none, or has the wrong files beside it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.faults.nursery import Nursery
from benchmarks.faults.states import state_in
from cheatsheet.errors import StoreCorruptError, StoreError, StoreReadOnlyError, StoreVersionError
from cheatsheet.interfaces.wiring import open_memory
from tests.faults import deeds
from tests.faults.worlds import copy_of
from tests.interfaces.shell import Shell


def newer(path: Path) -> None:
    deeds.lived(path, 1)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


def of_another_program(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE songs (title TEXT)")
    db.close()


def without_a_table(path: Path) -> None:
    deeds.lived(path, 1)
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE experiences")
    db.close()


def with_a_forgotten_schema(path: Path) -> None:
    deeds.lived(path, 1)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 0")
    db.close()


STRANGE: dict[str, tuple[Callable[[Path], object], type[StoreError], str]] = {
    "zeros": (lambda path: path.write_bytes(bytes(8192)), StoreCorruptError, "restore a backup"),
    "an image": (lambda path: path.write_bytes(b"\x89PNG\r\n" * 999), StoreCorruptError, "restore a backup"),
    "a text": (lambda path: path.write_text("# Notes\n"), StoreCorruptError, "restore a backup"),
    "another program's": (of_another_program, StoreCorruptError, "Choose another file"),
    "a newer version's": (newer, StoreVersionError, "Open it with the version that wrote it"),
    "a missing table": (without_a_table, StoreCorruptError, "restore a backup"),
    "no schema number": (with_a_forgotten_schema, StoreCorruptError, "restore a backup"),
    "a folder": (lambda path: path.mkdir(), StoreError, "it is a folder. Choose a file"),
    "a pipe": (os.mkfifo, StoreError, "a pipe, a device or the like. Choose a file"),
    "a device": (lambda path: path.symlink_to(os.devnull), StoreError, "a pipe, a device or the like. Choose a file"),
    "a link to itself": (lambda path: path.symlink_to(path), StoreReadOnlyError, "symbolic links. Choose a file"),
    "a link to nowhere": (
        lambda path: path.symlink_to(path.parent / "missing" / "memory.db"),
        StoreReadOnlyError,
        "No such file or directory. Choose a file",
    ),
}


def use(path: Path) -> None:
    with open_memory(path, embedder="hashing", reflector="rules", curator="rules") as engine:
        deeds.recall(engine)
        engine.learn_batch([deeds.turn(0)])


@pytest.mark.parametrize(("make", "error", "remedy"), STRANGE.values(), ids=STRANGE)
def test_what_is_no_memory_is_told_and_left(
    memory_file: Path,
    make: Callable[[Path], object],
    error: type[StoreError],
    remedy: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """S01: nothing that cannot be read is taken for an empty memory and written over."""
    make(memory_file)
    before = memory_file.read_bytes() if memory_file.is_file() else None
    with pytest.raises(error, match=remedy) as raised:
        use(memory_file)
    assert str(memory_file) in str(raised.value)
    assert before is None or memory_file.read_bytes() == before
    turn = ("learn", "How much?", "7", "--feedback", "It is 8", "--embedder", "hashing")
    code, _, said = Shell(capsys)(*turn, "--path", str(memory_file))
    assert (code, said) == (1, f"Error: {raised.value}\n")


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    with pytest.raises(StoreReadOnlyError, match=r"File name too long\. Choose"):
        open_memory(tmp_path / ("x" * 300), embedder="hashing")


def test_an_empty_file_becomes_a_memory(memory_file: Path) -> None:
    memory_file.touch()
    deeds.lived(memory_file, 1)
    assert state_in(memory_file).turns == ("turn-0",)


@pytest.fixture(scope="module")
def with_log(nursery: Nursery, lived_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory whose newest turn lies in its log."""
    path = copy_of(lived_once, tmp_path_factory.mktemp("log") / "memory")
    nursery.live("tests.faults.deeds:die_learnt", path=str(path), number=50)
    return path


def test_the_log_of_another_memory_is_never_taken_for_its_own(nursery: Nursery, lived: Path, tmp_path: Path) -> None:
    """SQLite takes every whole log: the memory would become the other one, and be written over with it."""
    other = tmp_path / "other.db"
    nursery.live("tests.faults.deeds:die_learnt", path=str(other), number=1)
    shutil.copy(f"{other}-wal", f"{lived}-wal")
    before = lived.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreCorruptError, match=r"is not that of the memory .* Move .*-wal and .*-shm away"):
            deeds.opened(lived)
    assert lived.read_bytes() == before
    for suffix in ("-wal", "-shm"):
        Path(f"{lived}{suffix}").rename(tmp_path / f"away{suffix}")
    assert len(state_in(lived).turns) == 12


def test_an_older_log_of_its_own_is_told(nursery: Nursery, with_log: Path, tmp_path: Path) -> None:
    """A file that was copied without its log, and went on, beside the log that it had then."""
    path = copy_of(with_log, tmp_path / "memory")
    log = Path(f"{path}-wal").read_bytes()
    deeds.opened(path).close()
    with deeds.opened(path) as engine:
        for number in range(60, 75):
            engine.learn_batch([deeds.turn(number)])
    Path(f"{path}-wal").write_bytes(log)
    with pytest.raises(StoreCorruptError, match="is not that of the memory"):
        deeds.opened(path)


@pytest.mark.parametrize("since", [0, 30], ids=["with all that came since in the log", "with a part of it"])
def test_a_backup_put_beside_the_log_of_what_it_replaces_is_told(nursery: Nursery, tmp_path: Path, since: int) -> None:
    """SQLite would put the pages of the newer log over the older file: some of each, or all that was to be undone."""
    path, backup = tmp_path / "memory.db", tmp_path / "backup.db"
    with deeds.opened(path) as engine:
        engine.learn_batch([deeds.turn(1)])
        engine.backup(backup)
    with deeds.opened(path) as engine:
        for number in range(100, 100 + since):
            engine.learn_batch([deeds.turn(number)])
    nursery.live("tests.faults.deeds:die_learnt", path=str(path), number=50)
    shutil.copy(backup, path)
    with pytest.raises(StoreCorruptError, match=r"is not that of the memory .* Move .*-wal and .*-shm away"):
        deeds.opened(path)
    assert path.read_bytes() == backup.read_bytes()
    Path(f"{path}-wal").unlink()
    Path(f"{path}-shm").unlink(missing_ok=True)
    assert state_in(path).turns == ("turn-1",)


@pytest.mark.parametrize("suffix", ["-shm", "-wal", "-journal"])
def test_garbage_beside_the_memory_is_not_read(lived: Path, suffix: str) -> None:
    before = state_in(lived)
    Path(f"{lived}{suffix}").write_bytes(bytes(range(256)) * 40)
    assert state_in(lived) == before


def test_a_log_without_its_index_is_read(with_log: Path, tmp_path: Path) -> None:
    path = copy_of(with_log, tmp_path / "memory")
    assert not Path(f"{path}-shm").exists()
    assert state_in(path).turns[-1] == "turn-50"
