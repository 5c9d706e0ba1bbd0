"""Bullets, experiences and journal entries as rows of a table, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from pydantic import TypeAdapter

from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.experience import Experience, Standing, experience_id
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.incoming.kinds import of_its_kind
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.refine import estimate_tokens
from cheatsheet.memory.values import in_utc

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OPERATIONS: TypeAdapter[tuple[Operation, ...]] = TypeAdapter(tuple[Operation, ...])
_TIMES = ("created_at", "updated_at", "last_used_at", "expires_at")
_LISTS = ("sources", "tags")
_MARKED = (
    "version", "at", "cause", "turn_id", "mode", "model", "operations", "experience_id", "record", "notes"
)  # fmt: skip

BULLET_COLUMNS = (*Bullet.model_fields, "number", "tokens")
STANDING_COLUMNS = "number, status, uses, last_used_at"
DIGEST_BYTES = 8


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970 in UTC."""
    return (in_utc(moment) - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """The time, in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def bullet_to_row(bullet: Bullet) -> dict[str, Any]:
    """Column values by name (`BULLET_COLUMNS`)."""
    row = {name: getattr(bullet, name) for name in Bullet.model_fields}
    row |= {name: None if row[name] is None else to_micros(row[name]) for name in _TIMES}
    row |= {name: dump(row[name]) for name in (*_LISTS, "metadata")}
    return row | {"number": number_of(bullet.id), "tokens": estimate_tokens(bullet.content)}


def bullet_from_row(row: sqlite3.Row | Mapping[str, Any]) -> Bullet:
    """The bullet of a row; it was checked when it was written and is not checked again."""
    values = {name: row[name] for name in Bullet.model_fields}
    values |= {name: None if values[name] is None else from_micros(values[name]) for name in _TIMES}
    values |= {name: tuple(json.loads(values[name])) if values[name] != "[]" else () for name in _LISTS}
    values["metadata"] = json.loads(values["metadata"]) if values["metadata"] != "{}" else {}
    values["pinned"] = bool(values["pinned"])
    return of_its_kind(Bullet.model_construct(**values))


def experience_from_json(data: str) -> Experience:
    """The experience, checked."""
    return Experience.model_validate_json(data)


def digest_of(query: bytes, data: bytes) -> bytes:
    """What tells whether an experience is as it was stored: its query and its JSON, both in UTF-8."""
    return sha256(b"\0".join((query, data))).digest()[:DIGEST_BYTES]


def teach_digest(db: sqlite3.Connection) -> None:
    """Let SQL compute `digest_of`."""
    db.create_function("digest_of", 2, digest_of, deterministic=True)


def standing_from_row(row: sqlite3.Row) -> Standing:
    """The standing in a row (`STANDING_COLUMNS`)."""
    used = row["last_used_at"]
    return Standing(
        id=experience_id(row["number"]),
        status=row["status"],
        uses=row["uses"],
        last_used_at=None if used is None else from_micros(used),
    )


def operations_to_json(operations: tuple[Operation, ...]) -> str:
    """A JSON array; what has its default value is left out."""
    return dump([{"type": op.type} | op.model_dump(mode="json", exclude_defaults=True) for op in operations])


def entry_from_row(row: sqlite3.Row) -> JournalEntry:
    """The journal entry of a row. Ids of experiences are one text there: in the first schema it was one id, or none."""
    return JournalEntry(
        version=row["version"],
        at=from_micros(row["at"]),
        cause=row["cause"],
        turn_id=row["turn_id"],
        mode=row["mode"],
        model=row["model"],
        operations=_OPERATIONS.validate_json(row["operations"]),
        experience_ids=tuple(row["experience_id"].split()),
        record=None if row["record"] is None else json.loads(row["record"]),
        notes=tuple(json.loads(row["notes"])),
    )


def mark_of(row: sqlite3.Row) -> str:
    """What tells a row of the journal from any other; one that was rewritten since keeps the mark that it had."""
    if row["mark"] is not None:
        return str(row["mark"])
    told = repr(tuple(row[name] for name in _MARKED))
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def dump(value: Any) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
