"""A whole exchange with an agent, read into question, answer and steps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import SetupError
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.roles.model_reflector import ModelReflector
from cheatsheet.roles.role import Attempt
from cheatsheet.roles.rule_reflector import RuleReflector
from cheatsheet.roles.trajectory import Step, failed_then_worked, read_trajectory
from tests.roles.fakes import bullet, prompt_of, says
from tests.roles.golden import as_text, check_golden


def call(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def says_(content: Any, *calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {})}


def result(id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content, **more}


MESSAGES: tuple[dict[str, Any], ...] = (
    {"role": "system", "content": "You book trains."},
    {"role": "user", "content": [{"type": "text", "text": "When does the first train to Lima leave?"}]},
    says_("I look it up.", call("c1", "timetable", to="Lima", date="tomorrow")),
    result("c1", '{"error": "date: use YYYY-MM-DD"}'),
    says_(None, call("c2", "timetable", to="Lima", date="2026-01-06"), call("c3", "weather", city="Lima")),
    result("c3", "Sunny."),
    result("c2", [{"type": "text", "text": "05:40, 07:10"}]),
    says_("At 05:40."),
)


def test_question_answer_and_steps() -> None:
    read = read_trajectory(MESSAGES)
    assert (read.question, read.answer) == ("When does the first train to Lima leave?", "At 05:40.")
    assert read.steps == (
        Step(speaker="assistant", text="I look it up."),
        Step(
            speaker="tool",
            tool="timetable",
            arguments='{"to": "Lima", "date": "tomorrow"}',
            text='{"error": "date: use YYYY-MM-DD"}',
            failed=True,
        ),
        Step(speaker="tool", tool="timetable", arguments='{"to": "Lima", "date": "2026-01-06"}', text="05:40, 07:10"),
        Step(speaker="tool", tool="weather", arguments='{"city": "Lima"}', text="Sunny."),
    )


def test_the_rendering() -> None:
    assert read_trajectory(MESSAGES).text.splitlines() == [
        "1. The assistant said: I look it up.",
        '2. timetable({"to": "Lima", "date": "tomorrow"}) failed: {"error": "date: use YYYY-MM-DD"}',
        '3. timetable({"to": "Lima", "date": "2026-01-06"}) gave: 05:40, 07:10',
        '4. weather({"city": "Lima"}) gave: Sunny.',
    ]


def test_long_results_are_clipped_in_the_middle() -> None:
    messages = [{"role": "user", "content": "q"}, says_(None, call("c", "read")), result("c", "a" * 5_000 + "z")]
    text = read_trajectory(messages).text
    assert len(text) < 1_100
    assert text.startswith("1. read() gave: aaa")
    assert "characters left out" in text
    assert text.endswith("z")


def test_the_last_text_of_the_assistant_is_the_answer() -> None:
    user = {"role": "user", "content": "q"}
    assert read_trajectory([user]).answer == ""
    assert read_trajectory([says_("Hello."), user]).answer == ""
    assert read_trajectory([user, says_("Draft."), {"role": "user", "content": "Sure?"}, says_("7.")]).answer == "7."
    assert read_trajectory([user, says_("7."), says_(None, call("c", "send"))]).steps == (
        Step(speaker="tool", tool="send", answered=False),
    )
    assert read_trajectory([user, says_(None, call("c", "send"))]).text == "1. send() without a result"


@pytest.mark.parametrize(
    ("messages", "arguments"),
    [
        ([says_(None, {"id": "c", "function": {"name": "f", "arguments": "{broken"}})], "{broken"),
        ([says_(None, {"id": "c", "function": {"name": "f", "arguments": {"a": 1}}})], '{"a": 1}'),
        ([says_(None, {"id": "c", "function": {"name": "f"}})], ""),
        ([says_(None, {"type": "custom", "custom": {"name": "f", "input": "x  y"}})], "x y"),
        ([{"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}}], '{"a": 1}'),
    ],
)
def test_calls_in_other_forms(messages: list[dict[str, Any]], arguments: str) -> None:
    (step,) = read_trajectory([{"role": "user", "content": "q"}, *messages]).steps
    assert (step.tool, step.arguments) == ("f", arguments)


def test_results_find_their_calls() -> None:
    """By id; without ids by name, or in order; a result that no call asked for stands for itself."""

    def texts(*messages: Mapping[str, Any]) -> list[tuple[str, str]]:
        return [(step.tool, step.text) for step in read_trajectory([{"role": "user", "content": "q"}, *messages]).steps]

    both = says_(None, {"function": {"name": "f"}}, {"function": {"name": "g"}})
    named = {"role": "function", "name": "g", "content": "of g"}
    assert texts(both, named, {"role": "tool", "content": "of f"}) == [("f", "of f"), ("g", "of g")]
    assert texts(says_(None, call("c", "f")), result("other", "lost")) == [("f", ""), ("a tool", "lost")]
    assert texts(result("c", "early", name="h")) == [("h", "early")]


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ("Error: no such city", {}),
        ("ValueError: bad date", {}),
        ("Traceback (most recent call last):\n  ...", {}),
        ("built\nexit code: 2", {}),
        ("HTTP 404 Not Found", {}),
        ('{"error": "no"}', {}),
        ('{"success": false}', {}),
        ('{"status": "error", "detail": "x"}', {}),
        ("x", {"is_error": True}),
        ("x", {"status": "error"}),
    ],
)
def test_errors_are_marked(content: str, more: Mapping[str, Any]) -> None:
    (step,) = read_trajectory([{"role": "user", "content": "q"}, result("c", content, **more)]).steps
    assert step.failed


@pytest.mark.parametrize(
    "content",
    [
        "Error rates fell by 3 %.",
        "Terror in the streets",
        "exit code: 0",
        '{"error": null, "n": 1}',
        "[]",
        "",
        None,
        "404",
    ],
)
def test_what_only_speaks_of_errors_is_none(content: str | None) -> None:
    (step,) = read_trajectory([{"role": "user", "content": "q"}, result("c", content)]).steps
    assert not step.failed


USER = {"role": "user", "content": "q"}


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ("hello", "A trajectory is a list of messages, not str."),
        ({"role": "user"}, "A trajectory is a list of messages, not dict."),
        ([], "The trajectory holds no question"),
        ([says_("x")], "The trajectory holds no question"),
        ([{"role": "user", "content": " "}], "The trajectory holds no question"),
        ([USER, "x"], "Message 2 is no object with role and content, but str."),
        ([{"role": "bot"}], r"Message 1 has the role 'bot'. Allowed are 'system', "),
        ([{"role": ["user"]}], r"Message 1 has the role \['user'\]"),
        ([{"role": "user", "content": 7}], "Message 1 has a content that is int"),
        ([{"role": "user", "content": [7]}], "Message 1 has a part that is int"),
        ([USER, {"role": "assistant", "tool_calls": {"a": 1}}], "Message 2 has tool_calls that are dict"),
        ([USER, says_(None, {"id": "c"})], "Call 1 of message 2 names no function"),
        ([USER, says_(None, "f")], "Call 1 of message 2 names no function"),
        ([USER, {"role": "assistant", "function_call": {"a": 1}}], "The function_call of message 2 names no function"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(messages: Any, complaint: str) -> None:
    with pytest.raises(SetupError, match=complaint):
        read_trajectory(messages)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "function", "name"]), inner)
    ),
    max_leaves=6,
)
_messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system"])},
        optional={"content": _json, "tool_calls": _json, "tool_call_id": _json, "name": _json, "function_call": _json},
    )
)


@given(_messages)
def test_anything_is_read_or_refused_with_a_sentence(messages: Sequence[Mapping[str, Any]]) -> None:
    if not _is_readable(messages):
        return
    read = read_trajectory(messages)
    assert read.question.strip()
    assert len(read.text.splitlines()) >= len(read.steps)


def _is_readable(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether it is read; nothing but the named error may say no."""
    try:
        read_trajectory(messages)
    except SetupError:
        return False
    return True


