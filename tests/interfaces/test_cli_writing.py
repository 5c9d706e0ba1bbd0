"""Files that people asked for by name: whole, with the rights that they had, where a link leads."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from cheatsheet.interfaces.cli.writing import write_whole


def test_a_file_keeps_its_rights_and_a_link_goes_on_leading_to_it(tmp_path: Path) -> None:
    file, link = tmp_path / "there" / "out.md", tmp_path / "link.md"
    file.parent.mkdir()
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_whole(link, b"new")
    assert (link.is_symlink(), file.read_bytes(), file.stat().st_mode & 0o777) == (True, b"new", 0o640)
    assert list(file.parent.iterdir()) == [file]


def test_a_link_to_nothing_yet_and_one_to_itself_become_files(tmp_path: Path) -> None:
    ahead, around = tmp_path / "ahead.md", tmp_path / "around.md"
    ahead.symlink_to(tmp_path / "new.md")
    around.symlink_to(around)
    for path in (ahead, around):
        write_whole(path, b"new")
        assert path.read_bytes() == b"new"
    assert ahead.is_symlink()


def test_what_is_no_file_is_written_as_it_is(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"new")
    reader.join(60)
    assert read == [b"new"]
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, b"new")


def test_where_it_cannot_be_written_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.md"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
