from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from cheatsheet.errors import ModelUnavailableError
from cheatsheet.llm.model import Capabilities, Outcome
from cheatsheet.llm.schemas import response_format
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.roles.model_reflector import REFLECTION_SCHEMA, ModelReflector
from cheatsheet.roles.prompts import form_in
from cheatsheet.roles.role import Attempt, EarlierAnswer, ErrorKind, Reflection
from tests.roles.fakes import bullet, nothing_said, prompt_of, said, says
from tests.roles.golden import as_text, check_golden

ATTEMPT = Attempt(
    query=Query(text="I paid two times.", choices=("amber", "crimson")),
    answer="crimson",
    feedback=Feedback(correct=False, expected="amber", comment="Double charges are refunds."),
    reasoning="It is about money.\nUsed: [sai-00001]",
    bullets=(bullet("sai-00001", "Money goes to crimson."), bullet("err-00007", "First line\nsecond line {x}")),
    used=("sai-00001",),
)
REPLY: dict[str, Any] = {
    "reasoning": "I compared.",
    "error_identification": "The wrong team.",
    "root_cause_analysis": "A note was too broad.",
    "correct_approach": "Look for a refund.",
    "key_insight": "Double charges go to amber.",
    "bullet_tags": [{"id": "sai-00001", "tag": "harmful"}, {"id": "err-00007", "tag": "neutral"}],
}


def reflect(**changes: Any) -> Reflection:
    return ModelReflector(says(json.dumps({**REPLY, **changes}))).reflect(ATTEMPT)


def test_the_prompt() -> None:
    model = says(json.dumps(REPLY))
    ModelReflector(model).reflect(ATTEMPT)
    check_golden("prompt_reflector.txt", as_text(model.requests[0]))
    assert model.requests[0].json_schema is None


def test_a_reply_in_ace_form() -> None:
    reflection = reflect()
    assert reflection.correct is False
    assert reflection.error is ErrorKind.WRONG_CHOICE
    assert reflection.difference == "The wrong team."
    assert reflection.root_cause == "A note was too broad."
    assert reflection.correct_approach == "Look for a refund."
    assert reflection.key_insight == "Double charges go to amber."
    assert reflection.tags == {"sai-00001": "harmful", "err-00007": "neutral"}
    assert (reflection.by, reflection.usage.calls, reflection.notes) == ("model", 1, ())


def test_a_model_that_can_be_held_to_a_schema_is() -> None:
    model = says(json.dumps(REPLY), capabilities=Capabilities(json_schema=True))
    ModelReflector(model).reflect(ATTEMPT)
    assert model.requests[0].json_schema == REFLECTION_SCHEMA
    assert set(REPLY) == set(REFLECTION_SCHEMA["required"]) == set(REFLECTION_SCHEMA["properties"])
    assert response_format(REFLECTION_SCHEMA)["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    ("tags", "read"),
    [
        ([{"id": "[sai-1]", "tag": "Helpful"}], {"sai-00001": "helpful"}),
        ([{"id": "SAI-00001 ", "tag": " HARMFUL"}], {"sai-00001": "harmful"}),
        ({"sai-00001": "neutral"}, {"sai-00001": "neutral"}),
        ([{"id": "sai-1", "tag": "helpful"}, {"id": "sai-00001", "tag": "helpful"}], {"sai-00001": "helpful"}),
        (None, {}),
        ("none", {}),
    ],
)
def test_tags_are_matched_tolerantly(tags: Any, read: dict[str, str]) -> None:
    """B09"""
    reflection = reflect(bullet_tags=tags)
    assert reflection.tags == read
    assert reflection.notes == ()


def test_tags_that_cannot_be_counted_are_told() -> None:
    """B09: a counted warning."""
    tags = [{"id": "sai-9", "tag": "helpful"}, {"id": "x", "tag": "harmful"}, {"id": "sai-1", "tag": "good"}, "err-7"]
    reflection = reflect(bullet_tags=tags)
    assert reflection.tags == {}
    assert reflection.notes == (
        "2 tags name bullets that were not shown: sai-9, x.",
        "2 tags are none of helpful, harmful, neutral.",
    )


def test_tags_that_contradict_each_other_change_nothing() -> None:
    reflection = reflect(bullet_tags=[{"id": "sai-1", "tag": "helpful"}, {"id": "[sai-00001]", "tag": "harmful"}])
    assert reflection.tags == {}
    assert reflection.notes == ("The tags of sai-00001 contradict each other; it is left as it is.",)


def test_without_any_signal_an_insight_counts_and_tags_do_not() -> None:
    """A model that agrees with itself is no evidence; a contradiction inside the answer can be seen."""
    attempt = replace(ATTEMPT, feedback=Feedback())
    model = says(json.dumps({**REPLY, "key_insight": "The steps say amber, the answer says crimson."}))
    reflection = ModelReflector(model).reflect(attempt)
    assert reflection.key_insight == "The steps say amber, the answer says crimson."
    assert (reflection.correct, reflection.error, reflection.tags) == (None, ErrorKind.NONE, {})
    assert reflection.notes == ("2 tags do not count: nothing is known about the answer.",)
    assert "<feedback>\n(nothing)\n</feedback>" in prompt_of(model)


