"""A whole exchange with an agent, in OpenAI's chat form, read into question, answer and steps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from cheatsheet.errors import SetupError
from cheatsheet.roles.prompts import clip
from cheatsheet.roles.role import Attempt

Speaker = Literal["assistant", "user", "tool"]

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_MAX_STEP_CHARS = 1_000  # of what was said, of arguments and of a result, in the rendering
_FAILED_TEXT = re.compile(
    r"\A\W{0,3}(?:(?:fatal )?error|err|failed|failure|exception|fatal)\s{0,3}(?:[:(!-]|$)"
    r"|\A\W{0,3}(?-i:[\w.]{0,60}[A-Za-z](?:Error|Exception)\b)|^Traceback \(most recent call last\):"
    r"|\bexit (?:code|status):? ?[1-9]|\b(?:HTTP(?:/[\d.]{1,3})?|status(?: code)?)[ :]{1,2}[45]\d\d\b",
    re.IGNORECASE | re.MULTILINE,
)
_FAILED_FIELDS = (("is_error", True), ("isError", True), ("success", False), ("ok", False), ("status", "error"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that was said, or one call of a tool with its result.

    Attributes:
        text: what was said, or what the tool returned.
        tool: the name of the tool that was called; empty where something was said.
        arguments: of the call, as JSON on one line, or as the model wrote them where they are no JSON.
        failed: the result is an error.
        answered: false for a call whose result is not in the messages.
    """

    speaker: Speaker
    text: str = ""
    tool: str = ""
    arguments: str = ""
    failed: bool = False
    answered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """What happened between a question and its answer.

    Attributes:
        question: the first message of the user.
        answer: the last text of the assistant; empty where it said nothing.
        steps: what lies between them, in order, without messages of the system.
        text: the steps in a compact form, one or a few lines each, long parts clipped.
    """

    question: str
    answer: str
    steps: tuple[Step, ...]
    text: str


def read_trajectory(messages: Sequence[Mapping[str, Any]]) -> Trajectory:
    """Read chat messages with tool calls and results, as OpenAI's API takes and gives them.

    Content may be a text, None, or a list of parts, of which the texts count. A result belongs to the call with its
    `tool_call_id`, or else to the first call without one.

    Raises:
        SetupError: a message that is none, with its number and what is wrong with it; or no question.
    """
    if isinstance(messages, (str, Mapping)) or not isinstance(messages, Sequence):
        raise SetupError(f"A trajectory is a list of messages, not {type(messages).__name__}.")
    said: list[Step] = []
    waiting: list[tuple[str, int]] = []
    for number, message in enumerate(messages, start=1):
        role = _checked_role(message, number)
        if role in ("tool", "function"):
            _put_result(message, number, said, waiting)
        elif role in ("user", "assistant"):
            said += _said(role, message, number)
            for id, call in _calls(message, number):
                waiting.append((id, len(said)))
                said.append(call)
    return _trajectory(said)


def trajectory_of(attempt: Attempt) -> tuple[Trajectory | None, tuple[str, ...]]:
    """The trajectory of an attempt that has one; a note where it cannot be read."""
    if not attempt.trajectory:
        return None, ()
    try:
        return read_trajectory(attempt.trajectory), ()
    except SetupError as error:
        return None, (f"The trajectory was left out: {error}",)


def failed_then_worked(steps: Sequence[Step]) -> tuple[Step, Step] | None:
    """The last call that failed, and the first later call of the same tool that did not; None where there is none."""
    for place in range(len(steps) - 1, -1, -1):
        failed = steps[place]
        if not (failed.tool and failed.failed):
            continue
        for later in steps[place + 1 :]:
            worked = later.tool == failed.tool and later.answered and not later.failed
            if worked and later.arguments != failed.arguments:
                return failed, later
    return None


def _trajectory(said: Sequence[Step]) -> Trajectory:
    asked = next((place for place, step in enumerate(said) if step.speaker == "user"), None)
    if asked is None:
        raise SetupError("The trajectory holds no question: one message has the role 'user' and a text.")
    spoken = [place for place, step in enumerate(said) if step.speaker == "assistant" and not step.tool]
    answered = spoken[-1] if spoken and spoken[-1] > asked else None
    steps = tuple(step for place, step in enumerate(said) if place not in (asked, answered))
    return Trajectory(
        question=said[asked].text,
        answer="" if answered is None else said[answered].text,
        steps=steps,
        text="\n".join(f"{number}. {_line(step)}" for number, step in enumerate(steps, start=1)),
    )


