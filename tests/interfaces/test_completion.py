"""Shell completion: what a shell asks for after a TAB, and the script that makes it ask."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cheatsheet.interfaces.cli import COMMANDS, _wanted, main
from cheatsheet.interfaces.cli.options import option_name
from cheatsheet.settings import Settings


def completed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str) -> list[str]:
    """What bash is told for a line that ends at the cursor."""
    words = line.split(" ")
    monkeypatch.setenv("_CHEATSHEET_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    with pytest.raises(SystemExit) as stop:
        main([])
    assert not stop.value.code
    return capsys.readouterr().out.split()


def test_the_beginning_of_a_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert completed(monkeypatch, capsys, "cheatsheet re") == ["recall", "refine", "restore", "report"]
    assert completed(monkeypatch, capsys, "cheatsheet ") == list(COMMANDS)
    assert completed(monkeypatch, capsys, "cheatsheet xyz") == []


def test_the_options_of_a_command_are_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also though commands are imported only when they are wanted."""
    found = completed(monkeypatch, capsys, "cheatsheet context --")
    assert {"--at", "--budget", "--explain", "--minimal", "--workspace", "--json"} <= set(found)
    assert {option_name(name) for name in Settings.model_fields} <= set(found)
    assert completed(monkeypatch, capsys, "cheatsheet context --mini") == ["--minimal"]
    assert completed(monkeypatch, capsys, "cheatsheet show --by u") == ["utility"]


def test_zsh_and_fish_are_told_what_commands_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "cheatsheet reca")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    for shell, start in (
        ("zsh", '_arguments \'*: :(("recall":"Print the context'),
        ("fish", "recall\tPrint the context"),
    ):
        monkeypatch.setenv("_CHEATSHEET_COMPLETE", f"complete_{shell}")
        with pytest.raises(SystemExit):
            main([])
        assert capsys.readouterr().out.startswith(start)


def test_a_line_is_completed_only_where_a_shell_asks() -> None:
    line = {"COMP_WORDS": "cheatsheet recall --to", "_TYPER_COMPLETE_ARGS": "cheatsheet recall"}
    assert _wanted(["show", "--json"], line) == "show"
    assert _wanted([], line) == ""
    assert _wanted([], line | {"_CHEATSHEET_COMPLETE": "complete_bash"}) == "recall"
    assert _wanted([], {"_CHEATSHEET_COMPLETE": "complete_zsh"}) == ""
    assert _wanted(["no-such-command"], {}) == ""


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_the_script_that_is_shown(tmp_path: Path) -> None:
    """The whole way: the script as it is printed, sourced by a real bash, and a TAB after `cheatsheet re`."""
    program = tmp_path / "cheatsheet"
    code = "from cheatsheet.interfaces.cli import main; main()"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    script = (
        'source <("$1" --show-completion)\n'
        'COMP_WORDS=("$1" re); COMP_CWORD=1\n'
        '_cheatsheet_completion "$1"\n'
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", str(program)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["recall", "refine", "restore", "report"], done.stderr
