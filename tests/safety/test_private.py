"""Home, store and runs are private to their user, also where the umask lets everybody in."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from cheatsheet.context.home import create_home
from cheatsheet.errors import StoreReadOnlyError
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.llm.reply_cache import FILE_NAME, DiskReplies
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.safety.private import make_private_folder
from tests.memory.worlds import NOW, add


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(root: Path) -> dict[str, int]:
    """The rights of all that is below a folder."""
    return {str(path.relative_to(root)): stat.S_IMODE(path.stat().st_mode) for path in sorted(root.rglob("*"))}


def test_a_new_memory_is_private_with_all_its_files(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "deep" / "home" / "memory.db"))
    store.commit("default", Change(at=NOW, cause="user", operations=(add("Private advice."),)))
    assert modes(tmp_path) == {
        "deep": 0o700,
        "deep/home": 0o700,
        "deep/home/memory.db": 0o600,
        "deep/home/memory.db-shm": 0o600,
        "deep/home/memory.db-wal": 0o600,
    }
    store.close()


def test_what_is_there_keeps_its_rights(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o750)
    (home / "memory.db").touch(mode=0o640)
    SqliteStore(str(home / "memory.db")).close()
    assert modes(tmp_path) == {"home": 0o750, "home/memory.db": 0o640}


def test_a_new_home_is_private(tmp_path: Path) -> None:
    create_home(tmp_path / "deep" / "home")
    found = modes(tmp_path)
    assert found["deep"] == 0o700
    assert set(found.values()) == {0o700, 0o600}


def test_a_run_and_kept_replies_are_private(tmp_path: Path) -> None:
    with RunFolder(path=tmp_path / "runs" / "one").locked():
        assert {name: mode for name, mode in modes(tmp_path).items() if "." not in name} == {
            "runs": 0o700,
            "runs/one": 0o700,
        }
    DiskReplies(tmp_path / "replies")
    assert modes(tmp_path)[f"replies/{FILE_NAME}"] == 0o600
    assert modes(tmp_path)["replies"] == 0o700


def test_a_file_in_the_place_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make_private_folder(tmp_path / "file")
    with pytest.raises(StoreReadOnlyError, match="Choose a file in a folder"):
        SqliteStore(str(tmp_path / "file" / "memory.db"))
