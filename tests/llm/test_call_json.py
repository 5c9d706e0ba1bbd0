"""Requests and their outcomes as JSON, and how two requests differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cheatsheet import errors
from cheatsheet.errors import ModelError, ModelRateError
from cheatsheet.llm.call_json import differences, error_from, error_json, nearest, reply_from, reply_json, request_json
from cheatsheet.llm.model import Message, Outcome, Reply, Request, Usage

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ModelError)]


def chat(*texts: str, **options: Any) -> dict[str, Any]:
    return request_json(Request(messages=tuple(Message(role="user", content=text) for text in texts), **options))


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_comes_back_as_what_it_was(kind: type[ModelError]) -> None:
    """Every kind that there is: a new one must be known here as well."""
    read = error_from(json.loads(json.dumps(error_json(kind("half of a pair: \ud83d")))))
    assert (type(read), str(read)) == (kind, "half of a pair: \ud83d")


def test_an_error_of_another_class_comes_back_as_the_nearest_of_ours() -> None:
    class ThrottledError(ModelRateError):
        pass

    assert type(error_from(error_json(ThrottledError("slow down")))) is ModelRateError


@pytest.mark.parametrize("row", [{}, {"type": "KeyError", "message": "no"}, {"type": "ModelError"}])
def test_what_is_no_error_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(LookupError):
        error_from(row)


def test_a_reply_comes_back_whole() -> None:
    usage = Usage(prompt_tokens=3, cached_tokens=1, calls=1, cost_usd=0.1, cost_complete=False, seconds=1 / 3)
    reply = Reply(text="a", outcome=Outcome.LENGTH, model="m", usage=usage, finish_reason="length", notes=("n",))
    assert reply_from(json.loads(json.dumps(reply_json(reply)))) == reply


def test_the_nearest_request_shares_most_of_its_beginning_and_end() -> None:
    requests = [chat("Curate this."), chat("Known: amber. Where?"), chat("Known: teal, and much more. Why?")]
    assert nearest(requests, chat("Known: teal. Where?")) == requests[1]
    assert nearest(requests, requests[2]) == requests[2]
    assert nearest([], requests[2]) is None


def test_differences_are_told_one_by_one() -> None:
    assert differences(chat("a"), chat("a")) == ()
    told = differences(chat("Where?", stop=("\n",)), chat("Where now?", stop=(), temperature=0.5))
    assert told == (
        "from character 11 of the prompt on, 'user: Where?' became 'user: Where now?'",
        'stop was ["\\n"], is []',
        "temperature was 0.0, is 0.5",
    )
    assert differences(chat("a"), request_json(Request(prompt="user: a"))) == ()


def test_only_what_stands_around_a_difference_is_shown() -> None:
    (told,) = differences(chat("x" * 500 + "a"), chat("x" * 500 + "b" + "y" * 500))
    assert told.startswith("from character 506 of the prompt on, ")
    assert len(told) < 400
