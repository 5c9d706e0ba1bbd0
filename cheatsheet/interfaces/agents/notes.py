"""How the doors put what a memory recalls into a prompt: as data, labelled and fenced."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cheatsheet.engine.results import Recall
from cheatsheet.safety.block import NOTES_LABEL, notes_block

Message = Mapping[str, Any]

# The tag is one that the notes do not close, so that the first closing tag is the end.
_BLOCK: Final = re.compile(re.escape(NOTES_LABEL) + r"\n<(notes(?:-\d+)?)>\n.*?\n</\1>\n\n", re.DOTALL)


def block_of(recall: Recall) -> str:
    """What was recalled as a block that says what it is and that no stored text can end; empty where it is nothing."""
    return notes_block(recall.text) if recall.text.strip() else ""


def behind(block: str, question: str) -> str:
    """The question behind the block and a blank line, or alone where the block is empty."""
    return f"{block}\n\n{question}" if block else question


def bare(text: str) -> str:
    """A question without the block in front of it."""
    found = _BLOCK.match(text)
    return text[found.end() :] if found else text


def question_in(messages: Sequence[Message]) -> str:
    """The text of the last user message that has one, without notes; empty where there is none."""
    place = _question_place(messages)
    return "" if place is None else bare(_text(messages[place].get("content"))).strip()


def has_notes(messages: Sequence[Message]) -> bool:
    """Whether notes stand in front of the question."""
    place = _question_place(messages)
    return place is not None and bool(_BLOCK.match(_text(messages[place].get("content"))))


def with_notes(messages: Sequence[Message], block: str) -> list[Message] | None:
    """The messages with the block in front of the question, inside its message; the given ones stay as they are.

    It gets no message of its own: some models want user and assistant to take turns, and a message between a call of a
    tool and its result is refused. None where there is no question, or its content has a form that is not known.
    """
    place = _question_place(messages)
    if place is None:
        return None
    message = messages[place]
    content = message["content"]
    if isinstance(content, str):
        changed: str | list[Any] = behind(block, content)
    else:
        first = next(number for number, part in enumerate(content) if _part_text(part))
        if content[first].get("type") != "text":
            return None
        part = {**content[first], "text": behind(block, content[first]["text"])}
        changed = [*content[:first], part, *content[first + 1 :]]
    return [*messages[:place], {**message, "content": changed}, *messages[place + 1 :]]


def steps_after(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """What assistant and tools said since the question, texts and tool calls only."""
    place = _question_place(messages)
    behind = [] if place is None else messages[place + 1 :]
    return [_step(message) for message in behind if message.get("role") in ("assistant", "tool", "function")]


def _step(message: Message) -> dict[str, Any]:
    kept = {name: message[name] for name in ("role", "tool_calls", "tool_call_id", "name") if message.get(name)}
    return {**kept, "content": _text(message.get("content"))}


def _question_place(messages: Sequence[Message]) -> int | None:
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if message.get("role") == "user" and _text(message.get("content")).strip():
            return place
    return None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, map(_part_text, content))) if isinstance(content, Sequence) else ""


def _part_text(part: Any) -> str:
    """The text of a part of a content; empty for pictures, results of tools and whatever else it may be."""
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else ""
