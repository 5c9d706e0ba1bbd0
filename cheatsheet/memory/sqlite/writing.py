"""One change on its way into the tables of a SQLite store, within a transaction that its caller opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field

from cheatsheet.errors import OperationError
from cheatsheet.memory.apply import Applied, Limits, apply_operations, from_experiences
from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.experience import Experience, Standing, experience_id
from cheatsheet.memory.history.journal import Change, Committed, JournalEntry
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.sqlite.damage import damage_told
from cheatsheet.memory.sqlite.rows import (
    BULLET_COLUMNS,
    STANDING_COLUMNS,
    bullet_from_row,
    bullet_to_row,
    digest_of,
    dump,
    operations_to_json,
    standing_from_row,
    to_micros,
)
from cheatsheet.memory.store import Then

_BULLET_ROW = ("namespace_id", *BULLET_COLUMNS, "version")
_NAMESPACE = "SELECT id, next_bullet, next_experience FROM namespaces WHERE name = ?"
_PUT_BULLET = (
    f"INSERT INTO bullets ({', '.join(_BULLET_ROW)}) VALUES ({', '.join(':' + name for name in _BULLET_ROW)}) "
    "ON CONFLICT (namespace_id, number) DO UPDATE SET "
    f"{', '.join(f'{name} = :{name}' for name in _BULLET_ROW[1:-1])}, "
    # All that an index has to know; most turns only count what was shown.
    "version = CASE WHEN content = :content AND status = :status THEN version ELSE :version END"
)


def write_change(
    db: sqlite3.Connection, namespace: str, change: Change, *, then: Then | None = None, limits: Limits
) -> Committed:
    """Write a change and its journal entry; what is written stands once the caller commits.

    Raises:
        OperationError: a change with this `turn_id` is already in the journal.
    """
    writing = _Writing(db, _namespace_row(db, namespace), change, limits)
    _check_new(db, writing.space, change.turn_id)
    writing.begin_entry()
    writing.put_experiences()
    asked = writing.apply(from_experiences(change.operations, writing.ids) if writing.ids else change.operations)
    followed = writing.apply(then() if then else ())
    return Committed(
        writing.end_entry(asked, followed), tuple(asked.skipped + followed.skipped), tuple(followed.operations)
    )


@dataclass(slots=True)
class _Writing:
    """The steps of one change.

    Attributes:
        row: of the namespace, as it was before.
        ids: of the experiences of the change.
        version: number of its journal entry.
    """

    db: sqlite3.Connection
    row: sqlite3.Row
    change: Change
    limits: Limits
    version: int = 0
    space: int = field(init=False)
    next_number: int = field(init=False)
    ids: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.space = self.row["id"]
        self.next_number = self.row["next_bullet"]
        first = self.row["next_experience"]
        self.ids = tuple(experience_id(first + offset) for offset in range(len(self.change.experiences)))

    def begin_entry(self) -> None:
        """Write the entry without its operations, so that it has a version."""
        change = self.change
        cursor = self.db.execute(
            "INSERT INTO journal "
            "(namespace_id, at, cause, turn_id, mode, model, operations, experience_id, record, notes) "
            "VALUES (?, ?, ?, ?, ?, ?, '[]', ?, ?, '[]')",
            (
                self.space,
                to_micros(change.at),
                change.cause,
                change.turn_id,
                change.mode,
                change.model,
                " ".join(self.ids),
                None if change.record is None else dump(change.record),
            ),
        )
        self.version = cursor.lastrowid or 0

    def put_experiences(self) -> None:
        """Store the change's experiences under their new ids."""
        experiences = (
            experience.model_copy(update={"id": id})
            for id, experience in zip(self.ids, self.change.experiences, strict=True)
        )
        self.db.executemany(
            "INSERT INTO experiences (namespace_id, number, query, data, digest, created_at, version) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            map(self._experience_row, experiences),
        )

    def apply(self, operations: Iterable[Operation]) -> Applied:
        """Apply operations to the memory as it is by now, and store what changed."""
        applied = apply_operations(
            tuple(operations),
            self._bullet,
            self._standing,
            next_number=self.next_number,
            at=self.change.at,
            limits=self.limits,
        )
        self.next_number = applied.next_number
        self._put_bullets(applied.bullets.values())
        self._put_standings(applied.standings.values())
        return applied

    def end_entry(self, asked: Applied, followed: Applied) -> JournalEntry:
        """Complete the entry with what took effect, and the namespace with its next numbers."""
        operations = (*asked.operations, *followed.operations)
        notes = (*self.change.notes, *asked.skipped, *followed.skipped)
        self.db.execute(
            "UPDATE journal SET operations = ?, notes = ? WHERE version = ?",
            (operations_to_json(operations), dump(notes), self.version),
        )
        self.db.execute(
            "UPDATE namespaces SET next_bullet = ?, next_experience = next_experience + ? WHERE id = ?",
            (self.next_number, len(self.ids), self.space),
        )
        change = self.change
        return JournalEntry.model_construct(  # of parts that were checked
            version=self.version,
            at=change.at,
            cause=change.cause,
            turn_id=change.turn_id,
            mode=change.mode,
            model=change.model,
            operations=operations,
            experience_ids=self.ids,
            record=change.record,
            notes=notes,
        )

    def _experience_row(self, lived: Experience) -> tuple[object, ...]:
        data = lived.model_dump_json()
        digest = digest_of(lived.query.encode(), data.encode())
        return self.space, number_of(lived.id), lived.query, data, digest, to_micros(lived.created_at), self.version

    def _bullet(self, id: str) -> Bullet | None:
        query = "SELECT * FROM bullets WHERE namespace_id = ? AND number = ? AND id = ?"
        row = self.db.execute(query, (self.space, number_of(id), id)).fetchone()
        with damage_told(self.db):
            return bullet_from_row(row) if row else None

    def _standing(self, id: str) -> Standing | None:
        query = f"SELECT {STANDING_COLUMNS} FROM experiences WHERE namespace_id = ? AND number = ?"
        row = self.db.execute(query, (self.space, number_of(id))).fetchone()
        with damage_told(self.db):
            found = standing_from_row(row) if row else None
        return found if found and found.id == id else None

    def _put_bullets(self, bullets: Iterable[Bullet]) -> None:
        more = {"namespace_id": self.space, "version": self.version}
        self.db.executemany(_PUT_BULLET, (bullet_to_row(bullet) | more for bullet in bullets))

    def _put_standings(self, standings: Iterable[Standing]) -> None:
        """Store standings; a version moves only with the status, which is all that an index has to know."""
        rows = (
            {
                "status": standing.status,
                "uses": standing.uses,
                "used": None if standing.last_used_at is None else to_micros(standing.last_used_at),
                "version": self.version,
                "space": self.space,
                "number": number_of(standing.id),
            }
            for standing in standings
        )
        self.db.executemany(
            "UPDATE experiences SET uses = :uses, last_used_at = :used, "
            "version = CASE WHEN status = :status THEN version ELSE :version END, status = :status "
            "WHERE namespace_id = :space AND number = :number",
            rows,
        )


def _namespace_row(db: sqlite3.Connection, namespace: str) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute(_NAMESPACE, (namespace,)).fetchone()
    if row is None:
        db.execute("INSERT INTO namespaces (name) VALUES (?)", (namespace,))
        row = db.execute(_NAMESPACE, (namespace,)).fetchone()
    return row


def _check_new(db: sqlite3.Connection, space: int, turn_id: str) -> None:
    query = "SELECT 1 FROM journal WHERE namespace_id = ? AND turn_id = ?"
    if turn_id and db.execute(query, (space, turn_id)).fetchone():
        raise OperationError(f"The turn {turn_id!r} was learnt before; a turn is learnt once. Give a new turn_id.")
