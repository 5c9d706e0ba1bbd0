"""`adapt`, as people and programs use it."""

from __future__ import annotations

import json
import sys
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
        self.prompts: list[str] = []

    def __call__(self, request: Request) -> str | Reply:
        self.calls += 1
        if self.calls == self.stop_at:
            raise KeyboardInterrupt
        text = " ".join(message["content"] for message in request.messages) + (request.prompt or "")
        self.prompts.append(text)
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


def test_all_parts_from_one_source(shell: Shell, scripted: Scripted) -> None:
    tickets = [(f"card {number} refused", "amber") for number in range(12)]
    Path("all.csv").write_text(
        "ticket,team\n" + "".join(f"{text},{team}\n" for text, team in tickets), encoding="utf-8"
    )
    command = ("adapt", "all.csv", "--fields", "input=ticket,target=team", "--model", "m", "--path", "memory.db")
    result = shell.json(*command, "--split", "50/25/25", "--epochs", "1", "--out", "run", *RULES)
    before, after = result["epochs"]
    sizes = (after["train"]["n"], after["validation"]["n"], before["test"]["n"])
    assert sum(sizes) == 12
    assert min(sizes) > 0
    spec = json.loads(Path("run/run.json").read_text(encoding="utf-8"))["spec"]
    assert [spec[part]["split"] for part in ("train", "validation", "test")] == [
        "train:50/25/25",
        "validation:50/25/25",
        "test:50/25/25",
    ]
    code, out, err = shell(*command, "--split", "1/0/0", "--epochs", "1", "--out", "whole", *RULES)
    assert code == 0, err
    assert "There is no validation file" in err
    assert "test" not in out.splitlines()[0]


def test_a_test_file_measures_before_and_after(shell: Shell, scripted: Scripted) -> None:
    _write("test.jsonl", [("card lost", "amber"), ("parcel wet", "crimson")])
    code, out, err = shell(*COMMAND, *RULES, "--test", "test.jsonl", "--epochs", "1")
    assert code == 0, err
    assert [cell.strip() for cell in out.splitlines()[0].split("|")[-3:-1]] == ["test", "its 95 % interval"]
    assert "Test: 2 questions, answered without learning" in out


def test_the_instruction_of_a_task_stands_in_every_prompt(
    shell: Shell, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine.py").write_text(
        "class Tickets(list):\n    instruction = 'Name the team.'\n"
        "TASK = Tickets([{'input': 'card refused', 'target': 'amber'}])\n",
        encoding="utf-8",
    )
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    command = ("adapt", "mine:TASK", "--model", "m", "--path", "memory.db", "--epochs", "1", *RULES)
    code, _, err = shell(*command, "--out", "run")
    assert code == 0, err
    assert scripted.prompts
    assert all("Name the team." in prompt for prompt in scripted.prompts)
    scripted.prompts.clear()
    code, _, err = shell(*command, "--out", "other", "--instructions", "In one word.")
    assert code == 0, err
    assert all("In one word." in prompt and "Name" not in prompt for prompt in scripted.prompts)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["adapt", "train.jsonl"], "adapt needs a model"),
        (["adapt", "none.jsonl", "--model", "m"], "none.jsonl cannot be read"),
        (["adapt", "train.jsonl", "--model", "m", "--resume"], "--resume needs --out"),
        (["adapt", "train.jsonl", "--model", "m", "--scorer", "exat"], "Did you mean 'exact'?"),
        ([*COMMAND, "--epochs", "0"], "epochs"),
        ([*COMMAND, "--split", "60/20/20"], "--split takes all parts from TRAIN"),
        (["adapt", "train.jsonl", "--model", "m", "--split", "test"], "'test' are no shares"),
        (["adapt", "train.jsonl", "--model", "m", "--fields", "question"], "'question' names no column"),
        ([*COMMAND, "--resume", "--top-k", "9"], "settings.top_k was 5, is now 9"),
    ],
)
def test_mistakes_are_sentences(shell: Shell, scripted: Scripted, arguments: list[str], sentence: str) -> None:
    if "--top-k" in arguments:
        shell(*COMMAND, "--epochs", "3")
    code, out, err = shell(*arguments)
    assert (code, out) == (2, "")
    assert sentence in " ".join(err.replace("│", " ").split())