def test_with_a_comment_only() -> None:
    model = says(json.dumps(REPLY))
    reflection = ModelReflector(model).reflect(
        replace(ATTEMPT, feedback=Feedback(comment="It went to the wrong team."))
    )
    assert "<feedback>\nComment: It went to the wrong team.\n</feedback>" in prompt_of(model)
    assert (reflection.correct, reflection.tags) == (None, {"sai-00001": "harmful", "err-00007": "neutral"})


def test_a_right_answer_is_reflected_with_the_wrong_ones_before_it() -> None:
    earlier = (EarlierAnswer(answer="teal", remark="r"), EarlierAnswer(answer=""))
    model = says(json.dumps(REPLY))
    reflection = ModelReflector(model).reflect(replace(ATTEMPT, feedback=Feedback(correct=True), earlier=earlier))
    wrong = "Earlier answers to the same question, which were wrong:\n<earlier>\n1. teal\n2. (empty)\n</earlier>"
    assert wrong in prompt_of(model)
    assert (reflection.correct, reflection.error) == (True, ErrorKind.NONE)
    assert reflection.key_insight == "Double charges go to amber."


def test_a_reply_that_finds_nothing_is_read() -> None:
    reflection = ModelReflector(says('{"key_insight": "", "bullet_tags": []}')).reflect(ATTEMPT)
    assert (reflection.by, reflection.key_insight) == ("model", "")
    assert reflection.difference == '"crimson" instead of "amber"'


def test_an_array_is_the_tags() -> None:
    reflection = ModelReflector(says('[{"id": "sai-1", "tag": "helpful"}]')).reflect(ATTEMPT)
    assert reflection.tags == {"sai-00001": "helpful"}


def test_fields_of_other_types_are_no_text() -> None:
    reflection = reflect(key_insight=["One.", " Two. ", 3], root_cause_analysis={"a": 1}, correct_approach=None)
    assert (reflection.key_insight, reflection.root_cause, reflection.correct_approach) == ("One. Two.", "", "")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (said("I could not say."), "The reply of fake is not in the form asked for."),
        (said('{"answer": "amber"}'), "The reply of fake is not in the form asked for."),
        (said("[1]"), "The reply of fake is not in the form asked for."),
        (nothing_said(Outcome.EMPTY), "The reply of fake is empty."),
        (nothing_said(Outcome.FILTERED), "The reply of fake is filtered."),
        (nothing_said(Outcome.TOOL_CALLS), "The reply of fake is tool-calls."),
    ],
)
def test_rules_take_the_place_of_a_reply_that_cannot_be_read(reply: Any, reason: str) -> None:
    """M5, P13, L04: a named outcome, one call, no retry, and it is said.

    The reports expect an unchanged playbook. The answer that is reflected upon is there and judged all the same, so
    that rules learn from it; where it is the answer itself that is missing, nothing is learnt.
    """
    model = says(reply)
    reflection = ModelReflector(model).reflect(ATTEMPT)
    assert reflection.by == "rules"
    assert reflection.key_insight.startswith("For questions like")
    assert reflection.notes == (reason, "Rules reflected in its place.")
    assert reflection.usage.calls == 1
    assert len(model.requests) == 1


def test_what_stands_at_the_cut_is_left_out() -> None:
    reply = said('{"error_identification": "The wrong team.", "key_insight": "Double cha', Outcome.LENGTH)
    model = says(reply, reply)
    reflection = ModelReflector(model, max_tokens=100).reflect(ATTEMPT)
    assert (reflection.difference, reflection.key_insight) == ("The wrong team.", "")
    assert [request.max_tokens for request in model.requests] == [100, 200]
    assert reflection.usage.calls == 2
    assert reflection.notes == (
        "The reply of fake was cut at 100 tokens; it was asked for again with room for 200.",
        "The reply of fake was cut at max_tokens; what stood at the cut was left out.",
    )


@pytest.mark.parametrize("echo", [form_in("reflector"), REFLECTION_SCHEMA, {"example": form_in("reflector")}])
def test_the_form_itself_is_no_reply(echo: Any) -> None:
    reflection = ModelReflector(says(json.dumps(echo))).reflect(ATTEMPT)
    assert reflection.by == "rules"
    assert reflection.notes == (
        "The reply of fake repeats the form that it was asked to fill in.",
        "Rules reflected in its place.",
    )


def test_a_form_that_is_filled_in_halfway() -> None:
    echo = form_in("reflector")
    reflection = ModelReflector(says(json.dumps({**echo, "key_insight": "Double charges go to amber."}))).reflect(
        ATTEMPT
    )
    assert (reflection.by, reflection.key_insight) == ("model", "Double charges go to amber.")
    assert (reflection.root_cause, reflection.correct_approach, reflection.tags) == ("", "", {})


@pytest.mark.parametrize("error", [ModelUnavailableError("down"), TypeError("a bug")])
def test_a_failed_call_and_a_bug_rise(error: Exception) -> None:
    """L11: only what was said and cannot be read is left to the rules."""
    with pytest.raises(type(error)):
        ModelReflector(says(error)).reflect(ATTEMPT)
