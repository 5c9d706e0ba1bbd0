"""The async twins of an engine."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cheatsheet.engine.asynchronous import in_thread
from cheatsheet.engine.engine import Engine
from cheatsheet.errors import OperationError, SetupError
from cheatsheet.llm.scripted import ScriptedModel
from tests.interfaces.agents.memories import open_memory

QUESTION = "My card was charged twice"


@pytest.fixture
def memory() -> Iterator[Engine]:
    with open_memory(model=ScriptedModel(lambda request: "amber")) as engine:
        yield engine


class Slow:
    """A function that waits at a gate, in the place of one of an engine."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.ended = threading.Event()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.begun.set()
        assert self.gate.wait(60)
        try:
            return self._function(*args, **kwargs)
        finally:
            self.ended.set()


def test_the_twins_give_what_their_originals_give(memory: Engine) -> None:
    async def live() -> None:
        recall = await memory.arecall(QUESTION, token_budget=500)
        assert recall.text == ""
        lesson = await memory.alearn(recall, "crimson", expected="amber", turn_id="t1")
        assert lesson.experience_id == "exp-00001"
        turn = await memory.asolve("Where is my parcel?", expected="amber", turn_id="t2")
        assert (turn.answer, turn.correct) == ("amber", True)
        answered = await memory.aanswer("And the other one?")
        assert answered.answer == "amber"
        assert "amber" in (await memory.arecall(QUESTION)).text
        assert (await memory.arecall(QUESTION, as_of=0)).text == ""

    asyncio.run(live())
    assert (memory.learnt("t1"), memory.learnt("t2"), memory.stats().experiences) == (True, True, 2)


def test_errors_rise_as_from_the_originals(memory: Engine) -> None:
    async def learn_twice() -> None:
        await memory.alearn(QUESTION, "amber", turn_id="t")
        await memory.alearn(QUESTION, "amber", turn_id="t")

    with pytest.raises(OperationError, match="learnt before"):
        asyncio.run(learn_twice())
    with open_memory() as without_model, pytest.raises(SetupError, match="without a model"):
        asyncio.run(without_model.asolve(QUESTION))


def test_the_loop_goes_on_while_something_is_learnt(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(memory.learn)
    monkeypatch.setattr(memory, "learn", slow)

    async def live() -> None:
        learning = asyncio.create_task(memory.alearn(QUESTION, "amber"))
        while not slow.begun.is_set():
            await asyncio.sleep(0)
        assert not learning.done()
        slow.gate.set()  # a loop that stood still would never come here
        await learning

    asyncio.run(live())
    assert memory.stats().experiences == 1


def test_many_turns_at_once_are_all_learnt(memory: Engine) -> None:
    async def live() -> None:
        turns = [memory.alearn(f"Question number {number}?", "amber", turn_id=str(number)) for number in range(40)]
        recalls = [memory.arecall(f"Question number {number}?") for number in range(10)]
        await asyncio.gather(*turns, *recalls)

    asyncio.run(live())
    assert memory.stats().experiences == 40


def test_a_cancelled_alearn_finishes_in_its_thread(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(memory.learn)
    monkeypatch.setattr(memory, "learn", slow)

    async def live() -> None:
        learning = asyncio.create_task(memory.alearn(QUESTION, "crimson", expected="amber"))
        while not slow.begun.is_set():
            await asyncio.sleep(0)
        learning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await learning
        assert not slow.ended.is_set()
        slow.gate.set()

    asyncio.run(live())  # waits for the threads of its loop
    assert slow.ended.is_set()
    assert (memory.stats().experiences, memory.stats().bullets) == (1, 1)


def test_a_cancelled_alearn_is_learnt_also_when_no_thread_was_free(memory: Engine) -> None:
    gate = threading.Event()

    async def live() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        busy = asyncio.create_task(in_thread(gate.wait, 60))
        learning = asyncio.create_task(memory.alearn(QUESTION, "amber"))
        await asyncio.sleep(0)
        learning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await learning
        gate.set()
        assert await busy

    asyncio.run(live())
    assert memory.stats().experiences == 1


def test_what_fails_after_its_caller_was_cancelled_is_logged(
    memory: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    memory.learn(QUESTION, "amber", turn_id="t")
    slow = Slow(memory.learn)
    monkeypatch.setattr(memory, "learn", slow)

    async def live() -> None:
        learning = asyncio.create_task(memory.alearn(QUESTION, "amber", turn_id="t"))
        while not slow.begun.is_set():
            await asyncio.sleep(0)
        learning.cancel()
        slow.gate.set()
        with pytest.raises(asyncio.CancelledError):
            await learning

    with caplog.at_level(logging.ERROR, "cheatsheet"):
        asyncio.run(live())
    assert "failed after its caller was cancelled" in caplog.text
    assert "learnt before" in caplog.text


def test_context_variables_of_the_caller_are_seen_in_the_thread() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    async def live() -> str:
        variable.set("set by the caller")
        return await in_thread(variable.get)

    assert asyncio.run(live()) == "set by the caller"
