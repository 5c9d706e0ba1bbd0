"""Files of calls: private, whole lines or none, and nothing lost in silence."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cheatsheet.llm.call_file import CallFile


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    file = CallFile(tmp_path / "deep" / "calls.jsonl")
    assert file.read().values == ()
    file.append([{"a": 1}, {"b": "\u2028\ud83d"}])
    file.append([])
    file.append([{"c": None}])
    assert [line.number for line in file.read().values] == [1, 2, 3]
    assert [line.value for line in file.read().values] == [{"a": 1}, {"b": "\u2028\ud83d"}, {"c": None}]


def test_files_and_folders_that_are_made_are_for_their_owner_alone(tmp_path: Path) -> None:
    file = CallFile(tmp_path / "deep" / "calls.jsonl")
    file.append([{}])
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700


def test_s06_nothing_is_glued_to_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b'{"a": 1}\n{"b"')
    CallFile(path).append([{"c": 3}])
    assert path.read_bytes() == b'{"a": 1}\n{"b"\n{"c": 3}\n'
    lines = CallFile(path).read()
    assert [line.value for line in lines.values] == [{"a": 1}, {"c": 3}]
    assert [damage.number for damage in lines.damaged] == [2]


@pytest.mark.parametrize("line", [b"7", b"[1]", b"nonsense", b"\xff\xfe", b'{"a": 1}{"b": 2}', b"[" * 100_000])
def test_a_line_that_is_no_object_is_told(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b"\n" + line + b'\n\n{"a": 1}')
    lines = CallFile(path).read()
    assert [line.value for line in lines.values] == [{"a": 1}]
    assert [damage.number for damage in lines.damaged] == [2]
