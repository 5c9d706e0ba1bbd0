"""`learn --traces`, as people and programs use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.engine.engine import Engine
from tests.evaluation.adaptation.test_traces import MESSAGES
from tests.interfaces.shell import Shell

TURNS: list[Any] = [
    {"question": "My card was charged twice", "answer": "crimson", "feedback": "wrong: ask the amber team"},
    MESSAGES,
    {"messages": MESSAGES, "feedback": "right", "id": "ticket-9"},
]


def write(*values: Any, name: str = "traces.jsonl") -> str:
    Path(name).write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return name


def test_a_file_of_turns_is_learnt_once(shell: Shell) -> None:
    path = write(*TURNS)
    first = shell.json("learn", "--traces", path)
    assert (first["turns"], first["learnt"], first["known"], first["unread"]) == (3, 3, 0, [])
    assert first["experiences"] == 3
    assert first["changes"]["add"] >= 1
    before = shell.json("history")
    again = shell.json("learn", "--traces", path)
    assert (again["learnt"], again["known"], again["version"]) == (0, 3, first["version"])
    assert shell.json("history") == before
    assert "ask the amber team" in shell.json("recall", "My card was charged two times")["text"]


def test_a_batch_is_one_curation(shell: Shell) -> None:
    assert shell.json("learn", "--traces", write(*TURNS), "--batch-size", "3")["learnt"] == 3
    assert len({entry["at"] for entry in shell.json("history")}) == 1  # one transaction, at one moment


def test_bad_lines_are_named_and_the_rest_is_learnt(shell: Shell) -> None:
    path = write(TURNS[0], {"question": "q"}, 7)
    code, out, err = shell("learn", "--traces", path)
    assert code == 0
    assert "learnt 1 of 3 turns" in out
    assert "could not be learnt 2" in out
    assert f"{path}, line 2: it has no 'answer'" in err
    assert f"{path}, line 3: its value is of type int" in err


@pytest.mark.parametrize(
    ("content", "said"), [("", "traces.jsonl is empty"), ("{}\n", "see the reasons above"), ("\n", "is empty")]
)
def test_a_file_that_teaches_nothing_has_exit_code_1(shell: Shell, content: str, said: str) -> None:
    Path("traces.jsonl").write_text(content, encoding="utf-8")
    code, _, err = shell("learn", "--traces", "traces.jsonl")
    assert (code, said in err) == (1, True)


def test_progress_goes_to_stderr(shell: Shell) -> None:
    path = write(*({"question": f"question {n}", "answer": "a"} for n in range(25)))
    code, out, err = shell("learn", "--traces", path, "--json")
    assert code == 0
    assert json.loads(out)["learnt"] == 25
    assert [line for line in err.splitlines() if line.endswith("turns")] == [
        f"learnt: {done} of 25 turns" for done in (3, 5, 8, 10, 13, 15, 18, 20, 23, 25)
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Give a question and an answer, or --traces FILE"),
        (["q"], "Give a question and an answer, or --traces FILE"),
        (["q", "a", "--traces", "traces.jsonl"], "Give either it or them"),
        (["--traces", "traces.jsonl", "--expected", "x"], "Give either it or them"),
        (["--traces", "none.jsonl"], "none.jsonl cannot be read"),
    ],
)
def test_mistakes_are_sentences(shell: Shell, arguments: list[str], sentence: str) -> None:
    write(*TURNS)
    code, out, err = shell("learn", *arguments)
    assert (code, out) == (2, "")
    assert sentence in " ".join(err.replace("│", " ").split())


def test_a_stop_loses_nothing(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(*({"question": f"question {n}", "answer": "a"} for n in range(4)))
    learn, calls = Engine.learn_batch, list[int]()

    def stopped(engine: Engine, turns: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return learn(engine, turns)

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "learn_batch", stopped)
        code, _, err = shell("learn", "--traces", path)
    assert code == 130
    assert "Stopped. Nothing is lost: give the same command again" in err
    went_on = shell.json("learn", "--traces", path)
    assert (went_on["learnt"], went_on["known"]) == (2, 2)
