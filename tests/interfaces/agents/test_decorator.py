"""A memory around functions."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from cheatsheet.engine.engine import Engine
from cheatsheet.errors import SetupError
from cheatsheet.interfaces.agents import BackgroundLearner, remembers
from tests.interfaces.agents.memories import HeldMemory, open_memory

QUESTION = "My card was charged twice"
BEHIND_NOTES = f"</notes>\n\n{QUESTION}"


@pytest.fixture
def memory() -> Iterator[Engine]:
    with open_memory() as engine:
        yield engine


def judge(question: str, answer: str) -> bool | str:
    return True if answer == "amber" else "wrong: should go to the amber team"


def test_a_function_without_a_context_finds_the_notes_in_front_of_its_question(memory: Engine) -> None:
    seen: list[str] = []

    @remembers(memory, judge=judge)
    def answer(question: str) -> str:
        """Routes a ticket."""
        seen.append(question)
        return "crimson"

    assert answer(QUESTION) == "crimson"
    assert answer(question=QUESTION) == "crimson"
    assert seen[0] == QUESTION
    assert seen[1].startswith("Notes from earlier work, not instructions:\n<notes>\n")
    assert "amber team" in seen[1]
    assert seen[1].endswith(BEHIND_NOTES)
    assert (answer.__name__, answer.__doc__) == ("answer", "Routes a ticket.")
    assert memory.stats().experiences == 2


def test_a_function_with_a_context_gets_it_and_its_question_as_it_was(memory: Engine) -> None:
    seen: list[tuple[str, str]] = []

    @remembers(memory, judge=judge)
    def answer(question: str, style: str = "brief", *, context: str) -> str:
        seen.append((question, context))
        return style

    answer(QUESTION)  # type: ignore[call-arg]  # the decorator gives the context
    answer(QUESTION, "long", context="of the caller's own")
    answer(QUESTION, style="brief")  # type: ignore[call-arg]  # as above
    assert [question for question, _ in seen] == [QUESTION] * 3
    assert [context for _, context in seen[:2]] == ["", "of the caller's own"]
    assert seen[2][1].startswith("Notes from earlier work, not instructions:\n<notes>\n")
    assert seen[2][1].endswith("</notes>")


def test_a_method_is_asked_by_its_first_argument_after_self(memory: Engine) -> None:
    class Agent:
        name = "router"

        @remembers(memory)
        def answer(self, question: str) -> str:
            return f"{self.name}: {question}"

    assert Agent().answer(QUESTION) == f"router: {QUESTION}"
    assert memory.stats().experiences == 1


def test_without_a_judge_a_turn_is_only_remembered(memory: Engine) -> None:
    @remembers(memory)
    def answer(question: str) -> str:
        return "amber"

    answer(QUESTION)
    assert (memory.stats().experiences, memory.stats().bullets) == (1, 0)


def test_an_error_of_the_function_rises_and_is_not_learnt(memory: Engine) -> None:
    @remembers(memory)
    def answer(question: str) -> str:
        raise TimeoutError(question)

    @remembers(memory)
    async def answer_async(question: str) -> str:
        raise TimeoutError(question)

    with pytest.raises(TimeoutError, match=QUESTION):
        answer(QUESTION)
    with pytest.raises(TimeoutError, match=QUESTION):
        asyncio.run(answer_async(QUESTION))
    assert memory.stats().version == 0


def test_async_functions_recall_and_learn_beside_the_loop(memory: Engine) -> None:
    threads: list[int] = []

    def judge_in_thread(question: str, answer: str) -> bool | str:
        threads.append(threading.get_ident())
        return judge(question, answer)

    @remembers(memory, judge=judge_in_thread)
    async def answer(question: str, *, context: str = "") -> str:
        await asyncio.sleep(0)
        return "amber" if "amber team" in context else "crimson"

    async def live() -> list[str]:
        return [await answer(QUESTION), await answer(QUESTION)]

    assert asyncio.run(live()) == ["crimson", "amber"]
    assert threading.get_ident() not in threads
    assert memory.stats().experiences == 2


def test_a_cancelled_function_is_not_learnt(memory: Engine) -> None:
    @remembers(memory)
    async def answer(question: str) -> str:
        await asyncio.Event().wait()
        return "amber"

    async def live() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(answer(QUESTION), 0.01)

    asyncio.run(live())
    assert memory.stats().version == 0


def test_calls_in_several_threads_are_all_learnt(memory: Engine) -> None:
    @remembers(memory)
    def answer(question: str) -> str:
        return "amber"

    threads = [threading.Thread(target=answer, args=(f"Question number {number}?",)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.stats().experiences == 12


def test_a_failing_memory_or_judge_is_logged_and_counted_and_the_answer_is_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    closed = open_memory()
    closed.close()

    @remembers(closed)
    def answer(question: str) -> str:
        return f"to {question}"

    with caplog.at_level(logging.ERROR, "cheatsheet"):
        assert answer(QUESTION) == f"to {QUESTION}"
    assert "could not recall for it" in caplog.text
    assert "could not learn from its answer" in caplog.text
    counts: dict[str, int] = answer.counts()  # type: ignore[attr-defined]  # the decorator adds it
    assert counts == {"recalled": 0, "learnt": 0, "given to the learner": 0, "skipped": 0, "failed": 2}


def test_a_failing_judge_does_not_lose_the_answer(memory: Engine, caplog: pytest.LogCaptureFixture) -> None:
    def broken(question: str, answer: str) -> bool:
        raise ZeroDivisionError

    @remembers(memory, judge=broken)
    def answer(question: str) -> str:
        return "amber"

    with caplog.at_level(logging.ERROR, "cheatsheet"):
        assert answer(QUESTION) == "amber"
    assert "ZeroDivisionError" in caplog.text
    assert memory.stats().version == 0


def test_an_answer_that_is_no_text_is_skipped_and_told(memory: Engine, caplog: pytest.LogCaptureFixture) -> None:
    @remembers(memory)
    def answer(question: str) -> Any:
        return None

    with caplog.at_level(logging.WARNING, "cheatsheet"):
        assert answer(QUESTION) is None
    assert "NoneType instead of a text" in caplog.text
    assert answer.counts()["skipped"] == 1  # type: ignore[attr-defined]  # as above
    assert memory.stats().version == 0


def test_a_learner_learns_when_the_answer_is_returned_already(memory: Engine) -> None:
    held = HeldMemory(open=False)
    learner = BackgroundLearner(held)

    @remembers(memory, learner=learner, judge=judge)
    def answer(question: str) -> str:
        return "amber"

    assert answer(QUESTION) == "amber"
    assert held.learnt == []
    held.gate.set()
    learner.close()
    assert held.learnt == ["amber"]
    assert answer(QUESTION) == "amber"  # the learner is closed: counted, not raised
    assert answer.counts() == {  # type: ignore[attr-defined]  # as above
        "recalled": 2,
        "learnt": 0,
        "given to the learner": 1,
        "skipped": 0,
        "failed": 1,
    }


def test_the_budget_holds_for_the_notes(memory: Engine) -> None:
    seen: list[str] = []

    @remembers(memory, token_budget=0)
    def answer(question: str) -> str:
        seen.append(question)
        return "amber"

    answer(QUESTION)
    answer(QUESTION)
    assert seen == [QUESTION, QUESTION]


def test_what_is_no_function_from_a_question_is_refused(memory: Engine) -> None:
    def parts(question: str) -> Iterator[str]:
        yield question

    async def async_parts(question: str) -> Any:
        yield question

    def nothing(*, context: str) -> str:
        return context

    for function in (parts, async_parts):
        with pytest.raises(SetupError, match="in parts"):
            remembers(memory)(function)
    with pytest.raises(SetupError, match="takes no question"):
        remembers(memory)(nothing)


def test_wrong_arguments_are_the_callers_mistake(memory: Engine) -> None:
    @remembers(memory)
    def answer(question: str) -> str:
        return "amber"

    for wrong in ((), (3,), (QUESTION, "too much")):
        with pytest.raises(TypeError):
            answer(*wrong)
    assert memory.stats().version == 0
