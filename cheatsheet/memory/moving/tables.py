"""The rows of a memory as they are moved: the same for a file and for a server.

Columns are those of the SQLite store, with texts as they are. What a kind of store can work out by itself, such as
sums, words and indexes, is not moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from cheatsheet.errors import StoreCorruptError
from cheatsheet.memory.store import Progress
from cheatsheet.memory.upkeep.flaw import Flaw

Row: TypeAlias = tuple[Any, ...]

TABLES: Mapping[str, tuple[str, ...]] = {
    "namespaces": ("id", "name", "next_bullet", "next_experience"),
    "journal": (
        "version", "namespace_id", "at", "cause", "turn_id", "mode", "model", "operations", "experience_id", "record",
        "notes", "mark",
    ),
    "bullets": (
        "namespace_id", "number", "id", "section", "content", "helpful", "harmful", "created_at", "updated_at",
        "last_used_at", "uses", "sources", "tags", "expires_at", "pinned", "status", "kind", "metadata", "tokens",
        "version",
    ),
    "experiences": (
        "namespace_id", "number", "query", "data", "version", "status", "uses", "last_used_at", "created_at",
        "digest",
    ),
    "snapshots": ("namespace_id", "version", "next_bullet"),
    "snapshot_bullets": ("namespace_id", "number", "data"),
    "snapshot_experiences": ("namespace_id", "number", "status", "uses", "last_used_at"),
    "embeddings": ("model_id", "kind", "sha256", "vector"),
}  # fmt: skip
"""Every table with its columns, what is named by others first."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "namespaces": ("id",),
    "journal": ("version",),
    "bullets": ("namespace_id", "number"),
    "experiences": ("namespace_id", "number"),
    "snapshots": ("namespace_id",),
    "snapshot_bullets": ("namespace_id", "number"),
    "snapshot_experiences": ("namespace_id", "number"),
    "embeddings": ("model_id", "kind", "sha256"),
}
"""By which columns the rows of a table are told apart, in the order in which they are read."""

AT_ONCE = 1_000


class Source(Protocol):
    """A memory that is read, as it is at one moment. A context manager.

    Attributes:
        shown: where it is, for messages.
    """

    shown: str

    def __enter__(self) -> Source: ...

    def __exit__(self, *raised: object) -> None: ...

    def flaws(self) -> Sequence[Flaw]:
        """What is wrong with it."""
        ...

    def count(self, table: str) -> int:
        """How many rows a table has."""
        ...

    def rows(self, table: str) -> Iterator[Sequence[Row]]:
        """The rows of a table, in parts."""
        ...


class Target(Protocol):
    """A memory that is filled in one transaction."""

    def fill(self, source: Source, told: Progress) -> None:
        """Write all that the source has: all of it is there in the end, or nothing.

        Raises:
            SetupError: there is something already.
        """
        ...


def parts(source: Source, told: Progress) -> Iterator[tuple[str, Sequence[Row]]]:
    """All rows with their tables, in parts, telling how far they have come.

    Raises:
        StoreCorruptError: there are other rows than were counted.
    """
    total, done = sum(map(source.count, TABLES)), 0
    for table in TABLES:
        for rows in source.rows(table):
            yield table, rows
            done += len(rows)
            told(done, total)
    if done != total:
        raise StoreCorruptError(f"The memory has {total:,} rows, but {done:,} could be read: its indexes are damaged.")
