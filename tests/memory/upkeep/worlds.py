"""A memory file that has gone through much."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import numpy as np

from cheatsheet.memory.experience import Experience, Feedback
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Tag, Update
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from indexes.cached import CacheKey

NOW = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)


def add(content: str, **more: object) -> Add:
    return Add(draft=Draft.model_validate({"content": content} | more))


def write(store: SqliteStore, *operations: Operation, namespace: str = "default", **more: object) -> int:
    at = NOW + timedelta(minutes=store.version(namespace))
    values: dict[str, object] = {"at": at, "cause": "user", "operations": operations} | more
    return store.commit(namespace, Change.model_validate(values)).entry.version


def lived(query: str) -> Experience:
    return Experience(query=query, answer="7 km", feedback=Feedback(correct=True), created_at=NOW)


def worn(path: Path) -> int:
    """Fill a file with two namespaces; returns the version of the first one."""
    store = SqliteStore(path)
    write(
        store, add("Check the units."), add("Round at the end."), add("Check units."), experiences=(lived("How far?"),)
    )
    write(store, add("elsewhere"), namespace="other")
    for number in range(3):
        write(store, *(Tag(id=f"misc-{n:05d}", uses=1) for n in (1, 2)), turn_id=f"turn-{number}", cause="turn")
    write(store, Tag(id="misc-00002", harmful=3), Tag(id="exp-00001", uses=1))
    write(store, Merge(into="misc-00001", absorbed=("misc-00003",)), Remove(id="misc-00002", reason="harmful"))
    newest = write(store, Update(id="misc-00001", content="Check all units."), turn_id="turn-3", record={"row": 3})
    for text in ("Check all units.", "How far?", "forgotten words"):
        key = CacheKey("m", "document", sha256(text.encode()).hexdigest())
        store.put_many({key: np.array([0.6, 0.8], dtype=np.float32)})
    store.close()
    return newest
