"""A namespace as a transaction has it: its row locked, its numbers and its sums.

The first step of every transaction that writes to a namespace is to lock its row. So writers of one namespace come one
after the other, in all processes, and the numbers and versions that they take become visible in their order: whoever
sees version n sees all that came before it in the namespace.
"""

from __future__ import annotations

from dataclasses import dataclass

from cheatsheet.errors import OperationError
from cheatsheet.memory.postgres.connections import Db
from cheatsheet.memory.postgres.texts import held

MOST_NAME_BYTES = 2_000
"""The longest name of a namespace or of a turn: an index of PostgreSQL takes 2,704 bytes a row."""

_SPACE = "SELECT * FROM namespaces WHERE name = %s FOR NO KEY UPDATE"


@dataclass(slots=True)
class Space:
    """A namespace as the transaction has it, its row locked.

    Attributes:
        next_bullet, next_experience: numbers for what is new.
        sums: of what is active, by column.
    """

    id: int
    next_bullet: int
    next_experience: int
    version: int
    sums: dict[str, int]

    def save(self, db: Db) -> None:
        """Write what has become of it."""
        values = {"next_bullet": self.next_bullet, "next_experience": self.next_experience, "version": self.version}
        values |= self.sums
        sets = ", ".join(f"{name} = %({name})s" for name in values)
        db.execute(f"UPDATE namespaces SET {sets} WHERE id = %(id)s", values | {"id": self.id})

    def count_bullet(self, sign: int, tokens: int, words: int) -> None:
        """Take a bullet that becomes active (1) or ceases to be (-1) into the sums."""
        self.sums["active_bullets"] += sign
        self.sums["active_tokens"] += sign * tokens
        self.sums["bullet_words"] += sign * words

    def count_experience(self, sign: int, words: int) -> None:
        """Take an experience that becomes active (1) or ceases to be (-1) into the sums."""
        self.sums["active_experiences"] += sign
        self.sums["experience_words"] += sign * words


_SUMS = ("active_bullets", "active_tokens", "active_experiences", "bullet_words", "experience_words")


def lock_space(db: Db, namespace: str) -> Space:
    """The namespace, made where it is not there, until the transaction ends nobody else's to write to."""
    name = checked_name("namespace", namespace)
    row = db.execute(_SPACE, (name,)).fetchone()
    if row is None:
        db.execute("INSERT INTO namespaces (name) VALUES (%s) ON CONFLICT DO NOTHING", (name,))
        row = db.execute(_SPACE, (name,)).fetchone()
    assert row is not None
    return Space(
        row["id"], row["next_bullet"], row["next_experience"], row["version"], {name: row[name] for name in _SUMS}
    )


def checked_name(what: str, name: str) -> str:
    """The name as a column holds it.

    Raises:
        OperationError: no index of PostgreSQL can hold it.
    """
    if len(name.encode("utf-8", "surrogatepass")) > MOST_NAME_BYTES:
        raise OperationError(
            f"The {what} {name[:40]!r}… is too long: on PostgreSQL it may have {MOST_NAME_BYTES:,} bytes."
        )
    return held(name)
