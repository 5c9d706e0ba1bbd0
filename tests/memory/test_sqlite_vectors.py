"""Embeddings on their way into the file: with the next commit, or at once where they are many."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from cheatsheet.errors import OperationError
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.sqlite.sqlite_vectors import MOST_WAITING
from indexes.cached import CachedEmbedder, CacheKey
from indexes.hashing import HashingEmbedder
from indexes.vectors import Vector

ROW = np.array([0.6, 0.8], dtype=np.float32)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        yield store


def vectors(count: int, first: int = 0) -> dict[CacheKey, Vector]:
    return {CacheKey("m", "document", f"{first + number:064x}"): ROW for number in range(count)}


def stored(store: SqliteStore) -> int:
    with closing(sqlite3.connect(store.path)) as db:
        (count,) = db.execute("SELECT count(*) FROM embeddings").fetchone()
    return int(count)


def change(**more: object) -> Change:
    return Change.model_validate({"at": datetime(2026, 1, 5, tzinfo=UTC), "cause": "user"} | more)


def test_those_of_a_turn_are_stored_with_it(store: SqliteStore) -> None:
    few = vectors(3)
    store.put_many(few)
    assert stored(store) == 0
    assert store.get_many(list(few)).keys() == few.keys()
    assert dict(store.vectors()).keys() == few.keys()
    store.commit("default", change())
    assert stored(store) == 3
    assert store.get_many(list(few)).keys() == dict(store.vectors()).keys() == few.keys()


def test_many_are_stored_at_once(store: SqliteStore) -> None:
    store.put_many(vectors(MOST_WAITING - 1))
    assert stored(store) == 0
    store.put_many(vectors(1, first=1_000))
    assert stored(store) == MOST_WAITING


def test_those_of_a_turn_that_fails_are_stored_with_the_next(store: SqliteStore) -> None:
    store.commit("default", change(turn_id="t"))
    store.put_many(vectors(2))
    with pytest.raises(OperationError):
        store.commit("default", change(turn_id="t"))
    assert stored(store) == 0
    store.commit("default", change())
    assert stored(store) == 2


def test_none_waits_behind_the_closing_of_the_memory(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    store.put_many(vectors(2))
    store.close()
    store.close()
    assert stored(store) == 2


def test_those_made_inside_a_commit_are_stored_by_it(store: SqliteStore) -> None:
    def many() -> list[Operation]:
        store.put_many(vectors(2 * MOST_WAITING))
        return []

    store.commit("default", change(), then=many)
    assert stored(store) == 2 * MOST_WAITING


def test_a_key_that_is_known_keeps_its_vector(store: SqliteStore) -> None:
    (key,) = vectors(1)
    store.put_many({key: ROW})
    store.put_many({key: -ROW})
    store.commit("default", change())
    store.put_many({key: -ROW})
    store.commit("default", change())
    with closing(SqliteStore(store.path)) as other:
        assert other.get_many([key])[key].tolist() == ROW.tolist()


def damage(path: str, stored: object) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE embeddings SET vector = ?", (stored,))


@pytest.mark.parametrize(
    "stored",
    [
        np.array([np.nan, 0.8], dtype="<f4").tobytes(),
        np.array([np.inf, 0.8], dtype="<f4").tobytes(),
        np.array([0.6, 2.7e38], dtype="<f4").tobytes(),
        ROW.tobytes()[:-1],
        b"",
        "text",
        7,
    ],
    ids=["NaN", "infinite", "a bit of an exponent", "cut", "empty", "text", "a number"],
)
def test_a_damaged_one_is_told_made_again_and_replaced(
    store: SqliteStore, stored: object, caplog: pytest.LogCaptureFixture
) -> None:
    """No wrong neighbours by a vector that no embedder can have given, and no recall that fails for one."""
    embedder = CachedEmbedder(HashingEmbedder(2), store, memory_items=0)
    rows = embedder.embed(["a", "b"])
    store.commit("default", change())
    damage(store.path, stored)
    assert np.array_equal(embedder.embed(["a", "b"]), rows)
    assert "2 embeddings in the memory" in caplog.text
    assert "made again from their texts" in caplog.text
    store.commit("default", change())
    caplog.clear()
    assert np.array_equal(embedder.embed(["b", "a"]), rows[::-1])
    assert (embedder.misses, caplog.text) == (4, "")