class TestReflectors:
    ATTEMPT = Attempt(
        query=Query(text="When does the first train to Lima leave?"),
        answer="At 05:40.",
        feedback=Feedback(),
        reasoning="not shown",
        trajectory=MESSAGES,
    )
    LESSON = (
        'The tool timetable fails with {"to": "Lima", "date": "tomorrow"} ({"error": "date: use YYYY-MM-DD"}); '
        'it works with {"to": "Lima", "date": "2026-01-06"}.'
    )

    def test_rules_learn_how_a_tool_is_called_without_any_feedback(self) -> None:
        reflection = RuleReflector().reflect(self.ATTEMPT)
        assert (reflection.key_insight, reflection.notes, reflection.correct) == (self.LESSON, (), None)

    def test_not_what_a_bullet_says_already(self) -> None:
        known = Attempt(
            query=self.ATTEMPT.query,
            answer="x",
            feedback=Feedback(),
            trajectory=MESSAGES,
            bullets=(bullet("a-1", self.LESSON),),
        )
        assert RuleReflector().reflect(known).key_insight == ""

    def test_beside_what_the_feedback_teaches(self) -> None:
        attempt = Attempt(
            query=self.ATTEMPT.query, answer="At 07:10.", feedback=Feedback(expected="At 05:40."), trajectory=MESSAGES
        )
        reflection = RuleReflector().reflect(attempt)
        assert reflection.key_insight.startswith("For questions like")
        assert reflection.key_insight.endswith(self.LESSON)
        assert not reflection.restates

    def test_only_a_failure_that_was_mended_is_a_lesson(self) -> None:
        retried = [
            USER,
            says_(None, call("1", "f")),
            result("1", "Error: busy"),
            says_(None, call("2", "f")),
            result("2", "ok"),
        ]
        assert failed_then_worked(read_trajectory(retried).steps) is None
        assert failed_then_worked(read_trajectory(MESSAGES[:4]).steps) is None

    def test_a_model_sees_the_steps(self) -> None:
        model = says('{"key_insight": ""}')
        ModelReflector(model).reflect(self.ATTEMPT)
        assert "What the answerer did before the answer, step by step:\n<steps>\n1. The assistant" in prompt_of(model)
        assert "not shown" not in prompt_of(model)
        check_golden("prompt_reflector_trajectory.txt", as_text(model.requests[0]))

    def test_a_trajectory_that_cannot_be_read_is_told(self) -> None:
        broken = Attempt(query=self.ATTEMPT.query, answer="x", feedback=Feedback(), trajectory=({"role": "bot"},))
        for reflector in (RuleReflector(), ModelReflector(says('{"key_insight": ""}'))):
            (note, *_) = reflector.reflect(broken).notes
            assert note.startswith("The trajectory was left out: Message 1 has the role 'bot'.")
