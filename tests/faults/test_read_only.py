"""A memory that cannot be written can be read, and says what it needs to learn.

S10: it is the same whatever the system calls it (EACCES, EPERM, EROFS).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.faults.nursery import Nursery
from benchmarks.faults.states import state_in
from tests.faults.deeds import NOBODY
from tests.faults.worlds import copy_of, is_sentence

AS_NOBODY = "tests.faults.deeds:act_without_rights"
READ = [["recall", "done", ""], ["look", "done", ""]]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter, as those of pytest may not be."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def with_log(nursery: Nursery, lived_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory whose newest turn lies in its log."""
    path = copy_of(lived_once, tmp_path_factory.mktemp("log") / "memory")
    nursery.live("tests.faults.deeds:die_learnt", path=str(path), number=50)
    assert Path(f"{path}-wal").stat().st_size
    return path


def given_away(path: Path, *, file: int, folder: int) -> Path:
    """Let nobody own a memory, with these rights."""
    for each in (path.parent, *path.parent.iterdir()):
        if not os.geteuid():
            os.chown(each, NOBODY, NOBODY)
        each.chmod(file if each.is_file() else folder)
    return path


@pytest.mark.parametrize(
    ("file", "folder"),
    [(0o444, 0o755), (0o644, 0o555), (0o444, 0o555)],
    ids=["the file", "the folder", "both"],
)
def test_without_the_right_to_write(
    nursery: Nursery, lived_once: Path, open_folder: Path, file: int, folder: int
) -> None:
    path = given_away(copy_of(lived_once, open_folder / "memory"), file=file, folder=folder)
    learnt, *read = nursery.live(AS_NOBODY, path=str(path)).said
    assert learnt[:2] == ["learn", "StoreReadOnlyError"]
    assert is_sentence(learnt, path)
    assert read == READ
    path.parent.chmod(0o755)
    assert state_in(path) == state_in(lived_once)


@pytest.mark.parametrize(("file", "folder"), [(0o000, 0o755), (0o644, 0o000)], ids=["the file", "the folder"])
def test_without_the_right_to_read(
    nursery: Nursery, lived_once: Path, open_folder: Path, file: int, folder: int
) -> None:
    path = given_away(copy_of(lived_once, open_folder / "memory"), file=file, folder=folder)
    (opened,) = nursery.live(AS_NOBODY, path=str(path)).said
    assert opened[:2] == ["open", "StoreReadOnlyError"]
    assert "Permission denied" in opened[2]
    assert is_sentence(opened, path)


def test_a_log_that_cannot_be_read_is_never_left_out(nursery: Nursery, with_log: Path, open_folder: Path) -> None:
    """The file alone would be a memory without its newest turn."""
    path = given_away(copy_of(with_log, open_folder / "memory"), file=0o444, folder=0o555)
    (opened,) = nursery.live(AS_NOBODY, path=str(path)).said
    assert opened[:2] == ["open", "StoreReadOnlyError"]
    assert f"{path}-wal" in opened[2]
    assert is_sentence(opened, path)


def test_a_folder_that_may_be_written_lets_the_log_be_read(nursery: Nursery, with_log: Path, open_folder: Path) -> None:
    path = given_away(copy_of(with_log, open_folder / "memory"), file=0o444, folder=0o755)
    learnt, *read = nursery.live(AS_NOBODY, path=str(path)).said
    assert is_sentence(learnt, path)
    assert read == READ


def test_a_read_only_file_system(mounting_nursery: Nursery, mounted: Path) -> None:
    path = mounted / "read-only" / "memory.db"
    learnt, *read = mounting_nursery.live("tests.faults.deeds:act_one_by_one", path=str(path)).said
    assert learnt[:2] == ["learn", "StoreReadOnlyError"]
    assert is_sentence(learnt, path)
    assert read == READ


def test_a_new_memory_on_a_read_only_file_system(mounting_nursery: Nursery, mounted: Path) -> None:
    path = mounted / "read-only" / "new.db"
    (opened,) = mounting_nursery.live("tests.faults.deeds:act_one_by_one", path=str(path)).said
    assert "Read-only file system" in opened[2]
    assert is_sentence(opened, path)


def test_a_file_that_nobody_may_change(nursery: Nursery, lived: Path) -> None:
    """EPERM, for root as well."""
    if not shutil.which("chattr") or subprocess.run(["chattr", "+i", lived], capture_output=True).returncode:
        pytest.skip("files cannot be made immutable here (chattr +i)")
    try:
        learnt, *read = nursery.live("tests.faults.deeds:act_one_by_one", path=str(lived)).said
    finally:
        subprocess.run(["chattr", "-i", lived], check=True)
    assert learnt[:2] == ["learn", "StoreReadOnlyError"]
    assert is_sentence(learnt, lived)
    assert read == READ
