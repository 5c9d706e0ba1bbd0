"""Reading answers of every shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.llm.model import Message, Outcome, Reply, Request, Usage
from cheatsheet.llm.reading import bare_choice, cut_at_stop, read_reply, read_usage

QUESTION = Request(messages=(Message(role="user", content="?"),))


def read(body: dict[str, Any], request: Request = QUESTION) -> Reply:
    return read_reply(body, request=request, model="m", usage=Usage(calls=1))


def chat(finish_reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    return {"choices": [{"finish_reason": finish_reason, "message": message}]}


@pytest.mark.parametrize(
    ("body", "outcome", "text"),
    [
        (chat(content="amber"), Outcome.OK, "amber"),
        (chat(None, content="amber"), Outcome.OK, "amber"),
        (chat("length", content="amb"), Outcome.LENGTH, "amb"),
        (chat("length", content=""), Outcome.EMPTY, ""),  # hidden reasoning used up all the room
        (chat(content=" \n"), Outcome.EMPTY, ""),
        (chat(content=None), Outcome.EMPTY, ""),
        (chat(content=None, reasoning_content="hm"), Outcome.EMPTY, ""),
        (chat(content=None, refusal="I cannot help with that."), Outcome.FILTERED, ""),
        (chat("content_filter", content="amb"), Outcome.FILTERED, ""),
        (chat("tool_calls", content=None, tool_calls=[{"id": "t1"}]), Outcome.TOOL_CALLS, ""),  # P13
        (chat("tool_calls", content="amber", tool_calls=[{"id": "t1"}]), Outcome.OK, "amber"),
        (chat(content=[{"type": "text", "text": "am"}, {"type": "text", "text": "ber"}]), Outcome.OK, "amber"),
        ({"choices": [{"finish_reason": "content_filter: X", "message": None}]}, Outcome.FILTERED, ""),  # L04
        ({"choices": [{"finish_reason": "stop", "text": " amber"}]}, Outcome.OK, " amber"),
        ({"choices": []}, Outcome.EMPTY, ""),  # L03
        ({"choices": None}, Outcome.EMPTY, ""),
        ({}, Outcome.EMPTY, ""),
    ],
)
def test_shapes(body: dict[str, Any], outcome: Outcome, text: str) -> None:
    answer = read(body)
    assert (answer.outcome, answer.text, answer.readable) == (outcome, text, bool(text))
    assert bool(answer.notes) is not answer.readable  # what is not there has a reason
    assert answer.usage.calls == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "choices": json_values
        | st.lists(
            st.fixed_dictionaries(
                {}, optional={"finish_reason": json_values, "message": json_values, "text": json_values}
            )
            | st.fixed_dictionaries({"message": st.fixed_dictionaries({}, optional={"content": json_values})}),
            max_size=2,
        ),
        "usage": json_values,
    },
)


@given(bodies)
def test_l1_no_shape_raises_and_only_readable_replies_have_a_text(body: dict[str, Any]) -> None:
    answer = read(body)
    assert answer.readable == bool(answer.text.strip())
    assert read_usage(body, cost_usd=None, seconds=0.0).prompt_tokens >= 0


def test_usage() -> None:
    usage = read_usage(
        {"usage": {"prompt_tokens": 40, "completion_tokens": None, "prompt_tokens_details": {"cached_tokens": 30}}},
        cost_usd=0.5,
        seconds=2.0,
    )
    assert usage == Usage(prompt_tokens=40, cached_tokens=30, calls=1, cost_usd=0.5, seconds=2.0)
    assert not read_usage({}, cost_usd=None, seconds=0.0).cost_complete


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("amber", "amber"),
        (" amber\n", "amber"),
        ('{"answer": "amber"}', "amber"),
        ('"amber"', "amber"),
        ('{"answer": "green"}', '{"answer": "green"}'),
        ('{"answer": 7}', '{"answer": 7}'),
        ("I say amber", "I say amber"),
        ("spaced", " spaced "),
    ],
)
def test_bare_choices(text: str, choice: str) -> None:
    assert bare_choice(text, ("amber", "crimson", " spaced ")) == choice


@given(st.text(), st.lists(st.text(max_size=3), max_size=3))
def test_no_stop_text_is_left_in(text: str, stop: list[str]) -> None:
    cut = cut_at_stop(text, stop)
    assert text.startswith(cut)
    assert not any(mark in cut for mark in stop if mark)


@given(st.lists(st.tuples(st.integers(0, 99), st.none() | st.floats(0, 9)), min_size=1, max_size=6))
def test_a_sum_with_an_unknown_cost_is_marked(calls: list[tuple[int, float | None]]) -> None:
    parts = [Usage(prompt_tokens=n, calls=1, cost_usd=cost, cost_complete=cost is not None) for n, cost in calls]
    total = sum(parts, Usage())
    assert total.calls == len(calls)
    assert total.prompt_tokens == sum(n for n, _ in calls)
    assert total.cost_complete is all(cost is not None for _, cost in calls)
