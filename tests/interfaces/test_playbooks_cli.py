"""`import`, `export` and `preload`, as people and programs use them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.engine.engine import Engine
from cheatsheet.memory.formats import FORMATS, read_playbook
from cheatsheet.memory.history.journal import Committed
from tests.interfaces.shell import Shell

ACE = (
    "## FORMULAS & CALCULATIONS\n[calc-00004] helpful=3 harmful=1 :: Net is gross less tax.\n"
    "[calc-00005] helpful=-1 harmful=0 :: Margins are shares of revenue.\n"
    "## OTHERS\n[misc-00006] helpful=0 harmful=0 ::\n"
)
NOTES = "# Refunds\n\nOver 500, two people sign.\n\n- A receipt is needed.\n- Gift cards are not refunded.\n"


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHEATSHEET_EMBEDDER", "hashing")
    Path("ace.txt").write_text(ACE, encoding="utf-8")
    Path("notes.md").write_text(NOTES, encoding="utf-8")
    return Shell(capsys)


def test_import_tells_what_was_read_added_and_damaged(shell: Shell) -> None:
    code, out, err = shell("import", "ace.txt")
    lines = [line.split("\t") for line in out.splitlines()]
    assert code == 0
    assert lines[0] == ["file", "format", "entries", "added", "merged", "known", "skipped", "damages"]
    assert lines[1] == ["ace.txt", "ace", "2", "2", "0", "0", "0", "2"]
    assert "ace.txt:3: The field helpful of the bullet 'calc-00005' is '-1', which is no count; 0 was used." in err
    assert "ace.txt:5: The bullet 'misc-00006' has no text; it was left out." in err
    first, second = shell.json("show")
    assert (first["content"], first["helpful"], first["section"]) == (
        "Net is gross less tax.",
        3,
        "formulas_and_calculations",
    )
    assert first["sources"][0] == "ace.txt"
    assert second["metadata"]["imported_id"] == "calc-00005"
    (entry,) = shell.json("history")
    assert entry["cause"] == "import"


def test_import_as_json(shell: Shell) -> None:
    (told,) = shell.json("import", "ace.txt")
    assert told["format"] == "ace"
    assert len(told["added"]) == 2
    assert [damage["line"] for damage in told["damages"]] == [3, 5]


def test_importing_again_brings_only_what_is_new(shell: Shell) -> None:
    shell("import", "ace.txt")
    (again,) = shell.json("import", "ace.txt")
    assert (again["entries"], again["known"], again["added"], again["merged"]) == (2, 2, [], [])
    assert [bullet["helpful"] for bullet in shell.json("show")] == [3, 0]
    Path("ace.txt").write_text(ACE + "[x-1] helpful=0 harmful=0 :: A third lesson.\n", encoding="utf-8")
    (changed,) = shell.json("import", "ace.txt")
    assert (changed["entries"], changed["known"], len(changed["added"])) == (3, 2, 1)


def test_a_dry_run_writes_nothing(shell: Shell) -> None:
    code, out, err = shell("import", "ace.txt", "--dry-run")
    assert code == 0
    assert "ace.txt\tace\t2\t0" in out
    assert "Nothing was written" in err
    assert shell.json("show") == []
    assert shell.json("history") == []


def test_import_from_standard_input(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("- One lesson.\n"))
    (told,) = shell.json("import", "-")
    assert (told["format"], len(told["added"])) == ("markdown", 1)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["import", "none.txt"], "none.txt cannot be read"),
        (["import", "ace.txt", "--format", "acee"], "Did you mean 'ace'?"),
        (["import", "prose.txt"], "The text is of no format that is known."),
        (["import", "ace.txt", "folder/ace.txt"], "Two files are named 'ace.txt'."),
        (["export", "--format", "yaml"], "Unknown format 'yaml'."),
        (["export", "--out", "none/x.json"], "cannot be written"),
    ],
)
def test_mistakes_are_sentences(shell: Shell, arguments: list[str], told: str) -> None:
    Path("prose.txt").write_text("Only prose.\n", encoding="utf-8")
    Path("folder").mkdir()
    Path("folder/ace.txt").write_text(ACE, encoding="utf-8")
    code, out, err = shell(*arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert shell.json("show") == []


@pytest.mark.parametrize("format", [format.name for format in FORMATS])
def test_every_format_goes_out_and_comes_in_again(shell: Shell, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("import", "ace.txt")
    code, out, _ = shell("export", "--format", format)
    assert code == 0
    playbook = read_playbook(out)
    assert playbook.format == format
    code, _, err = shell("export", "--format", format, "--out", "out.file")
    assert "bullets written to out.file: 2" in err
    assert Path("out.file").read_text(encoding="utf-8") == out
    monkeypatch.setenv("CHEATSHEET_PATH", "other.db")
    (told,) = shell.json("import", "out.file")
    assert len(told["added"]) == 2
    contents = {bullet["content"] for bullet in shell.json("show")}
    assert contents == {"Net is gross less tax.", "Margins are shares of revenue."}


def test_export_chooses_and_tells_what_is_lost(shell: Shell) -> None:
    shell("import", "ace.txt")
    shell("preload", "notes.md")
    code, out, err = shell("export", "--format", "ace", "--section", "Formulas & Calculations")
    assert code == 0
    assert out.count(" :: ") == 2
    assert "lost: ACE's playbook holds no sources: 2 bullets had some." in err
    assert shell("export", "--status", "archived", "--format", "markdown")[1] == ""
    assert len(json.loads(shell("export", "--status", "all")[1])["bullets"]) == 5


def test_preload_takes_prose_and_marks_it(shell: Shell) -> None:
    (told,) = shell.json("preload", "notes.md", "--pin")
    assert (told["format"], told["entries"], len(told["added"])) == ("text", 3, 3)
    bullets = shell.json("show")
    assert [bullet["content"] for bullet in bullets] == [
        "Over 500, two people sign.", "A receipt is needed.", "Gift cards are not refunded."
    ]  # fmt: skip
    for bullet in bullets:
        assert (bullet["section"], bullet["tags"], bullet["pinned"]) == ("refunds", ["preloaded"], True)
        assert bullet["sources"][0] == "notes.md"


def test_preloading_again_adds_nothing_and_a_change_only_itself(shell: Shell) -> None:
    shell("preload", "notes.md", "ace.txt")
    told = shell.json("preload", "notes.md", "ace.txt")
    assert [(one["known"], one["added"], one["merged"]) for one in told] == [(3, [], []), (2, [], [])]
    Path("notes.md").write_text(NOTES + "- Returns take ten days.\n", encoding="utf-8")
    (changed,) = shell.json("preload", "notes.md")
    assert (changed["known"], len(changed["added"])) == (3, 1)
    assert len(shell.json("show")) == 6


def test_an_import_that_is_stopped_tells_what_was_stored(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cheatsheet.engine.playbooks.BATCH", 2)
    monkeypatch.setenv("CHEATSHEET_INDEX", "exact")
    Path("long.md").write_text(
        "".join(f"- Lesson number {'abcdefg'[n]} of {7 * n}\n" for n in range(7)), encoding="utf-8"
    )
    apply = Engine.apply

    def stopped(engine: Engine, *given: Any, **how: Any) -> Committed:
        if engine.stats().bullets == 4:
            raise KeyboardInterrupt
        return apply(engine, *given, **how)

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "apply", stopped)
        code, out, err = shell("import", "long.md")
    assert (code, out) == (130, "")
    assert "imported: 2 of 7 entries" in err
    assert "Stopped. New bullets stored so far: 4. Give the same command again to go on behind them." in err
    (told,) = shell.json("import", "long.md")
    assert (told["known"], len(told["added"]), told["transactions"]) == (4, 3, 2)
