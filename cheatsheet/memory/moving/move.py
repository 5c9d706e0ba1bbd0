"""`move`: a whole memory, with its past, from one place to another."""

from __future__ import annotations

from dataclasses import dataclass

from cheatsheet.errors import SetupError, StoreCorruptError
from cheatsheet.memory.moving.tables import TABLES, Source, Target
from cheatsheet.memory.store import Progress

_POSTGRES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a move has written.

    Attributes:
        namespaces, entries, bullets, experiences, embeddings: how many rows; `entries` are those of the journal.
    """

    namespaces: int
    entries: int
    bullets: int
    experiences: int
    embeddings: int


def move(source: str, target: str, *, timeout_s: float = 30.0, told: Progress = lambda done, total: None) -> Moved:
    """Copy everything from one place to an empty one, and verify it there; the source stays as it is.

    All namespaces, ids, versions, turn ids, marks and embeddings stay the same, so that `blame`, `diff` and `rollback`
    tell and do the same in both places. The target is filled in one transaction: a move that is stopped leaves it
    empty, and can be made again. Whatever is learnt in the source meanwhile is not moved.

    Args:
        source, target: a memory file or a `postgresql://` address.
        timeout_s: how long to wait for others.
        told: called with rows written and rows in all.

    Raises:
        SetupError: there is no such source, the target is not empty, or one of them is `:memory:`.
        StoreCorruptError: the source is damaged, and nothing was moved; or the target is not what it should be.
        StoreError: one of them cannot be read or written.
    """
    for place in (source, target):
        if place == ":memory:":
            raise SetupError("A memory in RAM (:memory:) cannot be moved. Name a file or a postgresql:// address.")
    with _source(source, timeout_s) as reading:  # before the target is made
        _must_be_sound(reading, "Nothing was moved")
        _target(target, timeout_s).fill(reading, told)
    with _source(target, timeout_s) as written:
        _must_be_sound(written, "The source is as it was: delete this, and move again")
        counts = {table: written.count(table) for table in TABLES}
    return Moved(
        namespaces=counts["namespaces"],
        entries=counts["journal"],
        bullets=counts["bullets"],
        experiences=counts["experiences"],
        embeddings=counts["embeddings"],
    )


def _source(place: str, timeout_s: float) -> Source:
    if place.startswith(_POSTGRES):
        from cheatsheet.memory.moving.on_server import ServerSource

        return ServerSource(place, timeout_s=timeout_s)
    from cheatsheet.memory.moving.in_file import FileSource

    return FileSource(place, timeout_s=timeout_s)


def _target(place: str, timeout_s: float) -> Target:
    if place.startswith(_POSTGRES):
        from cheatsheet.memory.moving.on_server import ServerTarget

        return ServerTarget(place, timeout_s=timeout_s)
    from cheatsheet.memory.moving.in_file import FileTarget

    return FileTarget(place, timeout_s=timeout_s)


def _must_be_sound(memory: Source, meanwhile: str) -> None:
    flaws = memory.flaws()
    if flaws:
        raise StoreCorruptError(
            f"The memory {memory.shown} is damaged: {flaws[0].text} {flaws[0].remedy} {meanwhile}. `cheatsheet verify` "
            f"tells all that is wrong."
        )
