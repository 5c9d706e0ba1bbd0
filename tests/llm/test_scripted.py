"""The model that says what it was told to say."""

from __future__ import annotations

import threading

import pytest

from cheatsheet.errors import ModelUnavailableError
from cheatsheet.llm.model import Capabilities, Message, Outcome, Reply, Request
from cheatsheet.llm.scripted import ScriptedModel, ScriptExhaustedError


def ask(text: str) -> Request:
    return Request(messages=(Message(role="user", content=text),))


def test_replies_come_in_order_and_requests_are_kept() -> None:
    filtered = Reply(text="", outcome=Outcome.FILTERED, model="other")
    model = ScriptedModel(["amber team", filtered, ModelUnavailableError("down"), " "])
    first = model.complete(ask("which team is it"))
    assert (first.text, first.outcome, first.model) == ("amber team", Outcome.OK, "scripted")
    assert (first.usage.prompt_tokens, first.usage.completion_tokens, first.usage.calls) == (4, 2, 1)
    assert model.complete(ask("b")) is filtered
    with pytest.raises(ModelUnavailableError, match="down"):
        model.complete(ask("c"))
    assert model.complete(ask("d")).outcome is Outcome.EMPTY
    assert model.requests == [ask("which team is it"), ask("b"), ask("c"), ask("d")]


def test_a_function_may_answer() -> None:
    model = ScriptedModel(lambda request: request.messages[0]["content"].upper(), name="loud")
    assert [model.complete(ask(text)).text for text in ("a", "b")] == ["A", "B"]
    assert model.complete(ask("c")).model == "loud"


def test_running_out_names_the_count_and_the_request() -> None:
    model = ScriptedModel(["only one"])
    model.complete(ask("a"))
    with pytest.raises(ScriptExhaustedError, match=r"has 1 replies, and this is request number 2: 'the second'"):
        model.complete(ask("the second"))
    assert issubclass(ScriptExhaustedError, AssertionError)


def test_capabilities_are_claimed_as_told() -> None:
    claimed = Capabilities(context_window=100, continuation=True)
    assert ScriptedModel([], capabilities=claimed).capabilities == claimed
    assert ScriptedModel(["x"]).complete(Request(prompt="a b")).usage.prompt_tokens == 2


def test_each_reply_is_given_once_to_many_threads() -> None:
    model = ScriptedModel([str(number) for number in range(64)])
    said: list[str] = []
    threads = [
        threading.Thread(target=lambda: said.extend(model.complete(ask("x")).text for _ in range(8))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said, key=int) == [str(number) for number in range(64)]
