"""The object that a role asked a model for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from cheatsheet.llm.model import Outcome, Reply
from cheatsheet.roles.replies import Json, read_json, without_unfinished


@dataclass(frozen=True, slots=True)
class StructuredReply:
    """Fields of a reply, and what the user should know of how they were read.

    `fields` is None when the reply holds nothing that was asked for; the last note then says why.
    """

    fields: dict[str, Any] | None
    notes: tuple[str, ...] = ()


def read_structured(reply: Reply, *, wants: Collection[str], list_field: str) -> StructuredReply:
    """The object that holds at least one of `wants`.

    Args:
        list_field: the field that a bare array stands for.
    """
    if not reply.readable:
        return StructuredReply(None, (*reply.notes, f"The reply of {reply.model} is {reply.outcome}."))
    reading = read_json(reply.text, wants=wants)
    value, notes = reading.value, reply.notes
    if isinstance(value, list):
        value = _from_array(value, list_field)
    if value and reading.how == "repaired" and reply.outcome is Outcome.LENGTH:
        value = without_unfinished(value)
        notes = (*notes, f"The reply of {reply.model} was cut at max_tokens; what stood at the cut was left out.")
    if not isinstance(value, dict) or value.keys().isdisjoint(wants):
        return StructuredReply(None, (*notes, f"The reply of {reply.model} is not in the form asked for."))
    return StructuredReply(value, notes)


def _from_array(value: list[Any], field: str) -> Json | None:
    """An array of objects as the field it was meant to be; other arrays, such as a `[1]` in a sentence, are none."""
    return {field: value} if not value or any(isinstance(item, dict) for item in value) else None
