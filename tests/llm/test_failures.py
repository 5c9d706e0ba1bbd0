"""Judging a failed call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from cheatsheet.errors import (
    ContextOverflowError,
    ModelAuthError,
    ModelError,
    ModelRateError,
    ModelRequestError,
    ModelUnavailableError,
)
from cheatsheet.llm.failures import chain, is_about_size, judge, program_fault


class ProviderError(Exception):
    """Stands for the errors of any client: a status code, perhaps headers."""

    def __init__(self, message: str, status_code: int | None = None, **headers: str) -> None:
        super().__init__(message)
        self.message = message
        self.status_code = status_code
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.response = httpx.Response(status_code or 500, headers=named)


@pytest.mark.parametrize(
    ("status", "error", "can_heal"),
    [
        (400, ModelRequestError, False),
        (401, ModelAuthError, False),
        (403, ModelAuthError, False),
        (404, ModelRequestError, False),
        (408, ModelUnavailableError, True),
        (409, ModelUnavailableError, True),
        (413, ContextOverflowError, False),
        (429, ModelRateError, True),
        (500, ModelUnavailableError, True),
        (529, ModelUnavailableError, True),
        (None, ModelUnavailableError, True),
    ],
)
def test_the_status_code_decides(status: int | None, error: type[ModelError], can_heal: bool) -> None:
    failure = judge(chain(ProviderError("connection timeout 429 overloaded", status)), model="m")
    assert type(failure.error) is error
    assert failure.can_heal is can_heal


def test_the_deepest_status_code_is_the_provider_s_own() -> None:
    """L12: litellm makes a 429 of a 400 that speaks of a rate limit."""
    outer = ProviderError("RateLimitError: parameter 'rate limit' is unknown", 429)
    outer.__context__ = ProviderError("parameter 'rate limit' is unknown", 400)
    assert not judge(chain(outer), model="m").can_heal


@pytest.mark.parametrize(
    "message",
    [
        "request too big, prompt 150000 + output 60000 is more than the 200000 window",  # L05
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "prompt is too long: 208310 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Prompt contains 33000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "Input is too long for requested model.",
        "too many tokens: total number of tokens in the prompt cannot exceed 4081",
        "request (301 tokens) exceeds the available context size (256 tokens), try increasing it",
    ],
)
def test_l05_sentences_about_the_size_of_the_prompt(message: str) -> None:
    assert is_about_size(message)
    assert isinstance(judge(chain(ProviderError(message, 400)), model="m").error, ContextOverflowError)


@pytest.mark.parametrize(
    "message",
    [
        "field 'connection' invalid in item 429",  # L12
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
        "Invalid value for 'content': expected a string",
        "The model `gpt-9` does not exist",
        "unknown parameter: 'context'",
    ],
)
def test_sentences_about_something_else(message: str) -> None:
    assert not is_about_size(message)


def test_words_about_size_do_not_count_beside_another_status() -> None:
    message = "the prompt of 150000 tokens exceeds what you may send per minute"
    assert isinstance(judge(chain(ProviderError(message, 429)), model="m").error, ModelRateError)


def test_a_client_that_knows_the_overflow_is_believed() -> None:
    assert isinstance(judge(chain(ProviderError("no", 400)), model="m", too_large=True).error, ContextOverflowError)


@pytest.mark.parametrize(("value", "seconds"), [("7", 7.0), ("0.5", 0.5), ("soon", None), ("", None)])
def test_retry_after_in_seconds(value: str, seconds: float | None) -> None:
    failure = judge(chain(ProviderError("slow", 429, retry_after=value)), model="m")
    assert failure.retry_after_s == seconds


def test_retry_after_as_a_date() -> None:
    later = datetime.now(UTC) + timedelta(seconds=3600)
    failure = judge(
        chain(ProviderError("slow", 429, retry_after=later.strftime("%a, %d %b %Y %H:%M:%S GMT"))), model="m"
    )
    assert failure.retry_after_s is not None
    assert 3000 < failure.retry_after_s <= 3600
    past = judge(chain(ProviderError("slow", 429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT")), model="m")
    assert past.retry_after_s == 0.0


def test_the_message_names_the_model_and_is_kept_short() -> None:
    failure = judge(chain(ProviderError("litellm.BadRequestError: OpenAIException - " + "x" * 5000, 400)), model="m")
    assert str(failure.error).startswith("m: xxx")
    assert len(str(failure.error)) < 700


def test_known_secrets_are_masked_in_error_and_cause() -> None:
    failure = judge(chain(ProviderError("bad key hunter2hunter2", 401)), model="m", secrets=("hunter2hunter2",))
    assert "hunter2" not in f"{failure.error} {failure.cause} {failure.cause!r}"


def test_a_chain_that_bites_its_tail_ends() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__context__, second.__context__ = second, first
    assert chain(first) == (first, second)


def test_only_faults_outside_the_client_are_faults_of_the_program() -> None:
    """L11."""

    def raised(module: str) -> BaseException:
        try:
            exec("None.strip()", {"__name__": module})
        except AttributeError as error:
            return error
        raise AssertionError

    assert isinstance(program_fault([ProviderError("x"), raised("cheatsheet.llm.local_provider")]), AttributeError)
    assert program_fault([ProviderError("x"), raised("litellm.llms.openai")]) is None
    assert program_fault([ProviderError("x"), ConnectionError("gone")]) is None
