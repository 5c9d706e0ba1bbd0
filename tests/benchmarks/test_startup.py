"""The benchmark of start-up runs the commands that it names, and notices an answer that is not one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.perf import startup
from benchmarks.perf.processes import Ended, Processes
from benchmarks.perf.startup import BARE, RECALL, Startup, as_table

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processor times of children are POSIX")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(f"Lesson {n} says what to do in case {n}." for n in range(6)), encoding="utf-8")
    return path


def test_every_command_is_run_in_every_round(
    texts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In turn, once more than is counted; the memory holds the bullets, and `recall` is asked for one of them."""
    ran: list[str] = []

    def run(self: Processes, command: list[str], cwd: Path | None = None) -> Ended:
        ran.append(command[3] if len(command) > 3 else BARE)
        return Ended(command[-1], 0.5, 0.25)

    monkeypatch.setattr(Processes, "__call__", run)
    assert startup.main([str(texts), "--bullets", "6", "--rounds", "2", "--embedder", "hashing", "--json"]) == 0
    assert ran == [BARE, "--help", "show", "context", RECALL] * 3
    found = json.loads(capsys.readouterr().out)
    assert [one["command"] for one in found] == ran[:5]
    assert all((one["n"], one["wall_s_p50"], one["cpu_s_p50"]) == (2, 0.5, 0.25) for one in found)


def test_recall_answers_in_a_process_of_its_own(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = startup._commands
    monkeypatch.setattr(startup, "_commands", lambda question: {RECALL: commands(question)[RECALL]})
    home = str(tmp_path / "home")
    assert startup.main([str(texts), "--bullets", "6", "--rounds", "1", "--embedder", "hashing", "--home", home]) == 0


def test_an_answer_without_the_bullet_is_noticed() -> None:
    with pytest.raises(AssertionError, match="did not answer with the bullet"):
        startup._check(RECALL, Ended("something else", 1, 1), "a bullet")


def test_a_process_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"ended with 3 in .*: no luck"):
        Processes(tmp_path)([sys.executable, "-c", "import sys; sys.stderr.write('no luck'); sys.exit(3)"], tmp_path)


def test_the_environment_is_given_on(tmp_path: Path) -> None:
    run = Processes(tmp_path, {"CHEATSHEET_MODE": "cumulative"})
    ended = run([sys.executable, "-c", "import os; print(os.environ['CHEATSHEET_MODE'])"])
    assert ended.out == "cumulative\n"
    assert ended.wall_s > 0
    assert ended.cpu_s > 0


def test_a_file_that_is_not_there_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert startup.main(["nowhere.txt"]) == 2
    assert capsys.readouterr().err.startswith("There is no file or folder nowhere.txt.")


def test_the_table() -> None:
    assert [cell.strip() for cell in as_table([Startup("show", 3, 0.5, 0.75, 0.25)]).splitlines()[-1].split("|")] == [
        "",
        "show",
        "3",
        "0.50",
        "0.75",
        "0.25",
        "",
    ]
