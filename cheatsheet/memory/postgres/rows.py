"""Bullets and journal entries as rows of PostgreSQL's tables, and back: as in SQLite, with texts that can be held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.postgres.texts import held, told
from cheatsheet.memory.postgres.words import indexed
from cheatsheet.memory.sqlite.rows import BULLET_COLUMNS, bullet_from_row, bullet_to_row, entry_from_row

HELD = {
    "namespaces": ("name",),
    "journal": ("turn_id", "mode", "model"),
    "bullets": ("id", "section", "content", "status", "kind"),
    "experiences": ("query",),
}
"""Columns with a text of somebody's own, by table (`texts.py`)."""

_BULLET_TEXTS, _ENTRY_TEXTS = HELD["bullets"], HELD["journal"]
_TYPES = dict.fromkeys((*_BULLET_TEXTS, "sources", "tags", "metadata"), "text") | {
    "pinned": "boolean",
    "words": "tsvector",
    "length": "integer",
    "namespace_id": "integer",
}

BULLET_TYPES = {
    name: _TYPES.get(name, "bigint") for name in ("namespace_id", *BULLET_COLUMNS, "version", "words", "length")
}
"""The columns of the table `bullets`, and their types."""

BULLET_READ = ", ".join((*Bullet.model_fields, "number"))
"""The columns that `from_bullet_row` reads, and the number."""


def bullet_row(bullet: Bullet) -> dict[str, Any]:
    """Column values by name: all of `BULLET_TYPES` but the namespace and the version."""
    words = indexed(bullet.content)
    row = bullet_to_row(bullet) | {"words": words.vector, "length": words.length}
    return row | {name: held(row[name]) for name in _BULLET_TEXTS}


def from_bullet_row(row: Mapping[str, Any]) -> Bullet:
    """The bullet of a row."""
    values: Any = {**row, **{name: told(row[name]) for name in _BULLET_TEXTS}}
    return bullet_from_row(values)


def from_entry_row(row: Mapping[str, Any]) -> JournalEntry:
    """The journal entry of a row."""
    values: Any = {**row, **{name: told(row[name]) for name in _ENTRY_TEXTS}}
    return entry_from_row(values)


def as_columns(rows: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """One list for each column, as `unnest` takes them; the rows have the same columns in the same order."""
    return [list(column) for column in zip(*(row.values() for row in rows), strict=True)]
