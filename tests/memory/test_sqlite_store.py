"""Files that are no memory, or cannot be used as one: told in a sentence, and left as they are."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cheatsheet.errors import StoreBusyError, StoreCorruptError, StoreError, StoreReadOnlyError, StoreVersionError
from cheatsheet.memory.experience import Standing
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.history.sheet import replay
from cheatsheet.memory.operations import Add, Draft, Tag
from cheatsheet.memory.sqlite import migrations
from cheatsheet.memory.sqlite.connections import Connections
from cheatsheet.memory.sqlite.rows import to_micros
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore

CHANGE = Change(
    at=datetime(2026, 1, 5, tzinfo=UTC), cause="user", operations=(Add(draft=Draft(content="Check the units.")),)
)

NEWEST = len(migrations.MIGRATIONS)

DRAFT = {"content": "Check units.", "section": "exp"}
BULLET = ("exp-00001", "exp", "Check units.")


def write_newer(path: Path) -> None:
    SqliteStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def write_foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()


def write_garbage(path: Path) -> None:
    path.write_bytes(b'{"bullets": [{"id": "a-1", "conte' * 99)


@pytest.mark.parametrize(
    ("write", "error", "sentence"),
    [
        (write_newer, StoreVersionError, f"schema 99; this version of Cheatsheet knows up to {NEWEST}"),
        (write_foreign, StoreCorruptError, "a SQLite file of another program"),
        (write_garbage, StoreCorruptError, "It was left as it is"),
    ],
)
def test_what_is_no_memory_of_ours_is_told_and_left_as_it_is(
    tmp_path: Path, write: Callable[[Path], None], error: type[StoreError], sentence: str
) -> None:
    """S01: what cannot be read is never taken for an empty memory and written over."""
    path = tmp_path / "memory.db"
    write(path)
    before = path.read_bytes()
    with pytest.raises(error, match=sentence):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    with pytest.raises(StoreReadOnlyError, match="Choose a file in a folder that you may write to"):
        SqliteStore(tmp_path / "file" / "memory.db")


def test_an_empty_file_becomes_a_memory(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    store = SqliteStore(path)
    assert store.commit("default", CHANGE).entry.version == 1
    store.close()


def micros(moment: str) -> int:
    return to_micros(datetime.fromisoformat(moment))


def write_schema_1(path: Path) -> None:
    """A memory as the first version wrote it; a section named `exp` gave its bullets ids like those of experiences."""
    db = sqlite3.connect(path)
    for statement in migrations._M001.split(";\n"):
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {migrations.APPLICATION_ID}")
    db.execute("PRAGMA user_version = 1")
    db.execute("INSERT INTO namespaces VALUES (1, 'default', 3, 3)")
    turns = [
        ("2026-01-05T07:30:00.000001Z", "exp-00001", [{"type": "add", "id": "exp-00001", "draft": DRAFT}]),
        ("2026-01-05T07:30:01Z", "exp-00002", [{"type": "add", "id": "misc-00002", "draft": {"content": "Round up."}}]),
        ("2026-01-05T07:30:02Z", "", [{"type": "tag", "id": "exp-00001", "helpful": 2}]),
    ]
    for version, (at, experience, operations) in enumerate(turns, start=1):
        values = (version, micros(at), json.dumps(operations), experience)
        db.execute("INSERT INTO journal VALUES (?, 1, ?, 'turn', '', '', '', ?, ?, NULL, '[]')", values)
    for number, id, section, content, helpful in [(1, *BULLET, 2), (2, "misc-00002", "others", "Round up.", 0)]:
        at = turns[number - 1][0]
        counters, times = (helpful, 0), (micros(at), micros(at), None)
        bullet = (number, id, section, content, *counters, *times, 0, "[]", "[]", None, 0, "active", "bullet", "{}", 3)
        db.execute(f"INSERT INTO bullets VALUES (1, {', '.join('?' * len(bullet))}, {number})", bullet)
        lived = {"id": f"exp-{number:05d}", "query": f"q{number}", "answer": "a", "created_at": at}
        experience_row = (number, lived["query"], json.dumps(lived), number)
        db.execute("INSERT INTO experiences VALUES (1, ?, ?, ?, ?)", experience_row)
    db.commit()
    db.close()


def test_a_file_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    write_schema_1(path)
    store = SqliteStore(path)
    assert [entry.experience_ids for entry in store.journal("default")] == [("exp-00001",), ("exp-00002",), ()]
    assert store.standings("default") == {id: Standing(id=id) for id in ("exp-00001", "exp-00002")}
    sizes = (store.count_bullets("default"), store.sheet_tokens("default"), store.count_experiences("default"))
    assert sizes == (2, 6, 2)
    sheet = replay(store.journal("default"))
    assert list(sheet.bullets) == ["exp-00001", "misc-00002"]
    assert list(sheet) == store.bullets("default", status=None)
    moments = [row["created_at"] for row in store._rows("SELECT created_at FROM experiences", "default")]
    assert moments == [to_micros(experience.created_at) for experience in store.experiences("default")]
    # An operation on an id that a bullet and an experience share means the bullet, as it did when it was written.
    store.commit("default", CHANGE.model_copy(update={"operations": (Tag(id="exp-00001", helpful=1),)}))
    bullet = store.bullet("default", "exp-00001")
    assert bullet is not None
    assert bullet.helpful == 3
    store.close()


def test_steps_leave_the_same_schema_whenever_they_are_applied(tmp_path: Path) -> None:
    def schema_of(path: Path) -> list[tuple[str, str]]:
        SqliteStore(path).close()
        with sqlite3.connect(path) as db:
            found = db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
        db.close()
        return found

    write_schema_1(tmp_path / "old.db")
    assert schema_of(tmp_path / "old.db") == schema_of(tmp_path / "new.db")


def test_a_step_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    write_schema_1(path)
    broken = migrations._M002.replace("CREATE TRIGGER experience_changed", "CREATE NONSENSE")
    monkeypatch.setattr(migrations, "MIGRATIONS", (migrations._M001, broken))
    with pytest.raises(sqlite3.OperationalError, match="NONSENSE"):
        SqliteStore(path)
    monkeypatch.undo()
    store = SqliteStore(path)
    assert store.count_experiences("default") == 2
    store.close()


def test_an_old_file_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_schema_1(tmp_path / "memory.db")
    connect = Connections._connect

    def read_only(connections: Connections) -> sqlite3.Connection:
        connection = connect(connections)
        connection.execute("PRAGMA query_only = ON")
        return connection

    monkeypatch.setattr(Connections, "_connect", read_only)
    with pytest.raises(StoreReadOnlyError, match="has to be brought up to date once, but it cannot be written"):
        SqliteStore(tmp_path / "memory.db")


def test_a_writer_that_keeps_the_file_too_long_is_told_and_readers_do_not_wait(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db", busy_timeout_s=0.05)
    store.commit("default", CHANGE)
    other = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.count_bullets("default") == 1
    with pytest.raises(StoreBusyError, match="locked by another process"):
        store.commit("default", CHANGE)
    other.execute("ROLLBACK")
    other.close()
    assert store.commit("default", CHANGE).entry.version == 2
    store.close()
