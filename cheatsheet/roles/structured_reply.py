"""The object that a role asked a model for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from cheatsheet.llm.model import Outcome, Reply
from cheatsheet.roles.replies import Echo, Json, Reading, read_json, without_unfinished


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a reply is to look like.

    Attributes:
        wants: the fields of which it holds at least one.
        list_field: the field that a bare array stands for.
        item_keys: keys that every item of that list has.
        example: the filled-in form that the prompt shows.
        schema: the JSON schema of the whole, for models that can be held to one.
    """

    wants: Collection[str]
    list_field: str
    item_keys: Collection[str]
    example: Any
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StructuredReply:
    """Fields of a reply, and what the user should know of how they were read.

    `fields` is None when the reply holds nothing that was asked for; the last note then says why. `cut` is true when
    the reply broke off before it was complete.
    """

    fields: dict[str, Any] | None
    notes: tuple[str, ...] = ()
    cut: bool = False


def read_structured(reply: Reply, form: Form) -> StructuredReply:
    """The object that holds at least one of the wanted fields.

    A reply that only repeats the form, as a schema or as the example of the prompt, holds none; a placeholder in
    a form that is filled in otherwise counts as blank. Of a reply that was cut, what was finished is kept.
    """
    cut = _was_cut(reply)
    if not reply.readable:
        notes = (*reply.notes, f"The reply of {reply.model} is {reply.outcome}.")
        return StructuredReply(None, notes, cut)
    echo = Echo.of(form.example)
    reading = read_json(
        reply.text,
        wants=form.wants,
        items=form.item_keys,
        cut=cut,
        refuse=lambda value: echo.repeats(value, form.wants),
    )
    value = _as_object(reading.value, form)
    if value and cut and reading.how == "repaired":
        value = without_unfinished(value)
    if not isinstance(value, dict) or value.keys().isdisjoint(form.wants):
        why = (
            "repeats the form that it was asked to fill in"
            if reading.how == "refused"
            else "is not in the form asked for"
        )
        return StructuredReply(None, (*reply.notes, f"The reply of {reply.model} {why}."), cut)
    cut = cut and not _is_complete(reading)
    note = (f"The reply of {reply.model} was cut at max_tokens; what stood at the cut was left out.",) if cut else ()
    return StructuredReply(echo.without(value), (*reply.notes, *note), cut)


def _was_cut(reply: Reply) -> bool:
    """At the length limit; a reply whose reasoning used up all the room is empty, but was cut all the same."""
    return reply.outcome is Outcome.LENGTH or (reply.outcome is Outcome.EMPTY and reply.finish_reason == "length")


def _as_object(value: Json | None, form: Form) -> Json | None:
    """An array of objects as the field it was meant to be; other arrays, such as a `[1]` in a sentence, are none."""
    if isinstance(value, list):
        is_field = not value or any(isinstance(item, dict) for item in value)
        return {form.list_field: value} if is_field else None
    return value


def _is_complete(reading: Reading[Json | None]) -> bool:
    """Items that were found one by one may belong to a list that is not complete."""
    return reading.how in ("whole", "fenced") or (reading.how == "embedded" and isinstance(reading.value, dict))
