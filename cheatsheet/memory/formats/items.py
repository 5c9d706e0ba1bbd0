"""Entries of JSON and YAML files, read field by field: what is wrong is named, and replaced by its default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cheatsheet.memory.formats.format import Damage
from cheatsheet.memory.formats.text import as_count, not_a_count
from cheatsheet.memory.values import in_utc, storable

MAX_DEPTH = 64
"""Levels of values inside a field; deeper ones could not be stored again."""

_MAX_PARTS = 100_000  # of one field; YAML's aliases make many out of few


class Item:
    """The fields of one entry, taken one after the other; what is not taken is unknown to us.

    Args:
        owner: how sentences name the entry.
        damages: where sentences go.
    """

    def __init__(self, fields: Mapping[Any, Any], *, owner: str, line: int, damages: list[Damage]) -> None:
        self.owner = owner
        self.line = line
        self._fields = {str(name): value for name, value in fields.items()}
        self._damages = damages
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def take(self, name: str) -> Any:
        """The field as it stands; None where it is absent."""
        self._taken.add(name)
        return self._fields.get(name)

    def text(self, name: str) -> str | None:
        """A text; a number is taken for one."""
        value = self.take(name)
        if isinstance(value, str):
            return str(storable(value))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        self._wrong(name, value, "a text")
        return None

    def count(self, name: str) -> int:
        """A counter; 0 where it is absent or no count."""
        value = self.take(name)
        count = as_count(value)
        if count is None and value is not None:
            self._damages.append(not_a_count(name, value, self.owner, self.line))
        return count or 0

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; a single text is a list of one."""
        value = self.take(name)
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list | tuple):
            self._wrong(name, value, "a list of texts")
            return ()
        texts = tuple(str(storable(part)) for part in listed if isinstance(part, str))
        if len(texts) < len(listed):
            self.say(f"The field {name} of {self.owner} has parts that are no texts; they were left out.")
        return texts

    def flag(self, name: str) -> bool:
        """A truth value; False where it is absent or none."""
        value = self.take(name)
        if not isinstance(value, bool):
            self._wrong(name, value, "true or false")
        return value is True

    def moment(self, name: str) -> datetime | None:
        """A time in ISO 8601, in UTC."""
        value = self.take(name)
        try:
            return None if value is None else in_utc(datetime.fromisoformat(value))
        except (TypeError, ValueError, OverflowError):
            self._wrong(name, value, "a time such as 2026-01-05T07:30:00Z")
            return None

    def mapping(self, name: str) -> dict[str, Any]:
        """An object with any fields."""
        value = self.take(name)
        if not isinstance(value, Mapping):
            self._wrong(name, value, "an object")
            return {}
        found = self._plain(name, value)
        return found if isinstance(found, dict) else {}

    def inner(self, name: str) -> Item:
        """The object in a field, to be read like the entry itself."""
        return Item(self.mapping(name), owner=self.owner, line=self.line, damages=self._damages)

    def rest(self) -> dict[str, Any]:
        """The fields that were not taken."""
        unknown = [(name, value) for name, value in self._fields.items() if name not in self._taken]
        read = [(str(storable(name)), value, self._plain(name, value)) for name, value in unknown]
        return {name: found for name, value, found in read if found is not None or value is None}

    def say(self, text: str) -> None:
        """Name something that is wrong with the entry."""
        self._damages.append(Damage(line=self.line, text=f"{text[:1].upper()}{text[1:]}"))

    def _plain(self, name: str, value: Any) -> Any:
        try:
            return plain(value)
        except ValueError as error:
            self.say(f"The field {name} of {self.owner} was left out: {error}")
            return None

    def _wrong(self, name: str, value: Any, wanted: str) -> None:
        if value is not None:
            self.say(f"The field {name} of {self.owner} is {_shown(value)}, not {wanted}; it was left out.")


def plain(value: Any) -> Any:
    """The value out of JSON's own types: keys are texts, numbers are finite.

    Raises:
        ValueError: it is nested too deeply, or has too many parts.
    """
    parts = 0

    def convert(part: Any, depth: int) -> Any:
        nonlocal parts
        parts += 1
        if depth > MAX_DEPTH or parts > _MAX_PARTS:
            raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels, or has over {_MAX_PARTS:,} parts.")
        if isinstance(part, Mapping):
            return {str(storable(str(name))): convert(inner, depth + 1) for name, inner in part.items()}
        if isinstance(part, list | tuple | set | frozenset):
            return [convert(inner, depth + 1) for inner in part]
        return _scalar(part)

    return convert(value, 0)


def _scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return storable(value.isoformat() if isinstance(value, datetime) else str(value))


def _shown(value: Any) -> str:
    """A value in a sentence: a scalar as it is, of all else its type, since it may be endless."""
    if isinstance(value, str | int | float):
        return repr(value if isinstance(value, str) else str(value))[:42]
    return "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"
