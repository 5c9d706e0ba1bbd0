"""The adapter, against a provider that answers below litellm."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from typing import Any

import httpx
import pytest

from cheatsheet.errors import (
    ContextOverflowError,
    ModelAuthError,
    ModelError,
    ModelRateError,
    ModelRequestError,
    ModelUnavailableError,
    SetupError,
)
from cheatsheet.llm import litellm_model
from cheatsheet.llm.litellm_model import LiteLLMModel
from cheatsheet.llm.model import Message, Outcome, Request
from tests.llm.wire import GPT, QUESTION, refusal, reply, wire

LONG = Request(messages=(Message(role="user", content="word " * 6000),), max_tokens=50)


def test_a_reply_carries_text_usage_and_cost() -> None:
    details = {"prompt_tokens": 40, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 7}}
    answer = wire(reply(usage=details)).model().complete(QUESTION)
    assert (answer.text, answer.outcome, answer.model, answer.finish_reason) == ("amber", Outcome.OK, GPT, "stop")
    usage = answer.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.calls) == (40, 3, 7, 1)
    assert usage.cost_usd is not None
    assert 0 < usage.cost_usd < 0.001
    assert usage.cost_complete
    assert usage.seconds > 0
    assert answer.notes == ()


def test_l01_parameters_that_a_model_refuses_are_left_out_and_noted() -> None:
    line = wire(reply(model="gpt-5-mini"))
    request = Request(messages=QUESTION.messages, max_tokens=2048, temperature=0.0)
    answer = line.model("openai/gpt-5-mini").complete(request)
    assert "temperature" not in line.sent[0]
    assert "max_tokens" not in line.sent[0]
    assert line.sent[0]["max_completion_tokens"] == 2048
    assert any("temperature" in note for note in answer.notes)
    assert any("max_completion_tokens" in note for note in answer.notes)


def test_a_stop_text_that_a_model_refuses_still_ends_the_answer() -> None:
    line = wire(reply("amber\nbecause", model="gpt-5-mini"))
    answer = line.model("openai/gpt-5-mini").complete(Request(messages=QUESTION.messages, stop=("\n",)))
    assert "stop" not in line.sent[0]
    assert answer.text == "amber"
    assert any("stop" in note for note in answer.notes)


def test_l03_no_choices_is_an_empty_reply_with_its_usage() -> None:
    line = wire(reply(choices=[], usage={"prompt_tokens": 40, "completion_tokens": 0}))
    answer = line.model().complete(QUESTION)
    assert (answer.outcome, answer.text, answer.usage.prompt_tokens) == (Outcome.EMPTY, "", 40)
    assert "no choices" in answer.notes[0]
    assert len(line.sent) == 1


def test_l04_a_filtered_reply_without_a_message_is_not_asked_for_again() -> None:
    line = wire(reply(choices=[{"message": None, "finish_reason": "content_filter: PROHIBITED_CONTENT"}]))
    answer = line.model().complete(QUESTION)
    assert answer.outcome is Outcome.FILTERED
    assert "PROHIBITED_CONTENT" in answer.notes[0]
    assert answer.usage.prompt_tokens == 40
    assert len(line.sent) == 1


def test_l04_a_request_refused_by_a_filter_is_a_filtered_reply() -> None:
    line = wire(refusal(400, "content_policy_violation: not allowed", code="content_policy_violation"))
    answer = line.model().complete(QUESTION)
    assert (answer.outcome, answer.usage.calls, len(line.sent)) == (Outcome.FILTERED, 1, 1)
    assert not answer.usage.cost_complete
    assert not any("price" in note for note in answer.notes)


@pytest.mark.parametrize(
    "call", [{"id": "t1"}, {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
)
def test_p13_a_reply_of_tool_calls_only(call: dict[str, Any]) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    line = wire(reply(choices=[{"index": 0, "finish_reason": "tool_calls", "message": message}]))
    answer = line.model().complete(QUESTION)
    assert (answer.outcome, answer.text, answer.usage.prompt_tokens) == (Outcome.TOOL_CALLS, "", 40)
    assert len(line.sent) == 1


@pytest.mark.parametrize(
    "message",
    [
        "request too big, prompt 150000 + output 60000 is more than the 200000 window",
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "Input is too long for requested model.",
    ],
)
def test_l05_a_context_overflow_is_known_by_its_sentence(message: str) -> None:
    line = wire(refusal(400, message))
    with pytest.raises(ContextOverflowError) as caught:
        line.model().complete(QUESTION)
    assert GPT in str(caught.value)
    assert caught.value.__cause__ is not None
    assert len(line.sent) == 1


def test_l06_a_fallback_with_a_smaller_window_is_skipped() -> None:
    small, large = wire(reply("from the small one")), wire(reply("from the large one"))
    model = wire(refusal(503, "overloaded")).model(
        retries=0,
        fallbacks=[
            small.model("openai/m-4k", context_window=4096),
            large.model("openai/m-32k", context_window=32768),
        ],
    )
    answer = model.complete(LONG)
    assert (answer.text, answer.model) == ("from the large one", "openai/m-32k")
    assert any("openai/m-4k" in note and "4096" in note for note in answer.notes)
    assert small.sent == []


def test_without_a_fallback_that_fits_the_error_says_who_was_not_asked() -> None:
    small = wire(reply()).model("openai/m-4k", context_window=4096)
    with pytest.raises(ModelUnavailableError, match="openai/m-4k was not asked") as caught:
        wire(refusal(503, "overloaded")).model(retries=0, fallbacks=[small]).complete(LONG)
    assert "overloaded" in str(caught.value)


@pytest.mark.parametrize("status", [400, 401, 404])
def test_fallbacks_are_for_failures_that_can_heal(status: int) -> None:
    other = wire(reply())
    with pytest.raises(ModelError):
        wire(refusal(status, "no")).model(fallbacks=[other.model("openai/other")]).complete(QUESTION)
    assert other.sent == []


def test_fallbacks_given_by_name_keep_the_settings_for_calls() -> None:
    model = LiteLLMModel(GPT, retries=1, fallbacks=["openai/gpt-4o"])
    (fallback,) = model._fallbacks
    assert isinstance(fallback, LiteLLMModel)
    assert (fallback.name, fallback._retry.retries) == ("openai/gpt-4o", 1)


def test_l08_an_unknown_price_keeps_the_answer_and_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    litellm_model._warn_unpriced.cache_clear()
    model = wire(reply(model="my-own")).model("openai/my-own")
    with caplog.at_level(logging.WARNING, logger="cheatsheet"):
        answers = [model.complete(QUESTION) for _ in range(3)]
    assert [answer.text for answer in answers] == ["amber"] * 3
    total = answers[0].usage + answers[1].usage
    assert (total.cost_usd, total.cost_complete, total.prompt_tokens) == (None, False, 80)
    assert len([record for record in caplog.records if "openai/my-own" in record.getMessage()]) == 1
    assert any("price" in note for note in answers[0].notes)


def test_l08_a_model_of_ones_own_server_is_not_called_free() -> None:
    body = reply(usage={"prompt_tokens": 10, "completion_tokens": 5})
    usage = LiteLLMModel("ollama/my-own")._reply(body, QUESTION, 0.1).usage
    assert (usage.cost_usd, usage.cost_complete, usage.prompt_tokens, usage.completion_tokens) == (None, False, 10, 5)


def test_l11_a_programming_error_surfaces_after_one_call() -> None:
    fault, other = TypeError("a fault in the transport"), wire(reply())
    line = wire(fault)
    with pytest.raises(TypeError) as caught:
        line.model(fallbacks=[other.model("openai/other")]).complete(QUESTION)
    assert caught.value is fault
    assert (len(line.sent), len(other.sent)) == (1, 0)


def test_l11_an_error_that_the_caller_is_handling_is_not_taken_for_the_call_s_own() -> None:
    line = wire(refusal(500, "down"))
    try:
        len(0)  # type: ignore[arg-type]  # an older story
    except TypeError:
        with pytest.raises(ModelUnavailableError):
            line.model(retries=0).complete(QUESTION)


@pytest.mark.parametrize("message", ["field 'connection' invalid in item 429", "parameter 'rate limit' is unknown"])
def test_l12_a_permanent_refusal_is_not_retried_whatever_its_words(message: str) -> None:
    line = wire(refusal(400, message))
    with pytest.raises(ModelRequestError):
        line.model().complete(QUESTION)
    assert len(line.sent) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        refusal(408, "x"),
        refusal(409, "x"),
        refusal(429, "x"),
        refusal(500, "x"),
        refusal(503, "x"),
        refusal(529, "x"),
        httpx.ConnectError("no route"),
        httpx.ReadTimeout("slow"),
    ],
    ids=repr,
)
def test_what_can_heal_is_asked_again(trouble: httpx.Response | Exception) -> None:
    line = wire(trouble, reply())
    answer = line.model().complete(QUESTION)
    assert (answer.text, len(line.sent)) == ("amber", 2)
    assert answer.notes[0].startswith("try 1 failed")


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (refusal(429, "slow down"), ModelRateError),
        (refusal(500, "down"), ModelUnavailableError),
        (httpx.ConnectError("no route"), ModelUnavailableError),
        (httpx.ReadTimeout("slow"), ModelUnavailableError),
    ],
    ids=repr,
)
def test_the_tries_are_bounded(trouble: httpx.Response | Exception, error: type[ModelError]) -> None:
    line = wire(trouble)
    with pytest.raises(error, match="after 3 tries"):
        line.model(retries=2).complete(QUESTION)
    assert len(line.sent) == 3


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ModelAuthError),
        (402, ModelAuthError),
        (403, ModelAuthError),
        (404, ModelRequestError),
        (413, ContextOverflowError),
        (422, ModelRequestError),
    ],
)
def test_what_cannot_heal_is_asked_once(status: int, error: type[ModelError]) -> None:
    line = wire(refusal(status, "no"))
    with pytest.raises(error):
        line.model().complete(QUESTION)
    assert len(line.sent) == 1


def test_an_empty_account_is_not_asked_again_although_it_says_429() -> None:
    line = wire(refusal(429, "You exceeded your current quota", code="insufficient_quota"))
    with pytest.raises(ModelRateError):
        line.model().complete(QUESTION)
    assert len(line.sent) == 1


def test_retry_after_is_kept_up_to_the_cap() -> None:
    waits: list[float] = []
    line = wire(refusal(429, "slow down", retry_after="7"), reply())
    line.model(sleep=waits.append).complete(QUESTION)
    assert waits == [7.0]
    line = wire(refusal(429, "slow down", retry_after="3600"), reply())
    with pytest.raises(ModelRateError):
        line.model(sleep=waits.append).complete(QUESTION)
    assert (len(line.sent), len(waits)) == (1, 1)


def test_y06_a_key_in_an_error_is_masked_in_the_whole_chain() -> None:
    line = wire(refusal(401, "Incorrect API key provided: sk-abcd1234efgh5678. You can find yours in the console."))
    with pytest.raises(ModelAuthError) as caught:
        line.model().complete(QUESTION)
    error: BaseException | None = caught.value
    while error is not None:
        assert "sk-abcd1234" not in f"{error} {error!r}"
        error = error.__cause__ or error.__context__
    assert "[redacted]" in str(caught.value)


def test_choices_go_out_as_a_schema_and_come_back_bare() -> None:
    line = wire(reply('{"answer": "crimson"}'))
    answer = line.model().complete(Request(messages=QUESTION.messages, choices=("amber", "crimson")))
    sent = line.sent[0]["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["properties"]["answer"]["enum"] == ["amber", "crimson"]
    assert answer.text == "crimson"


def test_an_invalid_choice_keeps_its_raw_text() -> None:
    line = wire(reply('{"answer": "green"}'))
    answer = line.model().complete(Request(messages=QUESTION.messages, choices=("amber", "crimson")))
    assert answer.text == '{"answer": "green"}'


def test_choices_and_schemas_are_not_sent_to_a_model_that_cannot_keep_them() -> None:
    line = wire(reply("amber"))
    line.model("openai/my-own").complete(Request(messages=QUESTION.messages, choices=("amber",)))
    line.model("openai/my-own").complete(Request(messages=QUESTION.messages, json_schema={"type": "object"}))
    assert not any("response_format" in body for body in line.sent)


@pytest.fixture
def _no_refusal_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm_model, "_no_schema", set())


NO_SCHEMA = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."


@pytest.mark.usefixtures("_no_refusal_known")
class TestRefusedSchemas:
    ASKED = Request(messages=QUESTION.messages, json_schema={"type": "object"})

    @pytest.mark.parametrize("words", [NO_SCHEMA, "structured outputs are not available", "failed to parse grammar"])
    def test_a_model_that_refuses_the_schema_is_asked_without_it_from_then_on(self, words: str) -> None:
        line = wire(refusal(400, words), reply('{"a": 1}'))
        first, second = (line.model().complete(self.ASKED) for _ in range(2))
        assert ["response_format" in body for body in line.sent] == [True, False, False]
        assert first.text == second.text == '{"a": 1}'
        assert first.notes[0].startswith("the JSON schema was refused, and left out: ")
        assert second.notes == ()

    def test_so_is_one_that_refuses_it_for_choices(self) -> None:
        line = wire(refusal(400, NO_SCHEMA), reply("crimson"))
        answer = line.model().complete(Request(messages=QUESTION.messages, choices=("amber", "crimson")))
        assert (answer.text, len(line.sent)) == ("crimson", 2)

    def test_another_model_and_another_server_are_not_meant(self) -> None:
        wire(refusal(400, NO_SCHEMA), reply()).model().complete(self.ASKED)
        for options in ({"name": "openai/gpt-4o"}, {"api_base": "http://gpu:8000/v1"}):
            line = wire(reply())
            line.model(**options).complete(self.ASKED)
            assert "response_format" in line.sent[0]

    def test_a_second_refusal_is_final(self) -> None:
        line = wire(refusal(400, NO_SCHEMA))
        with pytest.raises(ModelRequestError):
            line.model().complete(self.ASKED)
        assert len(line.sent) == 2

    @pytest.mark.parametrize(
        ("trouble", "error"),
        [
            (refusal(400, "field 'connection' invalid in item 429"), ModelRequestError),
            (refusal(401, "no response_format for this key"), ModelAuthError),
            (
                refusal(400, "prompt with json_schema of 150000 tokens exceeds the maximum context"),
                ContextOverflowError,
            ),
        ],
    )
    def test_other_refusals_are_not_taken_for_one(self, trouble: httpx.Response, error: type[ModelError]) -> None:
        line = wire(trouble)
        with pytest.raises(error):
            line.model().complete(self.ASKED)
        assert len(line.sent) == 1

    def test_a_refusal_without_a_schema_is_a_refusal(self) -> None:
        line = wire(refusal(400, NO_SCHEMA))
        with pytest.raises(ModelRequestError):
            line.model().complete(QUESTION)
        assert len(line.sent) == 1


def test_a_continuation_goes_to_the_text_endpoint() -> None:
    choice = {"index": 0, "finish_reason": "length", "text": " Paris", "logprobs": None}
    line = wire({**reply(), "object": "text_completion", "choices": [choice]})
    model = line.model("text-completion-openai/gpt-3.5-turbo-instruct")
    answer = model.complete(Request(prompt="The capital of France is", max_tokens=1))
    assert line.sent[0]["prompt"] == "The capital of France is"
    assert (answer.text, answer.outcome, answer.usage.prompt_tokens) == (" Paris", Outcome.LENGTH, 40)


def test_a_chat_model_does_not_continue_texts() -> None:
    with pytest.raises(ValueError, match="only chats"):
        wire(reply()).model().complete(Request(prompt="The capital of France is"))


def test_capabilities_come_from_the_list_and_can_be_overridden() -> None:
    known, unknown = LiteLLMModel(GPT).capabilities, LiteLLMModel("openai/my-own").capabilities
    assert (known.context_window, known.choices, known.json_schema, known.continuation) == (128000, True, True, False)
    assert (unknown.context_window, unknown.choices, unknown.continuation) == (None, False, False)
    assert LiteLLMModel("openai/my-own", context_window=4096).capabilities.context_window == 4096
    assert LiteLLMModel("ollama/my-own").capabilities.context_window is None
    assert LiteLLMModel("text-completion-openai/gpt-3.5-turbo-instruct").capabilities.continuation


def test_a_missing_key_is_told_before_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelAuthError, match="OPENAI_API_KEY"):
        LiteLLMModel(GPT).check()
    with pytest.raises(ModelAuthError, match="ANTHROPIC_API_KEY"):
        LiteLLMModel("anthropic/claude-sonnet-4-5").check()
    with pytest.raises(ModelAuthError):
        LiteLLMModel(GPT, retries=0).complete(QUESTION)
    LiteLLMModel(GPT, api_key="sk-test").check()
    LiteLLMModel("ollama/my-own").check()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    LiteLLMModel(GPT).check()


def test_a_name_without_a_provider_is_refused_with_a_sentence() -> None:
    with pytest.raises(ModelRequestError, match="Provider"):
        LiteLLMModel("no-such-model").complete(QUESTION)
    with pytest.raises(SetupError, match="provider"):
        LiteLLMModel("no-such-model").check()


def test_calls_from_several_threads_do_not_mix() -> None:
    line = wire(reply())
    model = line.model()
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(model.complete(QUESTION).text)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["amber"] * 8
    assert len(line.sent) == 8


def test_the_key_is_not_shown() -> None:
    assert "sk-" not in repr(LiteLLMModel(GPT, api_key="sk-test"))


QUIET = """
import sys
from cheatsheet.llm.litellm_model import LiteLLMModel
from cheatsheet.errors import ModelError
model = LiteLLMModel("openai/gpt-4o-mini", api_base="http://127.0.0.1:9/v1", api_key="sk-test", retries=0)
assert "litellm" not in sys.modules
try:
    from tests.llm.wire import QUESTION
    model.complete(QUESTION)
except ModelError:
    pass
else:
    raise SystemExit("no server listens there")
"""


def test_a_failed_call_prints_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", QUIET], capture_output=True, text=True, timeout=150, env={**os.environ}, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