def _line(step: Step) -> str:
    text = clip(step.text, _MAX_STEP_CHARS)
    if not step.tool:
        return f"The {step.speaker} said: {text}"
    call = f"{step.tool}({clip(step.arguments, _MAX_STEP_CHARS)})"
    if not step.answered:
        return f"{call} without a result"
    return f"{call} failed: {text}" if step.failed else f"{call} gave: {text}"


def _checked_role(message: Any, number: int) -> str:
    if not isinstance(message, Mapping):
        raise SetupError(f"Message {number} is no object with role and content, but {type(message).__name__}.")
    role = message.get("role")
    if role not in _ROLES:
        raise SetupError(f"Message {number} has the role {role!r}. Allowed are {', '.join(map(repr, _ROLES))}.")
    return str(role)


def _said(role: str, message: Mapping[str, Any], number: int) -> list[Step]:
    text = _text(message.get("content"), f"Message {number}").strip()
    return [Step(speaker="user" if role == "user" else "assistant", text=text)] if text else []


def _text(content: Any, where: str) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise SetupError(
            f"{where} has a content that is {type(content).__name__}: give a text, null or a list of parts."
        )
    return "\n".join(_part(part, where) for part in content)


def _part(part: Any, where: str) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise SetupError(f"{where} has a part that is {type(part).__name__}: parts are texts or objects with a type.")
    text = part.get("text") or part.get("refusal")
    return text if isinstance(text, str) else f"[{part.get('type', 'part')}]"


def _calls(message: Mapping[str, Any], number: int) -> Iterator[tuple[str, Step]]:
    """Id and step of each call; a `function_call`, the older form, has no id."""
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise SetupError(f"Message {number} has tool_calls that are {type(calls).__name__}: give a list of calls.")
    for place, call in enumerate(calls, start=1):
        where = f"Call {place} of message {number}"
        function = call.get("function") or call.get("custom") if isinstance(call, Mapping) else None
        yield str(call.get("id") or "") if function else "", _call(function, where)
    if message.get("function_call"):
        yield "", _call(message["function_call"], f"The function_call of message {number}")


def _call(function: Any, where: str) -> Step:
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str) or not name:
        raise SetupError(f"{where} names no function: give function.name and function.arguments.")
    arguments = function.get("arguments", function.get("input"))
    return Step(speaker="tool", tool=name, arguments=_arguments(arguments), answered=False)


def _arguments(value: Any) -> str:
    """As JSON on one line; what the model wrote, where that is no JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return " ".join(value.split())
    return "" if value in (None, {}) else json.dumps(value, ensure_ascii=False)


def _put_result(message: Mapping[str, Any], number: int, said: list[Step], waiting: list[tuple[str, int]]) -> None:
    id, text = str(message.get("tool_call_id") or ""), _text(message.get("content"), f"Message {number}").strip()
    failed = _is_failure(message, text)
    by_id = next((entry for entry in waiting if id and entry[0] == id), None)
    found = by_id or _unnamed(message, id, said, waiting)
    if found is None:
        name = str(message.get("name") or "a tool")
        said.append(Step(speaker="tool", tool=name, text=text, failed=failed))
        return
    waiting.remove(found)
    said[found[1]] = replace(said[found[1]], text=text, failed=failed, answered=True)


def _unnamed(
    message: Mapping[str, Any], id: str, said: Sequence[Step], waiting: Sequence[tuple[str, int]]
) -> tuple[str, int] | None:
    """The call that a result without a known id answers: of its name where it has one, else the first."""
    name = message.get("name")
    if id and any(known for known, _ in waiting):
        return None
    return next((entry for entry in waiting if not name or said[entry[1]].tool == name), None)


def _is_failure(message: Mapping[str, Any], text: str) -> bool:
    if any(message.get(name) == value for name, value in _FAILED_FIELDS):
        return True
    try:
        value = json.loads(text)
    except ValueError:
        return bool(_FAILED_TEXT.search(text[:2_000]))
    if isinstance(value, dict):
        return bool(value.get("error")) or any(value.get(name) == wanted for name, wanted in _FAILED_FIELDS)
    return isinstance(value, str) and bool(_FAILED_TEXT.search(value))
