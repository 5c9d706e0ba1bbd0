"""Replies that repeat the form that was to be filled in: its schema, or the example in the prompt."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_KEYWORDS = frozenset(
    "type properties items enum const required additionalProperties description title default examples format pattern "
    "minItems maxItems minLength maxLength anyOf oneOf allOf $schema $id $ref $defs definitions".split()
)


@dataclass(frozen=True, slots=True)
class Echo:
    """Tells the words of a form from the words that were put into it.

    Attributes:
        placeholders: texts that stand in the example for what is to be written there.
        words: texts of the example that a filled form holds as well, such as the name of a kind.
    """

    placeholders: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, example: Any) -> Echo:
        """Of an example: its texts of several words are placeholders, those of one word are part of the form."""
        texts = {_folded(text) for text in _texts(example)}
        placeholders = frozenset(text for text in texts if " " in text)
        return cls(placeholders, frozenset(texts) - placeholders)

    def repeats(self, value: Mapping[str, Any], wanted: Collection[str]) -> bool:
        """True when the wanted fields hold nothing but the form."""
        given = {key: value[key] for key in wanted if key in value}
        cleaned = self.without(given)
        return bool(cleaned != given and self._empty(cleaned))

    def without(self, value: Any) -> Any:
        """The value with blanks in place of placeholders, and None in place of schemas."""
        if isinstance(value, str):
            return "" if _folded(value) in self.placeholders else value
        if isinstance(value, list):
            return [self.without(item) for item in value]
        if isinstance(value, dict):
            return None if is_schema(value) else {key: self.without(item) for key, item in value.items()}
        return value

    def _empty(self, value: Any) -> bool:
        if isinstance(value, str):
            return not value.strip() or _folded(value) in self.words
        if isinstance(value, (list, dict)):
            return all(map(self._empty, value.values() if isinstance(value, dict) else value))
        return value is None


def is_schema(value: Mapping[str, Any]) -> bool:
    """True for a JSON schema of one field, such as `{"type": "string"}`; data that has a `type` is none."""
    type_ = value.get("type")
    types = type_ if isinstance(type_, list) else [type_]
    return value.keys() <= _KEYWORDS and all(isinstance(name, str) and name in _TYPES for name in types)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")
