"""`backup`, `verify` and `vacuum`, as people and programs use them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import cheatsheet
from cheatsheet.memory.operations import Add, Draft, Remove, Tag
from tests.interfaces.shell import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHEATSHEET_EMBEDDER", "hashing")
    monkeypatch.setenv("CHEATSHEET_PATH", "memory.db")
    with cheatsheet.open("memory.db", embedder="hashing") as engine:
        engine.apply([Add(draft=Draft(content="Check the units.")), Add(draft=Draft(content="Deploy on Mondays."))])
        for _ in range(2):
            engine.apply([Tag(id="misc-00001", uses=1)])
        engine.apply([Remove(id="misc-00002", reason="old")])
    return Shell(capsys)


def test_a_backup_can_be_used_in_place_of_the_memory(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    bullets = shell.json("show")
    code, out, err = shell("backup", "copy.db")
    assert (code, out) == (0, "")
    assert err == "memory.db was copied to copy.db, as it was at one moment, and the copy is sound.\n"
    monkeypatch.setenv("CHEATSHEET_PATH", "copy.db")
    assert shell.json("show") == bullets
    code, _, err = shell("verify")
    assert (code, err) == (0, "copy.db is what its journal tells.\n")


def test_a_backup_tells_programs_where_it_is(shell: Shell) -> None:
    size = shell.json("backup", "copy.db")["bytes"]
    again = shell.json("backup", "copy.db", "--force")
    assert again == {"memory": "memory.db", "file": "copy.db", "bytes": size}
    assert Path("copy.db").stat().st_size == size


def test_a_backup_replaces_only_what_it_is_told_to(shell: Shell) -> None:
    Path("copy.db").write_text("mine", encoding="utf-8")
    code, _, err = shell("backup", "copy.db")
    assert (code, "copy.db is there already" in err) == (2, True)
    assert Path("copy.db").read_text(encoding="utf-8") == "mine"
    assert shell("backup", "copy.db", "--force")[0] == 0
    assert shell("backup", "memory.db", "--force")[0] == 2


@pytest.mark.parametrize("command", [["backup", "copy.db"], ["verify"], ["vacuum"]])
def test_what_is_not_there_is_told_and_not_made(shell: Shell, command: list[str]) -> None:
    code, _, err = shell(*command, "--path", "none.db")
    assert code == (1 if command == ["verify"] else 2) or "There is no memory none.db" in err
    assert "There is no memory none.db" in err
    assert not Path("none.db").exists()


def test_verify_tells_what_is_wrong_and_says_so_by_its_code(shell: Shell) -> None:
    with closing(sqlite3.connect("memory.db")) as db, db:
        db.execute("UPDATE bullets SET helpful = 9 WHERE number = 1")
    code, out, err = shell("verify")
    lines = out.splitlines()
    assert (code, err) == (1, "")
    assert lines[0] == "error: default: Bullets are stored otherwise than the journal tells: misc-00001 (1)."
    assert lines[1].startswith("  Something else than Cheatsheet has changed it")
    code, out, _ = shell("verify", "--json")
    (flaw,) = json.loads(out)
    assert (code, flaw["severity"], flaw["namespace"]) == (1, "error", "default")


def test_verify_tells_of_a_file_that_cannot_be_opened(shell: Shell) -> None:
    Path("memory.db").write_bytes(b"no database at all, but long enough to be looked at" * 20)
    code, out, _ = shell("verify", "--json")
    (flaw,) = json.loads(out)
    assert (code, flaw["severity"], "is damaged" in flaw["text"]) == (1, "error", True)


def test_a_saved_index_that_is_of_no_use_is_a_warning(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cheatsheet.memory.search.index_file.LEAST_ROWS", 1)
    with cheatsheet.open("memory.db", embedder="hashing") as engine:
        engine.recall("units")
    assert shell("verify")[0] == 0
    (saved,) = (path for path in Path("memory.db.index").iterdir() if path.name.endswith(".bullets"))
    whole = saved.read_bytes()
    saved.write_bytes(whole[:-3])
    code, out, _ = shell("verify")
    assert (code, out.startswith("warning: default: ")) == (1, True)
    assert "Nothing has to be done" in out
    saved.write_bytes(whole)
    with cheatsheet.open("memory.db", embedder="hashing", keep_index=False) as engine:
        engine.apply([Add(draft=Draft(content="Close the file."))])
    assert shell("verify")[0] == 0, "what came since is put right at the next search"


def test_a_vacuum_tells_what_would_go_and_then_what_went(shell: Shell) -> None:
    code, out, _ = shell("vacuum", "--keep-days", "0", "--dry-run")
    assert code == 0
    assert "operations in it that would go: 3" in out
    assert "the past would be known since version 4" in out
    assert len(shell.json("history")) == 4
    done = shell.json("vacuum", "--keep-days", "0")
    assert (done["since"], done["entries"], done["operations"], done["dry_run"]) == (4, 1, 3, False)
    assert shell("verify")[0] == 0
    assert [touch["version"] for touch in shell.json("blame", "misc-00001")] == [1, 3]
    code, _, err = shell("rollback", "2")
    assert (code, "What was before version 4 was compacted" in err) == (2, True)


def test_a_vacuum_keeps_thirty_days_or_from_a_place_on(shell: Shell) -> None:
    assert shell.json("vacuum")["since"] == 0
    assert "the past is known from its beginning" in shell("vacuum")[1]
    assert shell("vacuum", "--keep-days", "1", "--before", "2")[0] == 2
    assert shell("vacuum", "--before", "9")[0] == 2
    assert shell.json("vacuum", "--before", "3")["since"] == 3
