"""The folders of `benchmarks.perf.workspaces`, small ones, and that a wrong word in the section is noticed."""

from __future__ import annotations

import json
import shutil
import sys
from datetime import datetime
from pathlib import Path

import pytest

from benchmarks.perf import workspaces
from benchmarks.perf.workspaces import Lines, Looks, Seen, World, as_table, build_worlds, workspace_lines
from cheatsheet.interfaces.adaptive import AdaptiveContext
from cheatsheet.settings import load_settings

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("git") is None, reason="needs git, links and names of any bytes"
)


def look(folder: Path) -> Lines:
    """In this process, and with patience: a shared machine may be slow."""
    settings = load_settings(home=folder / "absent", counter="chars", provider_timeout_s=120.0, git_timeout_s=60.0)
    found = AdaptiveContext(settings, workspace=folder).context_for(at=datetime.fromisoformat(workspaces.WORK_TIME))
    return workspace_lines(found.context.text)


def test_every_folder_is_told_rightly(tmp_path: Path) -> None:
    worlds = build_worlds(tmp_path, files=120)
    assert len({world.name for world in worlds}) == len(worlds) == 13
    for world in worlds:
        said = look(world.folder)
        assert {key: said.get(key, "") for key in world.expected} == world.expected, world.name


def test_right_is_what_is_expected_or_an_unknown_status() -> None:
    world = World("w", Path(), {"Type": "git repository", "Branch": "main", "Status": "clean"})
    said = {"Type": "git repository", "Branch": "main", "Status": "clean", "Dependencies": "x"}
    assert world.is_right(said)
    assert world.is_right({**said, "Status": "unknown"})
    assert not world.is_right({**said, "Status": "1 changed (modified: a)"})
    assert not world.is_right({**said, "Branch": "unknown"})
    assert not world.is_right({})


def test_lines_of_a_section() -> None:
    text = (
        "# Runtime\n- Date: x\n\n---\n\n# Workspace\n(Notes)\n\n- Project: shop\n- Dependencies (a.toml): b 1: c\n"
        "- a.toml cannot be read: because: it\n\n---\n\n- Status: of another section"
    )
    assert workspace_lines(text) == {"Project": "shop", "Dependencies": "b 1: c", "a.toml": "cannot be read"}


def test_a_process_is_timed(tmp_path: Path) -> None:
    look = Looks(tmp_path / "bytecode")
    assert look(tmp_path)["Type"] == "unknown"
    (ended,) = look.ended
    assert ended.wall_s > 0
    assert ended.cpu_s > 0


def test_the_table_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = Seen("plain folder", False, "unknown", "", "", 0.5, 0.75, 0.25)
    cells = [cell.strip() for cell in as_table([seen]).splitlines()[-1].strip("|").split("|")]
    assert cells == ["plain folder", "NO", "unknown", "", "", "0.50 / 0.75", "0.25"]
    monkeypatch.setattr(workspaces, "build_worlds", lambda root, files: [World("plain folder", tmp_path, {})])
    monkeypatch.setattr(workspaces, "examine", lambda world, repeat, bytecode: seen)
    monkeypatch.setattr(workspaces, "Looks", lambda bytecode: lambda folder: {})
    workspaces.main(["--files", "1", "--repeat", "1", "--json"])
    assert json.loads(capsys.readouterr().out)[0]["world"] == "plain folder"
