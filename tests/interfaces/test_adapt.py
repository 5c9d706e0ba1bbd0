"""`adapt`, as people and programs use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cheatsheet.llm.model import Reply, Request
from cheatsheet.llm.scripted import ScriptedModel
from tests.interfaces.shell import Shell

TEAMS = ["amber", "crimson"]
TRAIN = [("card charged twice", "amber"), ("parcel lost", "crimson"), ("card refused", "amber")]
VALIDATION = [("parcel is late", "crimson"), ("card stolen", "amber")]
COMMAND = ("adapt", "train.jsonl", "--validation", "val.jsonl", "--model", "m", "--path", "memory.db", "--out", "run")
RULES = ("--reflector", "rules", "--curator", "rules")


def _write(name: str, rows: list[tuple[str, str]]) -> None:
    lines = [json.dumps({"input": text, "target": team, "choices": TEAMS}) for text, team in rows]
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


class Scripted:
    """Answers with the team that the prompt names most often; stops the run at one of its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.stop_at = 0

    def __call__(self, request: Request) -> str | Reply:
        self.calls += 1
        if self.calls == self.stop_at:
            raise KeyboardInterrupt
        text = " ".join(message["content"] for message in request.messages) + (request.prompt or "")
        return max(TEAMS, key=text.count)


@pytest.fixture
def scripted(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    answers = Scripted()
    model = ScriptedModel(answers)
    monkeypatch.setattr(
        "cheatsheet.interfaces.parts.build_model",
        lambda settings, name, api_base: None if name is None else model,
    )
    _write("train.jsonl", TRAIN)
    _write("val.jsonl", VALIDATION)
    return answers


def test_an_adaptation_tells_its_epochs_and_keeps_the_best(shell: Shell, scripted: Scripted) -> None:
    result = shell.json(*COMMAND, *RULES, "--epochs", "2")
    assert [epoch["number"] for epoch in result["epochs"]] == [0, 1, 2]
    assert result["epochs"][0]["train"] is None
    assert all(epoch["validation"]["n"] == 2 for epoch in result["epochs"])
    assert result["kept_epoch"] == result["best_epoch"]
    best = max(epoch["validation"]["correct"] for epoch in result["epochs"])
    assert result["epochs"][result["kept_epoch"]]["validation"]["correct"] == best
    assert len(shell.json("show", "--path", "memory.db")) == result["bullets"]


def test_the_table_in_a_pipe_is_markdown(shell: Shell, scripted: Scripted) -> None:
    code, out, err = shell(*COMMAND, *RULES, "--epochs", "1", "--batch-size", "2")
    assert code == 0, err
    assert out.startswith("| epoch ")
    assert "| 0 (before) |" in out
    assert "epoch 1, training: 3 of 3" in err
    assert "Kept: the memory " in err


def test_a_stopped_adaptation_goes_on(shell: Shell, scripted: Scripted) -> None:
    scripted.stop_at = 4
    code, _, err = shell(*COMMAND, *RULES, "--epochs", "1")
    assert code == 130
    assert "--resume --out run" in err
    code, _, err = shell(*COMMAND, *RULES, "--epochs", "1", "--resume")
    assert code == 0, err
    assert scripted.calls == 2 + 3 + 2 + 1  # each question once, and the one that was stopped


def test_limit_takes_the_first_of_each_file(shell: Shell, scripted: Scripted) -> None:
    result = shell.json(*COMMAND, *RULES, "--epochs", "1", "--limit", "1")
    assert (result["epochs"][1]["train"]["n"], result["epochs"][1]["validation"]["n"]) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["adapt", "train.jsonl"], "adapt needs a model"),
        (["adapt", "none.jsonl", "--model", "m"], "none.jsonl cannot be read"),
        (["adapt", "train.jsonl", "--model", "m", "--resume"], "--resume needs --out"),
        (["adapt", "train.jsonl", "--model", "m", "--scorer", "exat"], "Did you mean 'exact'?"),
        ([*COMMAND, "--epochs", "0"], "epochs"),
        ([*COMMAND, "--resume", "--top-k", "9"], "settings.top_k was 5, is now 9"),
    ],
)
def test_mistakes_are_sentences(shell: Shell, scripted: Scripted, arguments: list[str], sentence: str) -> None:
    if "--top-k" in arguments:
        shell(*COMMAND, "--epochs", "3")
    code, out, err = shell(*arguments)
    assert (code, out) == (2, "")
    assert sentence in " ".join(err.replace("│", " ").split())
