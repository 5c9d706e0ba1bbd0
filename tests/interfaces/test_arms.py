"""The arms of an evaluation: their names, and the memories that are opened for them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import ModelAuthError, SettingsError, SetupError, UnknownNameError
from cheatsheet.evaluation.controls.registry import CONTROLS
from cheatsheet.evaluation.runs.results import RunResult
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.runner import run
from cheatsheet.evaluation.runs.spec import ArmSpec, RunSpec, TaskSpec
from cheatsheet.evaluation.task import Sample, Task
from cheatsheet.interfaces import parts
from cheatsheet.interfaces.arms import ArmOpener, arm_of
from cheatsheet.llm.model import Capabilities, Request
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.settings import load_settings
from tests.conftest import TickingClock

TEAMS = ("amber", "crimson")


@pytest.mark.parametrize(
    ("text", "mode", "name", "settings"),
    [
        ("retrieval", "retrieval", "retrieval", {}),
        ("Dynamic_Retrieval", "retrieval", "retrieval", {}),
        ("DC-RS", "retrieval", "DC-RS", {"synthesis": True}),
        ("DC-∅", "default", "DC-empty", {"scaffold": True}),
        ("-DC-RS", "retrieval", "DC-RS", {"synthesis": True}),
        (" retrieval + top-k = 3 ", "retrieval", "retrieval+top_k-3", {"top_k": 3}),
        ("placebo", "placebo", "placebo", {"synthesis": False}),
        ("Placebo+top_k=3", "placebo", "placebo+top_k-3", {"synthesis": False, "top_k": 3}),
        ("random", "random", "random", {"synthesis": False}),
        ("shuffled", "shuffled", "shuffled", {"synthesis": False}),
    ],
)
def test_an_arm_by_its_text(text: str, mode: str, name: str, settings: dict[str, Any]) -> None:
    assert arm_of(text) == ArmSpec(mode=mode, name=name, settings=settings)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("plasebo", UnknownNameError, "Did you mean 'placebo'?.*'retrieval'.*'shuffled'"),
        ("retreival", UnknownNameError, "Did you mean 'retrieval'?.*'nearest'"),
        ("placebo+synthesis=true", SetupError, "synthesis belongs to what this control is"),
        ("nearest+reflector=model", SetupError, "reflector belongs to what this control is"),
        ("retrieval+api_key=x", SetupError, "api_key is of the whole run"),
        ("retrieval+top_k", SetupError, r"such as retrieval\+top_k=3"),
        ("random+topk=3", SettingsError, "Did you mean 'top_k'"),
        ("random+top_k=0", SettingsError, "top_k"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(text: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        arm_of(text)


def opener(**settings: Any) -> ArmOpener:
    return ArmOpener(settings=load_settings(embedder="hashing", counter="chars", synchronous="normal", **settings))


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> Callable[[ScriptedModel], list[str]]:
    """Lets every named model be the one given; returns the names that were built."""

    def use(model: ScriptedModel) -> list[str]:
        built: list[str] = []

        def make(settings: Any, name: str | None, api_base: str | None) -> ScriptedModel | None:
            built.append(str(name))
            return None if name is None else model

        monkeypatch.setattr(parts, "build_model", make)
        return built

    return use


def first_choice(request: Request) -> str:
    return request.choices[0] if request.choices else "amber"


def spec_of(task: Task, arms: tuple[ArmSpec, ...], clock: TickingClock) -> RunSpec:
    return RunSpec(
        task=TaskSpec.of(task),
        arms=arms,
        model="m",
        embedder="hashing",
        version="0",
        created_at=clock(),
        scorer="exact",
    )


@pytest.fixture
def task() -> Task:
    texts = ["card charged twice", "parcel is lost", "card charged two times", "parcel was lost", "card charged"]
    return Task(
        name="tickets",
        samples=tuple(
            Sample(id=f"t{n}", input=f"My {text}", target=TEAMS["parcel" in text], choices=TEAMS)
            for n, text in enumerate(texts)
        ),
        sha256="0" * 64,
    )


Ran = Callable[..., RunResult]


@pytest.fixture
def ran(task: Task, clock: TickingClock, tmp_path: Path) -> Ran:
    """Runs the task under arms."""

    def run_arms(*texts: str, folder: str = "run", **settings: Any) -> RunResult:
        arms = tuple(map(arm_of, texts))
        opened = pickle.loads(pickle.dumps(opener(**settings)))
        opened.check(arms)
        return run(spec_of(task, arms, clock), task, opened, folder=tmp_path / folder)

    return run_arms


def rows_of(result: RunResult) -> dict[str, tuple[Row, ...]]:
    return {arm.arm.name: arm.rows for arm in result.arms}


def test_every_control_runs_beside_retrieval(ran: Ran, build: Callable[[ScriptedModel], list[str]]) -> None:
    build(ScriptedModel(first_choice))
    result = ran("retrieval", *CONTROLS, model="m", reflector="rules", curator="rules")
    rows = rows_of(result)
    assert [len(found) for found in rows.values()] == [5] * 5
    assert not any(row.error for found in rows.values() for row in found)
    assert len({arm.memory.experiences for arm in result.arms if arm.memory}) == 1
    sizes = [row.context_tokens for row in rows["retrieval"]]
    assert sizes[0] == 0 < sizes[1]
    for asked, size in zip(rows["placebo"], sizes, strict=True):
        assert abs(asked.context_tokens - size) <= 2
        assert (asked.bullets, asked.experiences) == (0, 0)
    assert [row.experiences for row in rows["random"]] == [row.experiences for row in rows["retrieval"]]


def test_the_same_run_gives_the_same_rows(ran: Ran, build: Callable[[ScriptedModel], list[str]]) -> None:
    build(ScriptedModel(first_choice))
    one, two = (rows_of(ran(*CONTROLS, folder=folder, model="m")) for folder in ("one", "two"))
    timeless = {"seconds": 0.0}
    for name in CONTROLS:
        assert [row.model_copy(update=timeless) for row in one[name]] == [
            row.model_copy(update=timeless) for row in two[name]
        ]


def test_nearest_needs_no_model_and_costs_nothing(ran: Ran) -> None:
    rows = rows_of(ran("nearest"))["nearest"]
    assert [row.answer for row in rows] == ["", "amber", "amber", "crimson", "amber"]
    assert [row.correct for row in rows] == [False, False, True, True, True]
    assert {(row.model_calls, row.prompt_tokens, row.completion_tokens, row.cost_usd) for row in rows} == {(0, 0, 0, 0)}


def test_nearest_does_not_even_build_the_model(ran: Ran, build: Callable[[ScriptedModel], list[str]]) -> None:
    built = build(ScriptedModel([]))
    ran("nearest", model="m", reflector="model", merger="model")
    assert built == []


def test_an_arm_that_asks_needs_a_model_before_the_first_question(ran: Ran, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="eval needs a model: --model openai/gpt-4o-mini"):
        ran("nearest", "placebo")
    assert not (tmp_path / "run").exists()


class Keyless(ScriptedModel):
    """A model whose key is missing."""

    def check(self) -> None:
        raise ModelAuthError("OPENAI_API_KEY is not set.")


def test_a_missing_key_is_told_where_it_is_needed(build: Callable[[ScriptedModel], list[str]]) -> None:
    build(Keyless([]))
    with pytest.raises(ModelAuthError, match="OPENAI_API_KEY"):
        opener(model="m").check([arm_of("retrieval")])
    opener(model="m").check([arm_of("nearest")])


def test_one_model_serves_all_arms_and_an_arm_can_have_its_own(
    build: Callable[[ScriptedModel], list[str]], tmp_path: Path
) -> None:
    built = build(ScriptedModel(first_choice))
    opened = opener(model="m")
    for text in ("default", "retrieval", "placebo", "retrieval+model=other"):
        opened(arm_of(text), tmp_path / f"{text}.db").close()
    assert built == ["m", "other"]


def test_what_makes_a_control_holds_whatever_the_run_is_set_to(
    build: Callable[[ScriptedModel], list[str]], tmp_path: Path
) -> None:
    """The run synthesises, which takes a call for every question from the second on; the control does not."""
    model = ScriptedModel(first_choice)
    build(model)
    opened = opener(model="m", synthesis=True, reflector="rules", curator="rules")
    memory = opened(ArmSpec(mode="placebo"), tmp_path / "m.db")
    for number in range(3):
        turn_id = f"placebo:{number}"
        memory.solve(
            Query(text="My card was charged", choices=TEAMS),
            judge=lambda answer: Feedback(correct=True),
            turn_id=turn_id,
            record=lambda turn: {},
        )
    memory.close()
    assert len(model.requests) == 3


def test_the_empty_cheatsheet_runs_on_a_model_that_continues_texts(
    ran: Ran, build: Callable[[ScriptedModel], list[str]]
) -> None:
    model = ScriptedModel(
        first_choice, capabilities=Capabilities(continuation=True, prefers_continuation=True, choices=True)
    )
    build(model)
    (rows,) = rows_of(ran("DC-∅", model="m")).values()
    assert [row.answer for row in rows] == ["amber"] * 5
    assert all("(none yet)" in (request.prompt or "") for request in model.requests)
    assert {request.choices for request in model.requests} == {TEAMS}
