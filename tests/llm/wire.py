"""A provider that answers from a list, below litellm: what goes over the wire is seen, and no socket is opened."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import httpx
import openai

from cheatsheet.llm.litellm_model import LiteLLMModel
from cheatsheet.llm.model import Message, Request

GPT = "openai/gpt-4o-mini"
QUESTION = Request(messages=(Message(role="user", content="Which team?"),), max_tokens=50)

Answer = Mapping[str, Any] | httpx.Response | Exception


def reply(content: str | None = "amber", **fields: Any) -> dict[str, Any]:
    """A chat completion in OpenAI's form; `fields` replace its own."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    usage = {"prompt_tokens": 40, "completion_tokens": 3, "total_tokens": 43}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini"}
    return {**body, "choices": [choice], "usage": usage, **fields}


def refusal(status: int, message: str, *, code: str | None = None, **headers: str) -> httpx.Response:
    """An error in OpenAI's form; `retry_after="3"` becomes the header Retry-After."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json={"error": {"message": message, "code": code}}, headers=named)


class Wire:
    """Answers in order, the last one again and again; `sent` holds the bodies of the requests."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = list(answers)
        self.sent: list[dict[str, Any]] = []

    def model(self, name: str = GPT, **options: Any) -> LiteLLMModel:
        """A model whose calls end here; it never really sleeps."""
        transport = httpx.MockTransport(self._answer)
        http_client: Any = httpx.Client(transport=transport)  # openai's types name a fork of httpx
        client = openai.OpenAI(api_key="sk-test", http_client=http_client)
        sleep: Callable[[float], None] = lambda seconds: None  # noqa: E731  # one line beside its use
        return LiteLLMModel(name, **{"sleep": sleep, "extra": {"client": client}, **options})

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(json.loads(request.content))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)


def wire(*answers: Answer) -> Wire:
    """A wire with these answers."""
    return Wire(answers)
