"""One change on its way into the tables of a PostgreSQL store, within a transaction that its caller opened."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from cheatsheet.errors import OperationError
from cheatsheet.memory.apply import Applied, Limits, apply_operations, from_experiences
from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.experience import Standing, experience_id, is_experience_id
from cheatsheet.memory.history.journal import Change, Committed, JournalEntry
from cheatsheet.memory.operations import Add, Merge, Operation
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.rows import BULLET_READ, BULLET_TYPES, as_columns, bullet_row, from_bullet_row
from cheatsheet.memory.postgres.space import Space, checked_name
from cheatsheet.memory.postgres.texts import held
from cheatsheet.memory.postgres.words import indexed, words_of
from cheatsheet.memory.refine import estimate_tokens
from cheatsheet.memory.sqlite.rows import (
    STANDING_COLUMNS,
    digest_of,
    dump,
    operations_to_json,
    standing_from_row,
    to_micros,
)
from cheatsheet.memory.store import Then

_NAMES = tuple(BULLET_TYPES)
_REPLACED = tuple(name for name in _NAMES if name not in ("namespace_id", "number", "version"))
_PUT_BULLETS = (
    f"INSERT INTO bullets AS old ({', '.join(_NAMES)}) "
    f"SELECT * FROM unnest({', '.join(f'%s::{kind}[]' for kind in BULLET_TYPES.values())}) "
    "ON CONFLICT (namespace_id, number) DO UPDATE SET "
    f"{', '.join(f'{name} = excluded.{name}' for name in _REPLACED)}, "
    # All that an index has to know; most turns only count what was shown.
    "version = CASE WHEN old.content = excluded.content AND old.status = excluded.status "
    "THEN old.version ELSE excluded.version END"
)


def is_stored(db: Db, committed: Committed, mark: str) -> bool:
    """Whether an entry that was sent to be committed is there."""
    query = "SELECT 1 FROM journal WHERE version = %s AND mark = %s"
    return db.execute(query, (committed.entry.version, mark)).fetchone() is not None


def write_change(
    db: Db, space: Space, change: Change, *, mark: str = "", then: Then | None = None, limits: Limits
) -> Committed:
    """Write a change and its journal entry; what is written stands once the caller commits.

    Args:
        mark: of the entry; by default a new one.

    Raises:
        OperationError: a change with this `turn_id` is already in the journal.
    """
    _check_new(db, space, change.turn_id)
    writing = _Writing(db, space, change, limits)
    writing.begin_entry(mark or uuid4().hex)
    writing.put_experiences()
    asked = writing.apply(from_experiences(change.operations, writing.ids) if writing.ids else change.operations)
    space.save(db)
    followed = writing.apply(then() if then else ())
    if followed.operations:
        space.save(db)
    return Committed(
        writing.end_entry(asked, followed), tuple(asked.skipped + followed.skipped), tuple(followed.operations)
    )


@dataclass(slots=True)
class _Writing:
    """The steps of one change.

    Attributes:
        ids: of the experiences of the change.
        version: number of its journal entry.
        known: bullets that were read or written, by id; None for an id that is not there.
        standings: as `known`, for experiences, with the number of words of each.
    """

    db: Db
    space: Space
    change: Change
    limits: Limits
    version: int = 0
    ids: tuple[str, ...] = field(init=False)
    known: dict[str, Bullet | None] = field(default_factory=dict)
    standings: dict[str, tuple[Standing, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        first = self.space.next_experience
        self.ids = tuple(experience_id(first + offset) for offset in range(len(self.change.experiences)))

    def begin_entry(self, mark: str) -> None:
        """Write the entry without its operations, so that it has a version."""
        change = self.change
        row = self.db.execute(
            "INSERT INTO journal "
            "(namespace_id, at, cause, turn_id, mode, model, operations, experience_id, record, notes, mark) "
            "VALUES (%s, %s, %s, %s, %s, %s, '[]', %s, %s, '[]', %s) RETURNING version",
            (
                self.space.id,
                to_micros(change.at),
                change.cause,
                held(change.turn_id),
                held(change.mode),
                held(change.model),
                " ".join(self.ids),
                None if change.record is None else dump(change.record),
                mark,
            ),
        ).fetchone()
        assert row is not None
        self.version = self.space.version = row["version"]

    def put_experiences(self) -> None:
        """Store the change's experiences under their new ids."""
        if not self.ids:
            return
        rows = []
        for id, experience in zip(self.ids, self.change.experiences, strict=True):
            lived = experience.model_copy(update={"id": id})
            data = lived.model_dump_json()
            words = indexed(lived.query)
            self.space.count_experience(1, words.length)
            rows.append(
                {
                    "number": number_of(id),
                    "query": held(lived.query),
                    "data": data,
                    "digest": digest_of(lived.query.encode(), data.encode()),
                    "created_at": to_micros(lived.created_at),
                    "words": words.vector,
                    "length": words.length,
                }
            )
        self.space.next_experience += len(rows)
        self.db.execute(
            "INSERT INTO experiences (namespace_id, version, number, query, data, digest, created_at, words, length) "
            "SELECT %s, %s, number, query, data, digest, created_at, words::tsvector, length FROM unnest("
            "%s::bigint[], %s::text[], %s::text[], %s::bytea[], %s::bigint[], %s::text[], %s::integer[]"
            ") AS new (number, query, data, digest, created_at, words, length)",
            (self.space.id, self.version, *as_columns(rows)),
        )

    def apply(self, operations: Iterable[Operation]) -> Applied:
        """Apply operations to the memory as it is by now, and store what changed."""
        wanted = tuple(operations)
        self._read(wanted)
        applied = apply_operations(
            wanted,
            self._bullet,
            self._standing,
            next_number=self.space.next_bullet,
            at=self.change.at,
            limits=self.limits,
        )
        self.space.next_bullet = applied.next_number
        self._put_bullets(applied.bullets)
        self._put_standings(applied.standings.values())
        return applied

    def end_entry(self, asked: Applied, followed: Applied) -> JournalEntry:
        """Complete the entry with what took effect."""
        operations = (*asked.operations, *followed.operations)
        notes = (*self.change.notes, *asked.skipped, *followed.skipped)
        if operations or notes:
            self.db.execute(
                "UPDATE journal SET operations = %s, notes = %s WHERE version = %s",
                (operations_to_json(operations), dump(notes), self.version),
            )
        return JournalEntry(
            version=self.version,
            operations=operations,
            experience_ids=self.ids,
            notes=notes,
            **self.change.model_dump(include={"at", "cause", "turn_id", "mode", "model", "record"}),
        )

    def _read(self, operations: Sequence[Operation]) -> None:
        """Read what the operations name, all at once."""
        ids = {id for operation in operations for id in _named(operation)} - self.known.keys()
        self._read_bullets(ids)
        self._read_standings({id for id in ids if is_experience_id(id)})

    def _read_bullets(self, ids: Collection[str]) -> None:
        query = f"SELECT {BULLET_READ} FROM bullets WHERE namespace_id = %s AND number = ANY(%s::bigint[])"
        found = [from_bullet_row(row) for row in self._numbered(query, ids)]
        self.known |= dict.fromkeys(ids) | {bullet.id: bullet for bullet in found}

    def _read_standings(self, ids: Collection[str]) -> None:
        query = (
            f"SELECT {STANDING_COLUMNS}, length FROM experiences WHERE namespace_id = %s AND number = ANY(%s::bigint[])"
        )
        for row in self._numbered(query, ids):
            standing = standing_from_row(row)
            self.standings[standing.id] = (standing, row["length"])

    def _numbered(self, query: str, ids: Collection[str]) -> list[Any]:
        numbers = [number for id in ids if (number := number_of(id)) is not None]
        return self.db.execute(query, (self.space.id, numbers)).fetchall() if numbers else []

    def _bullet(self, id: str) -> Bullet | None:
        if id not in self.known:  # the survivor of one that was named
            self._read_bullets([id])
        return self.known[id]

    def _standing(self, id: str) -> Standing | None:
        return self.standings[id][0] if id in self.standings else None

    def _put_bullets(self, bullets: Mapping[str, Bullet]) -> None:
        if not bullets:
            return
        more = {"namespace_id": self.space.id, "version": self.version}
        rows = [bullet_row(bullet) | more for bullet in bullets.values()]
        self.db.execute(_PUT_BULLETS, as_columns([{name: row[name] for name in _NAMES} for row in rows]))
        for (id, bullet), row in zip(bullets.items(), rows, strict=True):
            before = self.known.get(id)
            if before is not None and before.status == "active":
                self.space.count_bullet(-1, estimate_tokens(before.content), len(words_of(before.content)))
            if bullet.status == "active":
                self.space.count_bullet(1, row["tokens"], row["length"])
        self.known.update(bullets)

    def _put_standings(self, standings: Iterable[Standing]) -> None:
        """Store standings; a version moves only with the status, which is all that an index has to know."""
        rows = []
        for standing in standings:
            before, words = self.standings[standing.id]
            self.space.count_experience((standing.status == "active") - (before.status == "active"), words)
            self.standings[standing.id] = (standing, words)
            used = None if standing.last_used_at is None else to_micros(standing.last_used_at)
            rows.append(
                {"number": number_of(standing.id), "status": standing.status, "uses": standing.uses, "used": used}
            )
        if rows:
            self.db.execute(
                "UPDATE experiences AS old SET uses = new.uses, last_used_at = new.used, "
                "version = CASE WHEN old.status = new.status THEN old.version ELSE %s END, status = new.status "
                "FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::bigint[]) AS new (number, status, uses, used) "
                "WHERE old.namespace_id = %s AND old.number = new.number",
                (self.version, *as_columns(rows), self.space.id),
            )


def _named(operation: Operation) -> Iterable[str]:
    """The ids of bullets that an operation names."""
    if isinstance(operation, Merge):
        return (operation.into, *operation.absorbed)
    return () if isinstance(operation, Add) else (operation.id,)


def _check_new(db: Db, space: Space, turn_id: str) -> None:
    query = "SELECT 1 FROM journal WHERE namespace_id = %s AND turn_id = %s AND turn_id <> ''"
    if turn_id and db.execute(query, (space.id, checked_name("turn_id", turn_id))).fetchone():
        raise OperationError(f"The turn {turn_id!r} was learnt before; a turn is learnt once. Give a new turn_id.")
