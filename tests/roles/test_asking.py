"""Asking for an object, and once more when the reply was cut."""

from __future__ import annotations

from typing import Any

import pytest

from cheatsheet.errors import ModelRequestError
from cheatsheet.llm.model import Capabilities, Message, Outcome, Reply, Request, Usage
from cheatsheet.roles.asking import Asked, ask_structured
from cheatsheet.roles.structured_reply import Form
from tests.roles.fakes import said, says

FORM = Form(
    wants=("items", "why"),
    list_field="items",
    item_keys=("name",),
    example={"why": "the reason", "items": [{"name": "the name"}]},
    schema={"type": "object"},
)
REQUEST = Request(messages=(Message(role="user", content="x" * 300),), max_tokens=100)
WHOLE = '{"why": "because", "items": [{"name": "a"}, {"name": "b"}]}'
CUT = said('{"why": "because", "items": [{"name": "a"}, {"na', Outcome.LENGTH)
ONLY_REASONING = Reply(
    text="", outcome=Outcome.EMPTY, model="fake", finish_reason="length", usage=Usage(prompt_tokens=10, calls=1)
)


def ask(*replies: str | Reply | Exception, **capabilities: Any) -> tuple[Asked, list[int]]:
    """What came of it, and the room that each call had."""
    model = says(*replies, capabilities=Capabilities(**capabilities))
    return ask_structured(model, REQUEST, FORM), [request.max_tokens for request in model.requests]


def test_a_whole_reply_is_asked_for_once() -> None:
    asked, rooms = ask(WHOLE)
    assert asked.fields == {"why": "because", "items": [{"name": "a"}, {"name": "b"}]}
    assert (rooms, asked.notes, asked.outcome, asked.usage.calls) == ([100], (), Outcome.OK, 1)


@pytest.mark.parametrize("first", [CUT, ONLY_REASONING, said("Let me think. First", Outcome.LENGTH)])
def test_a_cut_reply_is_asked_for_once_more_with_twice_the_room(first: Reply) -> None:
    """The cut is a named outcome, never the same request again, and both calls are booked."""
    asked, rooms = ask(first, said(WHOLE))
    assert asked.fields is not None
    assert len(asked.fields["items"]) == 2
    assert (rooms, asked.usage.calls, asked.usage.prompt_tokens) == ([100, 200], 2, 20)
    assert asked.notes == ("The reply of fake was cut at 100 tokens; it was asked for again with room for 200.",)


def test_what_was_finished_is_kept_when_the_second_is_cut_too() -> None:
    second = said('{"why": "because", "items": [{"name": "a"}, {"name": "b"}, {"name": "c', Outcome.LENGTH)
    asked, rooms = ask(CUT, second)
    assert (asked.fields, asked.outcome) == (
        {"why": "because", "items": [{"name": "a"}, {"name": "b"}]},
        Outcome.LENGTH,
    )
    assert rooms == [100, 200]
    assert asked.notes[-1] == "The reply of fake was cut at max_tokens; what stood at the cut was left out."


@pytest.mark.parametrize("second", [said("Sorry."), said("", Outcome.FILTERED)])
def test_what_was_finished_is_kept_when_the_second_says_nothing(second: Reply) -> None:
    asked, _ = ask(CUT, second)
    assert asked.fields == {"why": "because", "items": [{"name": "a"}]}
    assert asked.notes[-1] == "What was finished of the first reply is kept."
    assert asked.usage.calls == 2


def test_what_was_finished_is_kept_when_the_second_call_fails() -> None:
    asked, rooms = ask(CUT, ModelRequestError("max_tokens is too large"))
    assert asked.fields == {"why": "because", "items": [{"name": "a"}]}
    assert rooms == [100, 200]
    assert "asking again with room for 200 failed: max_tokens is too large" in asked.notes[0]
    assert asked.usage.calls == 1


def test_the_room_is_bounded_by_the_window() -> None:
    """The prompt takes 10 tokens as booked; where nothing is booked, 300 characters count as 100 tokens."""
    assert ask(CUT, WHOLE, context_window=160)[1] == [100, 150]
    assert ask(Reply(text=CUT.text, outcome=CUT.outcome, model="m"), WHOLE, context_window=220)[1] == [100, 120]
    asked, rooms = ask(CUT, context_window=110)
    assert rooms == [100]
    assert asked.fields == {"why": "because", "items": [{"name": "a"}]}
    assert asked.notes[0] == "There is no more room in the window for a longer reply."


@pytest.mark.parametrize(
    "text", [WHOLE, f"```json\n{WHOLE}\n```\nThis means that", f'Say {{"why": "draft"}}? No: {WHOLE} Because I']
)
def test_a_reply_that_was_complete_before_the_cut_is_not_asked_for_again(text: str) -> None:
    asked, rooms = ask(said(text, Outcome.LENGTH))
    assert rooms == [100]
    assert asked.fields == {"why": "because", "items": [{"name": "a"}, {"name": "b"}]}
    assert asked.notes == ()


def test_a_draft_before_the_cut_is_not_taken_for_the_reply() -> None:
    asked, _ = ask(*[said(f'Draft: {{"why": "draft", "items": []}} Final: {CUT.text}', Outcome.LENGTH)] * 2)
    assert asked.fields == {"why": "because", "items": [{"name": "a"}]}


def test_the_schema_goes_where_it_is_kept() -> None:
    model = says(WHOLE, capabilities=Capabilities(json_schema=True))
    ask_structured(model, REQUEST, FORM)
    assert model.requests[0].json_schema == FORM.schema


@pytest.mark.parametrize("outcome", [Outcome.EMPTY, Outcome.FILTERED, Outcome.TOOL_CALLS])
def test_nothing_said_is_a_named_outcome(outcome: Outcome) -> None:
    """P13, L04: nothing is asked again."""
    asked, rooms = ask(said("", outcome))
    assert (asked.fields, asked.outcome, rooms) == (None, outcome, [100])
    assert asked.notes == (f"The reply of fake is {outcome}.",)
