"""A memory as one value, so that two of them can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store import DEFAULT_NAMESPACE, MemoryStore
from cheatsheet.memory.upkeep.verify import verify


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a namespace holds.

    Attributes:
        version: of its newest journal entry.
        turns: names of the turns that were learnt, oldest first.
        digest: of all bullets and experiences, whatever their status, and how the experiences stand.
        flaws: what `verify` finds.
    """

    version: int
    turns: tuple[str, ...]
    digest: str
    flaws: tuple[str, ...]


def state_of(store: MemoryStore, namespace: str = DEFAULT_NAMESPACE) -> State:
    """The state of a memory that is open."""
    told = [
        *(bullet.model_dump_json() for bullet in store.bullets(namespace, status=None)),
        *(experience.model_dump_json() for experience in store.experiences(namespace, status=None)),
        *(standing.model_dump_json() for standing in store.standings(namespace).values()),
    ]
    return State(
        version=store.version(namespace),
        turns=tuple(entry.turn_id for entry in store.journal(namespace) if entry.turn_id),
        digest=sha256("\n".join(told).encode("utf-8", "surrogatepass")).hexdigest(),
        flaws=tuple(flaw.text for flaw in verify(store)),
    )


def state_in(path: Path) -> State:
    """The state of the memory in a file; opening it finishes what a crash left unfinished."""
    store = SqliteStore(path)
    try:
        return state_of(store)
    finally:
        store.close()
