"""`eval` with several tasks, models and orders, workers and budgets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cheatsheet.errors import SetupError, UnknownNameError
from cheatsheet.evaluation.runs.reading import find_runs
from cheatsheet.interfaces.arms import arm_of
from cheatsheet.interfaces.planning import arm_named, names_in, orders, read_arms, settings_in_spec
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.settings import load_settings
from tests.interfaces.shell import Shell

TASK = "".join(json.dumps({"input": f"What is {n} + {n}?", "target": str(2 * n)}) + "\n" for n in range(1, 6))
MORE = "".join(json.dumps({"question": f"What is {n} - 1?", "answer": str(n - 1)}) + "\n" for n in range(1, 4))


@pytest.fixture
def files(shell: Shell) -> None:
    """The shell stands in a folder of the test's own."""
    Path("sums.jsonl").write_text(TASK, encoding="utf-8")
    Path("more.jsonl").write_text(MORE, encoding="utf-8")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Answers "4" to whatever is asked, under any name."""
    scripted = ScriptedModel(["4"] * 500)
    monkeypatch.setattr("cheatsheet.interfaces.parts.build_model", lambda settings, name, api_base: scripted)
    return scripted


@pytest.mark.usefixtures("files", "model")
def test_tasks_models_and_orders_are_runs_side_by_side(shell: Shell) -> None:
    arguments = (
        "eval",
        "sums.jsonl",
        "more.jsonl",
        "--models",
        "a/m,b/m",
        "--seeds",
        "2",
        "--modes",
        "default,retrieval",
    )
    values = shell.json(*arguments, "--out", "grid")
    names = [
        f"{task}--{model}--seed-{seed}" for task in ("more", "sums") for model in ("a-m", "b-m") for seed in (1, 2)
    ]
    found = find_runs(["grid"])
    assert [run.folder.name for run in found] == names
    assert {(run["task"], run["model"], run["seed"]) for run in values["runs"]} == {
        (task, model, seed) for task in ("sums", "more") for model in ("a/m", "b/m") for seed in (1, 2)
    }
    assert [len(arm.rows) for arm in found[0].arms] == [3, 3]
    assert len(values["pooled"]) == 8


@pytest.mark.usefixtures("files")
def test_a_grid_is_resumed_and_grows(shell: Shell, model: ScriptedModel) -> None:
    arguments = ("eval", "sums.jsonl", "--model", "m", "--modes", "default", "--out", "grid")
    shell.json(*arguments, "--seeds", "2")
    calls = len(model.requests)
    assert len(shell.json(*arguments, "--seeds", "3", "--resume")["runs"]) == 3
    assert len(model.requests) == calls * 3 // 2
    code, _, err = shell(*arguments, "--resume")
    assert code == 2
    assert "is not empty and holds no run" in err


@pytest.mark.usefixtures("files", "model")
def test_a_single_run_keeps_its_folder_to_itself(shell: Shell) -> None:
    shell.json("eval", "sums.jsonl", "--model", "m", "--modes", "default", "--out", "run", "--seed", "7")
    assert Path("run", "run.json").exists()
    code, _, err = shell("eval", "sums.jsonl", "--model", "m", "--seeds", "2", "--out", "run", "--resume")
    assert code == 2
    assert "run holds one run, and these are several. Choose another folder with --out." in err


@pytest.mark.usefixtures("files")
def test_a_spent_budget_is_told_and_can_be_raised(shell: Shell, model: ScriptedModel) -> None:
    arguments = ("eval", "sums.jsonl", "--model", "m", "--modes", "default", "--out", "run")
    code, out, err = shell(*arguments, "--max-total-tokens", "1")
    assert code == 4
    assert "of 1 tokens. Done are 1 of 5 questions" in err
    assert "--resume --out run and a higher budget" in " ".join(err.split())
    assert "| default |" in out
    (arm,) = shell.json(*arguments, "--max-total-tokens", "1000000", "--resume")
    assert arm["n"] == 5
    assert len(model.requests) == 5


@pytest.mark.usefixtures("files")
def test_a_budget_in_dollars_needs_prices(shell: Shell, model: ScriptedModel) -> None:
    """Told before the first question; one model has a price."""
    arguments = ("eval", "sums.jsonl", "--modes", "default,nearest", "--max-cost", "1")
    code, _, err = shell(*arguments, "--models", "openai/gpt-4o-mini,openai/of-my-own", "--out", "run")
    assert code == 2
    assert "the price of openai/of-my-own is not known. Use --max-total-tokens." in err
    assert model.requests == []
    assert not Path("run").exists()
    shell.json(*arguments, "--models", "openai/gpt-4o-mini", "--out", "run")


@pytest.mark.usefixtures("files")
def test_a_missing_key_stops_all_runs_before_the_first_question(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    models = "local/smollm2-135m,openai/gpt-4o-mini"
    code, _, err = shell("eval", "sums.jsonl", "--models", models, "--workers", "2", "--out", "run")
    assert code == 1
    assert "openai/gpt-4o-mini needs a key" in err
    assert not Path("run").exists()


@pytest.mark.usefixtures("files")
def test_workers_give_the_rows_of_one_process(shell: Shell) -> None:
    """By recorded calls, since a scripted model does not reach another process."""
    with pytest.MonkeyPatch.context() as patch:
        scripted = ScriptedModel(["4"] * 100)
        patch.setattr("cheatsheet.interfaces.parts.build_model", lambda settings, name, api_base: scripted)
        arguments = ("eval", "sums.jsonl", "--model", "m", "--seeds", "2", "--modes", "default,retrieval")
        shell.json(*arguments, "--out", "one", "--record")
    shell.json(*arguments, "--out", "two", "--replay", "one", "--workers", "2")
    for was, now in zip(find_runs(["one"]), find_runs(["two"]), strict=True):
        assert [arm.rows for arm in now.arms] == [arm.rows for arm in was.arms]


@pytest.mark.usefixtures("files", "model")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--modes", "default,retreival"], "Unknown mode 'retreival'. Did you mean 'retrieval'?"),
        (["--modes", "default", "--baseline", "retrieval"], "Unknown arm 'retrieval'. Choose one of 'default'."),
        (["--address", "auto"], "--address is that of a Ray cluster: give --engine ray too, or leave it out."),
        (["--max-cost", "0"], "max_cost_usd is 0.0. A budget is more than 0"),
        (["--metric", "acuracy"], "Did you mean 'accuracy'"),
        (["--record", "--replay", "x"], "--record and --replay exclude each other"),
        (["sums.jsonl", "--seeds", "2", "--out", "o"], "would both lie in"),
    ],
)
def test_mistakes_are_told_before_anything_is_written(shell: Shell, arguments: list[str], sentence: str) -> None:
    code, out, err = shell("eval", "sums.jsonl", "--model", "m", *arguments)
    assert code == 2, err
    assert sentence in " ".join(err.split())
    assert out == ""
    assert not Path("runs").exists()
    assert not Path("o").exists()


@pytest.mark.usefixtures("files", "model")
def test_metrics_that_are_named_have_a_table(shell: Shell) -> None:
    wanted = ("--metric", "accuracy@last-2", "--metric", "model_calls/question")
    code, out, err = shell("eval", "sums.jsonl", "--model", "m", "--modes", "default", *wanted, "--out", "o")
    assert code == 0, err
    assert "accuracy@last-2" in out
    assert "model_calls/question" in out


@pytest.mark.usefixtures("files", "model")
def test_ray_is_an_extra(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    code, _, err = shell("eval", "sums.jsonl", "--model", "m", "--engine", "ray")
    assert code == 2
    assert "pip install 'cheatsheet[ray]'" in err


def test_names_and_orders() -> None:
    assert names_in(" a, b,,a ") == ("a", "b")
    assert orders(None, None) == (None,)
    assert orders(7, None) == (7,)
    assert orders(None, 3) == (1, 2, 3)
    assert orders(7, 2) == (7, 8)


def test_the_baseline_by_its_name_or_in_the_words_of_modes() -> None:
    arms = read_arms("default,DC-∅,retrieval+top_k=3")
    for text in ("retrieval+top_k=3", "retrieval+top_k-3", "Retrieval + top-k = 3"):
        assert arm_named(text, arms) is arms[2]
    assert arm_named("DC-∅", arms) is arm_named("dc-empty", arms) is arms[1]
    with pytest.raises(UnknownNameError, match="Did you mean 'default'"):
        arm_named("defualt", arms)
    with pytest.raises(UnknownNameError, match="Choose one of 'default', 'DC-empty'"):
        arm_named("cumulative", arms)


def test_an_arm_that_is_named_twice_is_asked_once() -> None:
    assert read_arms("DC-RS,dc-rs,DC-∅,DC-empty,retrieval") == tuple(map(arm_of, ("DC-RS", "DC-∅", "retrieval")))


def test_two_arms_do_not_share_a_folder() -> None:
    with pytest.raises(SetupError, match=r"would share the folder 'retrieval\+model-a_b'"):
        read_arms("retrieval+model=a/b,retrieval+model=a_b")


def test_a_run_begun_before_there_were_instructions_can_be_resumed() -> None:
    assert "instructions" not in settings_in_spec(load_settings())
    assert settings_in_spec(load_settings(instructions="Be brief."))["instructions"] == "Be brief."
