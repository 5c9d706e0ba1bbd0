"""Small changes for tests of the PostgreSQL store, and a second look at its tables."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg

from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft, Operation
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.upkeep.verify import verify

NOW = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)
TIMEOUT_S = 20.0  # of stores that are to come through a restart of the server, however busy the machine is


def change(*operations: Operation, **more: Any) -> Change:
    return Change.model_validate({"at": NOW, "cause": "user", "operations": operations} | more)


def add(content: str, **more: Any) -> Add:
    return Add(draft=Draft.model_validate({"content": content} | more))


def learn(store: MemoryStore, *contents: str, namespace: str = "default", **more: Any) -> int:
    return store.commit(namespace, change(*map(add, contents), **more)).entry.version


def contents(store: MemoryStore, namespace: str = "default") -> list[str]:
    return [bullet.content for bullet in store.bullets(namespace)]


def outside(store: PostgresStore) -> psycopg.Connection[dict[str, Any]]:
    """A connection of somebody else's to the same tables."""
    return store.server.connect()


def check(store: MemoryStore) -> None:
    assert verify(store) == []
