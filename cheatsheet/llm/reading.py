"""From a provider's answer, a plain object in OpenAI's form, to a `Reply`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cheatsheet.llm.model import Outcome, Reply, Request, Usage
from cheatsheet.llm.schemas import ANSWER_FIELD

# Some providers refuse a request on grounds of safety with an error instead of an answer; this is its answer.
FILTERED_BODY: Mapping[str, Any] = {"choices": [{"finish_reason": "content_filter", "message": None}]}


class RawReply:
    """What the provider sent, as litellm's `logger_fn` hears of it before litellm reads it.

    A null message under a safety filter, or a tool call without a function, comes back with usage and a reason,
    but litellm raises on it.

    Attributes:
        body: the reply if it is one in OpenAI's form, otherwise None.
    """

    def __init__(self) -> None:
        self.body: Mapping[str, Any] | None = None

    def note(self, details: Mapping[str, Any]) -> None:
        """Called by litellm before the request, after it, and once more with its own error text where it failed."""
        text = details.get("original_response")
        if self.body is not None or not isinstance(text, str):
            return
        try:
            body = json.loads(text)
        except ValueError:
            return  # another form, or an error's text
        if isinstance(body, dict) and isinstance(body.get("choices"), list):
            self.body = body


def read_reply(
    body: Mapping[str, Any], *, request: Request, model: str, usage: Usage, notes: tuple[str, ...] = ()
) -> Reply:
    """Read the first choice of a chat or text completion; no shape of it raises.

    Args:
        body: `{"choices": [...], "usage": {...}}`; choices may be missing, the message null, the content null.
        usage: what the call cost, from `read_usage`.
        notes: what is known so far; the reason of an answer without text is added.
    """
    text, outcome, finish_reason, reason = _first_choice(body, request.stop)
    if request.choices:
        text = bare_choice(text, request.choices)
    notes = (*notes, reason) if reason else notes
    return Reply(text=text, outcome=outcome, model=model, usage=usage, finish_reason=finish_reason, notes=notes)


def read_usage(body: Mapping[str, Any], *, cost_usd: float | None, seconds: float) -> Usage:
    """The tokens of one call; missing numbers count as 0, an unknown cost makes the sum incomplete."""
    usage = _mapping(body.get("usage"))
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
        calls=1,
        cost_usd=cost_usd,
        cost_complete=cost_usd is not None,
        seconds=seconds,
    )


def bare_choice(text: str, choices: Sequence[str]) -> str:
    """The choice that `text` holds, bare or as `{"answer": choice}`; `text` itself when it holds none."""
    by_stripped = {choice.strip(): choice for choice in choices}
    stripped = text.strip()
    if stripped in by_stripped:
        return by_stripped[stripped]
    try:
        value = json.loads(stripped)
    except ValueError:
        return text
    answer = value.get(ANSWER_FIELD) if isinstance(value, dict) else value
    return by_stripped.get(answer.strip(), text) if isinstance(answer, str) else text


def _first_choice(body: Mapping[str, Any], stop: Sequence[str]) -> tuple[str, Outcome, str, str]:
    """Text, outcome, finish reason, and why there is no text."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        return "", Outcome.EMPTY, "", "the reply has no choices"
    choice = _mapping(choices[0])
    finish_reason = str(choice.get("finish_reason") or "")
    message = choice if isinstance(choice.get("text"), str) else choice.get("message")
    if finish_reason.startswith("content_filter") or not isinstance(message, Mapping):
        return "", Outcome.FILTERED, finish_reason, f"kept back by a filter ({finish_reason or 'no message'})"
    text = cut_at_stop(_content(message), stop)
    if text.strip():
        return text, Outcome.LENGTH if finish_reason == "length" else Outcome.OK, finish_reason, ""
    outcome, reason = _why_no_text(message, finish_reason)
    return "", outcome, finish_reason, reason


def _why_no_text(message: Mapping[str, Any], finish_reason: str) -> tuple[Outcome, str]:
    if message.get("tool_calls") or message.get("function_call"):
        return Outcome.TOOL_CALLS, "the reply holds only tool calls"
    if message.get("refusal"):
        return Outcome.FILTERED, f"refused: {message['refusal']}"
    what = "only reasoning" if message.get("reasoning_content") else "no text"
    return Outcome.EMPTY, f"the reply holds {what} (finish reason {finish_reason or 'not given'})"


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("text") if "text" in message else message.get("content")
    if isinstance(content, list):
        return "".join(str(_mapping(part).get("text") or "") for part in content)
    return content if isinstance(content, str) else ""


def cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """`text` up to the first stop text: some providers drop the parameter, some leave the stop text in."""
    ends = [end for mark in stop if mark and (end := text.find(mark)) >= 0]
    return text[: min(ends)] if ends else text


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
