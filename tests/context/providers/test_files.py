"""Files in any state, and folders with any links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.context.providers.file_health import damage_lines, health_lines
from cheatsheet.context.providers.files import FileFact, digest, read_file, walk_files
from tests.context.providers.worlds import write


def health(root: Path, name: str, *, max_bytes: int = 100) -> tuple[str, str]:
    read = read_file(root, name, max_bytes=max_bytes)
    return read.fact.health, read.text


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"text\r\nmore\r", ("ok", "text\nmore\n")),
        (b"\xef\xbb\xbftext", ("ok", "text")),
        (b"", ("empty", "")),
        (b" \n\t\n", ("empty", " \n\t\n")),
        (b"x" * 101, ("oversized", "x" * 100)),
        ("é".encode() * 60, ("oversized", "é" * 50)),
        (b"x" + "é".encode() * 60, ("oversized", "x" + "é" * 49)),
        (b"caf\xe9", ("not-utf8", "caf�")),
        ("über".encode("utf-16"), ("not-utf8", "über")),
        (b"\x89PNG\x00\x1a", ("not-utf8", "")),
    ],
)
def test_every_state_of_a_file_is_a_value(tmp_path: Path, content: bytes, expected: tuple[str, str]) -> None:
    (tmp_path / "file").write_bytes(content)
    assert health(tmp_path, "file") == expected


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")  # reading it would wait for ever
    assert health(tmp_path, "absent") == ("missing", "")
    assert health(tmp_path, "dangling") == ("missing", "")
    assert health(tmp_path, "folder/x") == ("missing", "")
    for name in ("folder", "pipe", "loop", "nul\0"):
        assert health(tmp_path, name) == ("unreadable", ""), name
    assert health(tmp_path / "absent", "file") == ("missing", "")


def test_links_are_followed_within_the_folder_only(tmp_path: Path) -> None:
    """Case Y08."""
    write(tmp_path, {"home/real.md": "mine", "secret": "not mine", "home-2/x": "not mine either"})
    for name, target in [
        ("in.md", "real.md"),
        ("out.md", "../secret"),
        ("abs.md", str(tmp_path / "secret")),
        ("d", "../home-2"),
    ]:
        (tmp_path / "home" / name).symlink_to(target)
    assert health(tmp_path / "home", "in.md") == ("ok", "mine")
    for name in ("out.md", "abs.md", "d/x", "../secret"):
        assert health(tmp_path / "home", name) == ("outside", ""), name


def test_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes("old é\n".encode() * 30 + "é new".encode())
    read = read_file(tmp_path, "log", max_bytes=6, tail=True)
    assert (read.text, read.fact.health) == ("é new", "oversized")
    assert read_file(tmp_path, "log", max_bytes=5, tail=True).text == " new"  # half a character is no mistake


def test_a_digest_is_that_of_the_content(tmp_path: Path) -> None:
    write(tmp_path, {"a": "x", "b": "x", "c": "y"})
    digests = [read_file(tmp_path, name, max_bytes=10).fact.digest for name in "abc"]
    assert digests[0] == digests[1] == digest(b"x") == "9dd4e461268c8034f5c8564e155c67a6"
    assert digests[0] != digests[2]


def test_of_a_large_file_the_size_counts_too(tmp_path: Path) -> None:
    write(tmp_path, {"a": "x" * 20, "b": "x" * 21})
    assert len({read_file(tmp_path, name, max_bytes=4, hashed_bytes=10).fact.digest for name in "ab"}) == 2


@given(st.binary(max_size=40), st.integers(1, 50), st.booleans())
def test_no_bytes_make_reading_fail(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, limit: int, tail: bool
) -> None:
    root = tmp_path_factory.getbasetemp()
    (root / "any-bytes").write_bytes(data)
    read = read_file(root, "any-bytes", max_bytes=limit, tail=tail)
    assert read.fact.size_bytes == len(data)
    assert len(read.data) <= limit
    read.text.encode()  # no half characters


def test_a_folder_with_a_link_to_its_parent_is_walked_once(tmp_path: Path) -> None:
    """Case W13: each real file once, the loop told, a dangling link told."""
    write(tmp_path, {"a/file": "x", "b/file": "y", "outside": "z"})
    root = tmp_path / "a"
    (root / "loop").symlink_to("..")
    (root / "self").symlink_to(".")
    (root / "eternal").symlink_to("eternal")
    (root / "dangling").symlink_to("nowhere")
    (root / "twin").symlink_to("file")
    walk = walk_files(root, max_files=100)
    assert walk.files == ["file"]
    assert walk.skipped == [
        "dangling leads to no file; it is passed over.",
        "eternal leads to no file; it is passed over.",
        "loop is a link that leads out of the folder; it is passed over.",
        "self leads to a folder that was seen before; it is passed over.",
    ]


def test_folders_that_link_to_each_other_are_walked_once(tmp_path: Path) -> None:
    """Case W13."""
    write(tmp_path, {"a/one": "1", "b/two": "2"})
    (tmp_path / "a" / "to-b").symlink_to("../b")
    (tmp_path / "b" / "to-a").symlink_to("../a")
    walk = walk_files(tmp_path, max_files=100)
    assert sorted(walk.files) == ["a/one", "a/to-b/two"]
    assert len(walk.skipped) == 2


def test_walks_end(tmp_path: Path) -> None:
    write(tmp_path, {f"many/{n:03}": "x" for n in range(20)})
    walk = walk_files(tmp_path / "many", max_files=7)
    assert len(walk.files) == 7
    assert walk.skipped == ["Only the first 7 files are looked at."]
    deep = tmp_path.joinpath("deep", *["d"] * 60)
    write(deep, {"file": "x"})
    walk = walk_files(tmp_path / "deep", max_files=7)
    assert walk.files == []
    assert "lies deeper than" in walk.skipped[0]
    assert walk_files(tmp_path / "absent", max_files=7).skipped == []


def test_names_that_are_not_utf8_are_walked(tmp_path: Path) -> None:
    os.mkdir(os.path.join(os.fsencode(tmp_path), b"caf\xe9"))  # noqa: PTH102, PTH118  a name of bytes
    name = os.fsdecode(b"caf\xe9/file")
    (tmp_path / name).write_text("x", encoding="utf-8")
    assert walk_files(tmp_path, max_files=9).files == [name]
    assert read_file(tmp_path, name, max_bytes=9).fact.path == "caf\\xe9/file"


def test_health_is_told_in_sentences() -> None:
    facts = [
        FileFact(path="USER.md", health="missing", why="is not there"),
        FileFact(path="SOUL.md", health="not-utf8", why="is not UTF-8"),
        FileFact(path="A.md", health="ok"),
    ]
    assert health_lines(facts) == ("SOUL.md is not UTF-8.", "USER.md is not there.")
    assert damage_lines(facts) == ("SOUL.md is not UTF-8.",)
