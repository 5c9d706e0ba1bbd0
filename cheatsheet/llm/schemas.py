"""JSON schemas as providers want them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ANSWER_FIELD = "answer"  # holds the chosen text where choices are sent as a JSON schema


def choices_schema(choices: Sequence[str]) -> dict[str, Any]:
    """An object whose one field is one of `choices`: providers take no schema that is not an object."""
    return {
        "type": "object",
        "properties": {ANSWER_FIELD: {"type": "string", "enum": list(choices)}},
        "required": [ANSWER_FIELD],
        "additionalProperties": False,
    }


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The `response_format` of a chat completion; strict where the schema allows it.

    In strict mode OpenAI keeps the answer to the schema instead of only showing it to the model, and refuses schemas
    with optional or open parts.
    """
    return {
        "type": "json_schema",
        "json_schema": {"name": ANSWER_FIELD, "schema": dict(schema), "strict": _is_closed(schema)},
    }


def _is_closed(schema: object) -> bool:
    """Every object in it forbids further fields and requires all of its own."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" or "properties" in schema:
            fields = set(schema.get("properties", ()))
            if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != fields:
                return False
        return all(_is_closed(part) for part in schema.values())
    return not isinstance(schema, list) or all(_is_closed(part) for part in schema)
