"""The command line, as people and programs use it: in a process of its own where it matters, else in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cheatsheet.interfaces import cli
from cheatsheet.llm.model import Reply, Request
from cheatsheet.llm.scripted import ScriptedModel
from tests.interfaces.shell import Shell

TASK = "\n".join(
    json.dumps({"input": f"Ticket {n}: {what}", "target": team, "choices": ["amber", "crimson"]})
    for n, (what, team) in enumerate([("card", "amber"), ("parcel", "crimson"), ("card again", "amber")])
)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """What every named model is in these tests: it always answers `amber`."""

    def answer(request: Request) -> str | Reply:
        return "amber"

    scripted = ScriptedModel(answer)
    monkeypatch.setattr(
        "cheatsheet.interfaces.parts.build_model",
        lambda settings, name, api_base: None if name is None else scripted,
    )
    return scripted


def test_learn_recall_show_history(shell: Shell) -> None:
    learnt = shell.json("learn", "My card was charged twice", "crimson", "--feedback", "wrong: ask the amber team")
    assert learnt["experience_id"] == "exp-00001"
    assert [operation["type"] for operation in learnt["operations"]] == ["add"]
    recalled = shell.json("recall", "My card was charged two times")
    assert "ask the amber team" in recalled["text"]
    assert recalled["messages"][-1]["content"].endswith("\n</notes>\n\nMy card was charged two times")
    (bullet,) = shell.json("show")
    assert (bullet["helpful"], bullet["status"]) == (0, "active")
    (entry,) = shell.json("history")
    assert (entry["cause"], entry["experience_ids"]) == ("turn", ["exp-00001"])


def test_ask_answers_and_learns(shell: Shell, model: ScriptedModel) -> None:
    turn = shell.json("ask", "My parcel is lost", "--expected", "crimson", "--choices", "amber,crimson", "--model", "m")
    assert (turn["answer"], turn["correct"]) == ("amber", False)
    assert turn["model_calls"] >= 1
    code, out, err = shell("ask", "My card", "--expected", "amber", "--choices", "amber, crimson", "--model", "m")
    assert (code, out) == (0, "amber\n")
    assert err.startswith("right\n")


def test_output_in_a_pipe_is_clean(shell: Shell) -> None:
    shell("learn", "q", "a", "--feedback", "wrong: " + "a very long lesson\nof two lines\twith a tab " * 9)
    code, out, err = shell("show")
    lines = out.splitlines()
    assert (code, len(lines)) == (0, 2)
    assert lines[0].split("\t") == ["id", "section", "helpful", "harmful", "uses", "content"]
    assert len(lines[1].split("\t")) == 6
    assert "\x1b" not in out
    assert "bullets shown: 1, experiences remembered: 1" in err
    assert shell("recall", "q")[1].count("\x1b") == 0


def test_show_filters_and_orders(shell: Shell) -> None:
    shell("learn", "q", "3", "--expected", "4")
    shell("learn", "another thing altogether", "a", "--feedback", "wrong: use something else here")
    assert len(shell.json("show")) == 2
    assert len(shell.json("show", "--section", "FORMULAS & CALCULATIONS")) == 1
    assert len(shell.json("show", "--by", "recent", "--limit", "1")) == 1
    assert shell.json("show", "--status", "archived") == []


def test_recall_explains_itself(shell: Shell) -> None:
    shell("learn", "q", "a", "--feedback", "right")
    code, out, err = shell("recall", "q", "--explain")
    assert code == 0
    assert "q" in out
    assert "experiences" in err
    assert "8,000 tokens, as asked" in err


def test_eval_compares_modes(shell: Shell, model: ScriptedModel, tmp_path: Path) -> None:
    Path("task.jsonl").write_text(TASK, encoding="utf-8")
    arms = shell.json("eval", "task.jsonl", "--model", "m", "--modes", "default,Dynamic_Retrieval", "--out", "run")
    assert [arm["mode"] for arm in arms] == ["default", "retrieval"]
    keys = {
        "mode", "n", "accuracy", "accuracy_second_half", "prompt_tokens", "completion_tokens", "cached_tokens",
        "model_calls", "cost_usd", "seconds",
    }  # fmt: skip
    assert keys <= arms[0].keys()
    assert arms[0]["n"] == 3
    assert arms[0]["accuracy"] == pytest.approx(2 / 3)
    calls = len(model.requests)
    again = shell.json("eval", "task.jsonl", "--model", "m", "--modes", "default,retrieval", "--out", "run", "--resume")
    assert len(model.requests) == calls
    assert [arm["accuracy"] for arm in again] == [arm["accuracy"] for arm in arms]
    code, _, err = shell("eval", "task.jsonl", "--model", "m", "--modes", "default", "--out", "run", "--resume")
    assert code == 2
    assert "retrieval" in err
    code, _, err = shell("eval", "task.jsonl", "--model", "m", "--out", "run")
    assert code == 2
    assert "--resume" in err


def test_eval_without_a_single_score_fails(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """N06: all questions failed, so there is no score and the exit code says so."""
    from cheatsheet.errors import ModelUnavailableError

    broken = ScriptedModel([ModelUnavailableError("no connection")] * 3)
    monkeypatch.setattr("cheatsheet.interfaces.parts.build_model", lambda settings, name, api_base: broken)
    Path("task.jsonl").write_text(TASK, encoding="utf-8")
    code, _, err = shell("eval", "task.jsonl", "--model", "m", "--modes", "default")
    assert code == 3
    assert "No score" in err


def test_a_scorer_of_one_s_own(shell: Shell, model: ScriptedModel) -> None:
    Path("my_scorer_of_this_test.py").write_text("def score(answer, target, row): return 0.25", encoding="utf-8")
    Path("task.jsonl").write_text(TASK, encoding="utf-8")
    scorer = "my_scorer_of_this_test:score"
    (arm,) = shell.json("eval", "task.jsonl", "--model", "m", "--modes", "default", "--scorer", scorer)
    assert arm["accuracy"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["recal", "q"], 2, "No such command 'recal'"),
        (["recall", "q", "--mode", "retreival"], 2, "Did you mean 'retrieval'?"),
        (["recall", "q", "--top-k", "0"], 2, "greater than or equal to 1"),
        (["recall", "q", "--token-budget", "-1"], 2, "greater than or equal to 0"),
        (["recall", " "], 2, "The question is empty"),
        (["ask", "q"], 2, "opened without a model"),
        (["eval", "missing.jsonl", "--model", "m"], 2, "missing.jsonl cannot be read"),
        (["eval", "task.jsonl", "--model", "m", "--modes", ","], 2, "--modes names no mode"),
        (["eval", "task.jsonl", "--model", "m", "--resume"], 2, "--resume needs --out"),
        (["eval", "task.jsonl", "--model", "m", "--scorer", "exat"], 2, "Unknown scorer 'exat'. Did you mean 'exact'?"),
        (["show", "--path", "task.jsonl"], 1, "is not a memory of Cheatsheet"),
        (["show", "--config", "none.toml"], 2, "Cannot read the settings file none.toml"),
        (["show", "--namespace", "../x"], 2, "namespace"),
    ],
)
def test_mistakes_are_sentences(shell: Shell, arguments: list[str], code: int, sentence: str) -> None:
    Path("task.jsonl").write_text(TASK, encoding="utf-8")
    got, out, err = shell(*arguments)
    assert got == code, err
    assert sentence in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
    assert out == ""


def test_settings_tells_values_and_where_they_can_be_set(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHEATSHEET_API_KEY", "sk-hush")
    Path("cheatsheet.toml").write_text("top_k = 7", encoding="utf-8")
    values = shell.json("settings", "--grow-threshold", "0.8")
    assert (values["top_k"], values["grow_threshold"], values["api_key"]) == (7, 0.8, "(set)")
    code, out, _ = shell("settings")
    assert code == 0
    assert "top_k\t7\tCHEATSHEET_TOP_K\t--top-k\t" in out
    assert "sk-hush" not in out


def test_the_listed_summaries_are_those_of_the_commands() -> None:
    for name, (place, summary) in cli.COMMANDS.items():
        assert (cli._load(place).__doc__ or "").strip().splitlines()[0] == summary, name


def test_help_loads_no_command(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom cheatsheet.interfaces.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'numpy', 'pydantic_settings', 'litellm', 'torch'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "eval" in done.stdout
    assert done.stderr.strip() == "[]"


def test_what_an_encoding_cannot_write_appears_as_an_escape(tmp_path: Path) -> None:
    """A terminal with an encoding of few characters is no reason to fail after the work is done."""
    code = "from cheatsheet.interfaces.cli import main; main()"
    environment = os.environ | {
        "PYTHONIOENCODING": "ascii",
        "CHEATSHEET_EMBEDDER": "hashing",
        "CHEATSHEET_PATH": "m.db",
    }
    command = [sys.executable, "-c", code]
    learnt = subprocess.run(
        [*command, "learn", "你好?", "☀️", "--feedback", "wrong: 晚上好"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\\u665a" in learnt.stdout
    shown = subprocess.run(
        [*command, "show", "--json"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert "晚上好" in json.loads(shown.stdout)[0]["content"]


def test_a_command_works_in_a_folder_that_was_deleted(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    script = f"import os; os.mkdir({str(gone)!r}); os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})\n"
    script += "from cheatsheet.interfaces.cli import main; main(['settings', '--json'])"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["mode"] == "retrieval"
