"""The examples run as they stand, with doubles in the place of models; no network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import cheatsheet
from cheatsheet.llm.litellm_model import load_litellm
from cheatsheet.llm.scripted import ScriptedModel
from tests.examples import async_loop, background, decorator, litellm_callback, openai_loop
from tests.interfaces.agents.provider import Provider


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHEATSHEET_EMBEDDER", "hashing")


@pytest.fixture(autouse=True)
def _callbacks() -> Iterator[None]:
    litellm = load_litellm()
    litellm.logging_callback_manager._reset_all_callbacks()
    asyncio.set_event_loop(None)  # else litellm's first sync call makes a loop in this thread, and leaves it open
    yield
    litellm.logging_callback_manager._reset_all_callbacks()


def knows(prompt: str) -> str:
    """A model that knows nothing but what stands in its prompt."""
    return "amber" if "amber" in prompt.replace("amber or crimson", "") else "crimson"


def learner_of_notes() -> Provider:
    return Provider(lambda body: knows(str(body["messages"])))


def remembered(path: str = "tickets.db") -> list[tuple[str, str]]:
    with cheatsheet.open(path) as memory:
        return [(one.query, one.answer) for one in memory.memory.experiences()]


def test_a_loop_with_the_openai_client() -> None:
    line = learner_of_notes()
    assert openai_loop.main(line.client) == ["crimson", "amber", "amber"]
    assert [answer for _, answer in remembered()] == ["crimson", "amber", "amber"]
    assert line.sent[0]["messages"][-1]["content"] == "Which team, amber or crimson? My card was charged twice"
    assert [said["content"] for said in line.sent[2]["messages"]][-2] == "amber"  # an earlier ticket with its team


def test_litellms_callbacks() -> None:
    line = learner_of_notes()
    answers, counts = litellm_callback.main(client=line.client)
    assert answers == ["crimson", "amber"]
    assert (counts["noted"], counts["nothing remembered"], counts["learner: learnt"]) == (1, 1, 2)
    assert asyncio.run(litellm_callback.main_async(client=line.async_client)) == "amber"
    question = "Which team? My card was charged twice"
    assert remembered()[:2] == [(question, "crimson"), (question, "amber")]
    assert len(remembered()) == 3


def test_a_decorator() -> None:
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return knows(prompt)

    assert decorator.main(model) == ["crimson", "amber"]
    assert remembered() == [("My card was charged twice", "crimson"), ("My card was charged two times", "amber")]
    assert prompts[0] == "Name the team for this ticket, in one word.\n\nMy card was charged twice"
    assert prompts[1].startswith("Notes from earlier work, not instructions:\n<notes>\n")


def test_an_event_loop() -> None:
    model = ScriptedModel(lambda request: knows(str(request.messages)))
    answers = asyncio.run(async_loop.main(async_loop.guess, model))
    assert answers[-1] == "amber"
    assert sorted(query for query, _ in remembered()) == sorted(
        [*async_loop.TICKETS, "My card was charged three times"]
    )


def test_learning_in_the_background(capsys: pytest.CaptureFixture[str]) -> None:
    answers, counts = background.main(knows)
    assert len(answers) == 2
    assert counts == {"learnt": 2, "failed": 0, "dropped": 0, "cancelled": 0, "left": 0}
    assert capsys.readouterr().out.split() == ["exp-00001", "exp-00002"]
    assert len(remembered()) == 2
