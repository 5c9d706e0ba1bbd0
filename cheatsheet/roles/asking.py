"""Asking a model for an object, and once more with more room when the reply was cut."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from cheatsheet.errors import ModelError
from cheatsheet.llm.model import Model, Outcome, Reply, Request, Usage
from cheatsheet.roles.structured_reply import Form, StructuredReply, read_structured

_CHARS_PER_TOKEN = 3  # where a reply does not tell the size of its prompt; fewer than in English, so that it fits


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of asking.

    Attributes:
        fields: what was asked for; None when nothing could be read, and the last note then says why.
        model: who answered last.
        outcome: how the last call ended.
        usage: of all calls.
    """

    fields: dict[str, Any] | None
    model: str
    outcome: Outcome
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


def ask_structured(model: Model, request: Request, form: Form) -> Asked:
    """Ask for an object of this form; the schema goes along where the model can be held to it.

    A reply that was cut before it was complete is asked for once more with twice the room, as far as the window
    reaches: never the same request again. When that is cut too, or fails, what was finished is kept.

    Raises:
        ModelError: the first call failed.
    """
    if model.capabilities.json_schema:
        request = replace(request, json_schema=form.schema)
    reply = model.complete(request)
    read = read_structured(reply, form)
    if not read.cut:
        return _asked(reply, read)
    room = more_room(model, request, reply)
    if room <= request.max_tokens:
        return _asked(reply, read, "There is no more room in the window for a longer reply.")
    why = f"The reply of {reply.model} was cut at {request.max_tokens} tokens"
    try:
        longer = model.complete(replace(request, max_tokens=room))
    except ModelError as error:
        return _asked(reply, read, f"{why}; asking again with room for {room} failed: {error}")
    again = read_structured(longer, form)
    asked = _asked(longer, again, f"{why}; it was asked for again with room for {room}.")
    if again.fields is None and read.fields is not None:
        kept = "What was finished of the first reply is kept."
        asked = replace(asked, fields=read.fields, notes=(*asked.notes, kept))
    return replace(asked, usage=reply.usage + longer.usage)


def _asked(reply: Reply, read: StructuredReply, note: str = "") -> Asked:
    """The note stands first: the last one says why there is nothing, where there is nothing."""
    notes = (note, *read.notes) if note else read.notes
    return Asked(fields=read.fields, model=reply.model, outcome=reply.outcome, usage=reply.usage, notes=notes)


def more_room(model: Model, request: Request, reply: Reply) -> int:
    """Tokens for the next reply: twice as many, as far as the window reaches."""
    window = model.capabilities.context_window
    if window is None:
        return 2 * request.max_tokens
    chars = sum(len(message["content"]) for message in request.messages) + len(request.prompt or "")
    return min(2 * request.max_tokens, window - (reply.usage.prompt_tokens or chars // _CHARS_PER_TOKEN))
