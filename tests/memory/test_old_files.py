"""Files of every earlier schema are opened, are whole, and go on."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.memory.history.blame import blame
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft, Tag
from cheatsheet.memory.sqlite.migrations import MIGRATIONS, migrate
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.upkeep.verify import verify
from tests.memory.deaths import dying_at
from tests.memory.files.keep import VECTOR, contents, place

SCHEMAS = range(1, len(MIGRATIONS) + 1)


@pytest.fixture(params=SCHEMAS)
def schema(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    if not place(number)[0].exists():
        pytest.fail(f"No file of schema {number} is kept. Run: python -m tests.memory.files.keep")
    return number


@pytest.fixture
def path(schema: int, tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    path.write_bytes(gzip.decompress(place(schema)[0].read_bytes()))
    return path


def told(schema: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(place(schema)[1].read_text(encoding="utf-8"))
    return found


def as_then(now: Any, then: Any) -> Any:
    """What is read now, without fields that came later."""
    if isinstance(then, dict) and isinstance(now, dict):
        return {name: as_then(now[name], value) for name, value in then.items() if name in now}
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [as_then(one, other) for one, other in zip(now, then, strict=True)]
    return now


def schema_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        (number,) = db.execute("PRAGMA user_version").fetchone()
    return int(number)


def test_the_file_is_of_its_schema(schema: int, path: Path) -> None:
    assert schema_of(path) == schema


def test_it_holds_what_its_own_version_read_from_it(schema: int, path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        then = told(schema)
        assert as_then(json.loads(json.dumps(contents(store))), then) == then
        assert store.namespaces() == ["default", "Ünïcode.x"]
        assert {tuple(vector.tolist()) for _, vector in store.vectors() if vector is not None} == {
            tuple(VECTOR.tolist())
        }
        assert verify(store) == []
    assert schema_of(path) == len(MIGRATIONS)


def test_it_is_learnt_into_and_its_past_is_known(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        before = len(blame(store, "default", "calc-00001"))
        operations = (Tag(id="calc-00001", helpful=1), Add(draft=Draft(content="Learnt since.")))
        committed = store.commit(
            "default", Change(at=datetime(2026, 2, 1, tzinfo=UTC), cause="turn", turn_id="new", operations=operations)
        )
        assert committed.skipped == ()
        touches = blame(store, "default", "calc-00001")
        assert len(touches) == before + 1
        assert touches[0].experiences[0].feedback.expected == "8.05"
        assert [bullet.id for bullet in store.bullets("default")][-1] == "misc-00007"
        assert verify(store) == []


@pytest.mark.parametrize("step", [1, 10, 100, 300, 1_000, 2_000, 20_000])
def test_whoever_is_killed_in_the_middle_leaves_it_before_a_migration_or_after(
    schema: int, path: Path, tmp_path: Path, step: int
) -> None:
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        with dying_at(step, db, path, copy):
            migrate(db)
    found = copy if copy.exists() else path
    assert schema <= schema_of(found) <= len(MIGRATIONS)
    with closing(SqliteStore(found)) as store:
        then = told(schema)
        assert as_then(json.loads(json.dumps(contents(store))), then) == then
        assert verify(store) == []
