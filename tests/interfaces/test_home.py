"""`cheatsheet init`: the home of an agent from templates."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cheatsheet.context.home import TEMPLATES, template
from cheatsheet.interfaces import cli


def init(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        cli.main(["init", *arguments])
    return stop.value.code if isinstance(stop.value.code, int) else 0


def own_home() -> Path:
    return Path(os.environ["CHEATSHEET_HOME"])


def test_init_writes_the_templates_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert init() == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [f"wrote {own_home() / name}" for name in TEMPLATES]
    assert "cheatsheet context --explain" in err
    assert f"{own_home()}/IDENTITY.md" in err
    assert stat.S_IMODE(own_home().stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in own_home().glob("*.md")} == {0o600}


def test_what_is_there_stays_unless_it_shall_not(capsys: pytest.CaptureFixture[str]) -> None:
    own_home().mkdir()
    soul = own_home() / "SOUL.md"
    soul.write_text("mine", encoding="utf-8")
    init()
    assert f"kept {soul}" in capsys.readouterr().out.splitlines()
    assert soul.read_text(encoding="utf-8") == "mine"
    init("--overwrite")
    assert f"wrote {soul}" in capsys.readouterr().out.splitlines()
    assert soul.read_text(encoding="utf-8") == template("SOUL.md")


def test_init_takes_another_home_and_says_where_it_cannot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert init("--home", str(tmp_path / "mine")) == 0
    assert (tmp_path / "mine/IDENTITY.md").is_file()
    (tmp_path / "file").touch()
    capsys.readouterr()
    assert init("--home", str(tmp_path / "file/home")) == 1
    assert capsys.readouterr().err.startswith("Error: Cannot make the folder")
