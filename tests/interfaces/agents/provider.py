"""A provider in OpenAI's form that answers below LiteLLM, sync, async and streaming; no socket is opened."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import openai

GPT = "openai/gpt-4o-mini"
Body = Mapping[str, Any]
Answer = str | dict[str, Any] | httpx.Response
Script = Callable[[Body], Answer]


class Provider:
    """Answers each request; `sent` holds their bodies, in order.

    Args:
        script: makes a text, a message or a response from a request.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self.sent: list[dict[str, Any]] = []
        transport = httpx.MockTransport(self._answer)
        sync: Any = httpx.Client(transport=transport)  # openai's types name a fork of httpx
        asynchronous: Any = httpx.AsyncClient(transport=transport)
        self.client = openai.OpenAI(api_key="sk-test", http_client=sync, max_retries=0)
        self.async_client = openai.AsyncOpenAI(api_key="sk-test", http_client=asynchronous, max_retries=0)

    def questions(self) -> list[str]:
        """The content of the last message of every request."""
        return [body["messages"][-1]["content"] for body in self.sent]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.sent.append(body)
        answer = self._script(body)
        if isinstance(answer, httpx.Response):
            return answer
        message = {"role": "assistant", "content": answer} if isinstance(answer, str) else answer
        return _streamed(message) if body.get("stream") else httpx.Response(200, json=_whole(message))


def provider(answer: Answer = "amber") -> Provider:
    """A provider that always answers the same."""
    return Provider(lambda body: answer)


def message(content: str | None, **fields: Any) -> dict[str, Any]:
    """A reply with more than a text; `finish_reason` is that of the choice."""
    return {"role": "assistant", "content": content, **fields}


def _whole(message: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: value for name, value in message.items() if name != "finish_reason"}
    choice = {"index": 0, "finish_reason": message.get("finish_reason", "stop"), "message": said}
    usage = {"prompt_tokens": 40, "completion_tokens": 3, "total_tokens": 43}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini", "choices": [choice]} | {
        "usage": usage
    }


def _streamed(message: Mapping[str, Any]) -> httpx.Response:
    """The reply in chunks of two characters."""
    text = message["content"] or ""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[at : at + 2]} for at in range(0, len(text), 2)]
    chunks = [_chunk(delta, None) for delta in deltas] + [_chunk({}, str(message.get("finish_reason", "stop")))]
    lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return httpx.Response(200, text=lines + "data: [DONE]\n\n", headers={"content-type": "text/event-stream"})


def _chunk(delta: Mapping[str, Any], finish_reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-mini", "choices": [choice]}
