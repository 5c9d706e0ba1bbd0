"""The home directory: private, made once, and no name leads out of it."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cheatsheet.context.home import TEMPLATES, create_home, home_lock, path_in, template, write_private
from cheatsheet.errors import SetupError, StoreBusyError, StoreReadOnlyError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_home_is_made_from_our_templates(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    created = create_home(home)
    assert created.written == TEMPLATES
    assert {path.name for path in home.iterdir()} == {*TEMPLATES, "skills", "memory"}
    assert [mode(path) for path in (home, home / "skills", home / "memory")] == [0o700] * 3
    assert {mode(home / name) for name in TEMPLATES} == {0o600}


def test_what_the_user_wrote_stays(tmp_path: Path) -> None:
    create_home(tmp_path)
    (tmp_path / "SOUL.md").write_text("mine", encoding="utf-8")
    (tmp_path / "USER.md").unlink()
    again = create_home(tmp_path)
    assert (again.written, len(again.kept)) == (("USER.md",), len(TEMPLATES) - 1)
    assert (tmp_path / "SOUL.md").read_text(encoding="utf-8") == "mine"
    assert create_home(tmp_path, overwrite=True).written == TEMPLATES
    assert (tmp_path / "SOUL.md").read_text(encoding="utf-8") == template("SOUL.md")


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_are_short_and_plain(name: str) -> None:
    text = template(name)
    assert 50 < len(text) < 900
    assert text.endswith("\n")
    assert "---" not in text


def test_a_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StoreReadOnlyError, match=r"Cannot make the folder .* Choose another home"):
        create_home(tmp_path / "file")


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/abs/x",
        "a/../../b",
        "C:\\x",
        "nul\x00x",
        "",
        ".",
        "..",
        "a.",
        "nul",
        "COM1.txt",
        "a b",
        "x" * 65,
    ],
)
def test_names_that_could_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    """Case Y07."""
    with pytest.raises(SetupError, match="cannot be the name of a file"):
        path_in(tmp_path, name)


@pytest.mark.parametrize("name", ["notes.md", "2026-01-05.md", ".context.lock", "größe", "a_b-c"])
def test_plain_names_are_paths_in_the_home(tmp_path: Path, name: str) -> None:
    assert path_in(tmp_path, name) == tmp_path.resolve() / name


def test_links_that_lead_out_are_refused_and_those_within_are_resolved(tmp_path: Path) -> None:
    """Case Y08: resolved once; what is returned has no link left that could be swapped."""
    home, outside = tmp_path / "home", tmp_path / "outside"
    for folder in (home / "real", outside):
        folder.mkdir(parents=True)
    (home / "link").symlink_to(outside)
    (home / "within").symlink_to("real")
    (home / "loop").symlink_to("loop")
    (tmp_path / "home-2").mkdir()
    (home / "beside").symlink_to(tmp_path / "home-2")
    for name in ("link", "beside"):
        with pytest.raises(SetupError, match="leads out of"):
            path_in(home, name, "notes.md")
    assert path_in(home, "within", "notes.md") == home.resolve() / "real" / "notes.md"
    assert path_in(home, "loop").is_relative_to(home.resolve())


def test_a_home_that_is_a_link_itself_is_a_home(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to("real")
    create_home(tmp_path / "home")
    assert (tmp_path / "real" / "SOUL.md").is_file()


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_private(path, b"old")
    (tmp_path / "hard").hardlink_to(path)
    write_private(path, b"new")
    assert (path.read_bytes(), (tmp_path / "hard").read_bytes()) == (b"new", b"old")
    assert {entry.name for entry in tmp_path.iterdir()} == {"state.json", "hard"}
    assert mode(path) == 0o600


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"kept")
    (tmp_path / "link").symlink_to("target")
    write_private(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_bytes() == b"kept"


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreReadOnlyError, match="Cannot write"):
        write_private(tmp_path / "folder", b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_only_one_process_writes_at_a_time(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from cheatsheet.context.home import home_lock\n"
        "with home_lock(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(StoreBusyError, match=r"keeps .* locked"), home_lock(tmp_path, timeout_s=0.05):
            raise AssertionError
        other.communicate()
    with home_lock(tmp_path, timeout_s=10):
        assert mode(tmp_path / ".context.lock") == 0o600
