"""One engine, many threads and coroutines."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

import cheatsheet
from cheatsheet.engine.engine import Engine
from cheatsheet.llm.model import Request
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.memory.experience import Feedback
from cheatsheet.memory.upkeep.verify import verify
from tests.concurrency.worlds import at_once

QUESTION = "Where do parcels with a red mark go?"
SETTINGS: dict[str, Any] = {"mode": "retrieval", "embedder": "hashing", "counter": "chars"}


def lesson(text: str) -> dict[str, Any]:
    return {"feedback": Feedback(correct=True, comment=text)}


@pytest.mark.parametrize("place", ["file", ":memory:"])
def test_threads_learn_the_same_and_other_things(memory_file: Path, place: str) -> None:
    with cheatsheet.open(memory_file if place == "file" else place, **SETTINGS) as memory:

        def learn(thread: int) -> None:
            for number in range(6):
                memory.learn(f"{QUESTION} {number}", "a", **lesson(f"They go to desk {number}."))
                memory.learn(f"What is {thread} of {number}?", "a", **lesson(f"It is number {thread * 10 + number}."))
                assert memory.recall(QUESTION).bullets

        at_once(*(lambda thread=thread: learn(thread) for thread in range(4)))
        assert memory.stats().bullets == 6 + 4 * 6
        assert memory.stats().experiences == 2 * 4 * 6
        assert verify(memory._store) == []


def test_coroutines_learn_the_same_once(memory_file: Path) -> None:
    async def learn(memory: Engine) -> list[str]:
        lessons = await asyncio.gather(
            *(memory.alearn(QUESTION, "a", **lesson("They go to desk 1.")) for _ in range(6))
        )
        return sorted(operation.type for one in lessons for operation in one.operations if operation.type != "tag")

    with cheatsheet.open(memory_file, **SETTINGS) as memory:
        assert asyncio.run(learn(memory)) == ["add"] + ["merge"] * 5
        (bullet,) = memory.memory.bullets()
        assert len(bullet.sources) == 6


def test_a_call_of_the_model_stands_in_nobody_s_way(memory_file: Path) -> None:
    asked, answer = threading.Event(), threading.Event()

    def slow(request: Request) -> str:
        asked.set()
        answer.wait()
        return "crimson"

    with cheatsheet.open(memory_file, model=ScriptedModel(slow), reflector="rules", curator="rules", **SETTINGS) as one:
        solving = threading.Thread(target=one.solve, args=(QUESTION,), kwargs={"expected": "amber"})
        solving.start()
        asked.wait()
        with cheatsheet.open(memory_file, **SETTINGS) as other:
            for memory in (one, other):
                memory.learn("What about refunds?", "a", **lesson("A second person signs."))
                assert "second person" in memory.recall("What about refunds?").text
        answer.set()
        solving.join()
        assert one.stats().experiences == 3
