"""Requests and what came of them as JSON, by which calls are recorded, found again and compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import takewhile
from typing import Any, Final

from cheatsheet.errors import (
    ContextOverflowError,
    ModelAuthError,
    ModelError,
    ModelRateError,
    ModelRequestError,
    ModelUnavailableError,
)
from cheatsheet.llm.model import Outcome, Reply, Request, Usage

_ERRORS: Final[Mapping[str, type[ModelError]]] = {
    kind.__name__: kind
    for kind in (
        ModelError,
        ModelAuthError,
        ModelRequestError,
        ContextOverflowError,
        ModelRateError,
        ModelUnavailableError,
    )
}
_SHOWN_CHARS: Final = 60  # on either side of the place where two prompts part


def request_key(model: str, request: Request) -> str:
    """SHA-256 of a model's name and a request, the same on every machine."""
    text = json.dumps([model, request_json(request)], ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def request_json(request: Request) -> dict[str, Any]:
    """The request as JSON values. Equal requests give equal values: 0 and 0.0 are one temperature."""
    return {
        "messages": [{"role": message["role"], "content": message["content"]} for message in request.messages],
        "prompt": request.prompt,
        "max_tokens": request.max_tokens,
        "temperature": float(request.temperature),
        "choices": list(request.choices),
        "json_schema": dict(request.json_schema) if request.json_schema is not None else None,
        "stop": list(request.stop),
    }


def reply_json(reply: Reply) -> dict[str, Any]:
    """The reply as JSON values."""
    return asdict(reply)


def reply_from(row: Mapping[str, Any]) -> Reply:
    """The reply that was recorded; raises LookupError, TypeError or ValueError where it is none."""
    fields = {**row, "outcome": Outcome(row["outcome"]), "usage": Usage(**row["usage"]), "notes": tuple(row["notes"])}
    return Reply(**fields)


def error_json(error: ModelError) -> dict[str, Any]:
    """A failed call as JSON values; an error of a class of the user's own counts as the nearest of ours."""
    kind = next(each for each in type(error).__mro__ if each in _ERRORS.values())
    return {"type": kind.__name__, "message": str(error)}


def error_from(row: Mapping[str, Any]) -> ModelError:
    """The failure that was recorded; raises LookupError where it is none."""
    return _ERRORS[row["type"]](row["message"])


def prompt_text(request: Mapping[str, Any]) -> str:
    """All that a request, as JSON, says to the model."""
    if request["prompt"] is not None:
        return str(request["prompt"])
    return "\n".join(f"{message['role']}: {message['content']}" for message in request["messages"])


def nearest(requests: Iterable[Mapping[str, Any]], wanted: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The request that shares most of its beginning and its end with the wanted one; None where there is none."""
    text = prompt_text(wanted)
    return max(requests, key=lambda request: _shared(prompt_text(request), text), default=None)


def differences(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[str, ...]:
    """What is otherwise in the wanted request, one clause for each difference; none where the two are equal."""
    return (*_prompt_difference(recorded, wanted), *_option_differences(recorded, wanted))


def _shared(one: str, other: str) -> int:
    beginning, end = _alike(one, other), _alike(one[::-1], other[::-1])
    return min(beginning + end, len(one), len(other))


def _alike(one: str, other: str) -> int:
    """How many characters the beginnings of two texts have in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _prompt_difference(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    was, now = prompt_text(recorded), prompt_text(wanted)
    if was != now:
        place = _alike(was, now)
        yield f"from character {place} of the prompt on, {_around(was, place)} became {_around(now, place)}"


def _around(text: str, place: int) -> str:
    return repr(text[max(0, place - _SHOWN_CHARS) : place + _SHOWN_CHARS])


def _option_differences(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(wanted.keys() - {"messages", "prompt"}):
        if recorded.get(name) != wanted[name]:
            yield f"{name} was {json.dumps(recorded.get(name))}, is {json.dumps(wanted[name])}"
