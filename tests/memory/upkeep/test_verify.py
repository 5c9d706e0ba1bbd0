"""Verify: what is sound is said to be, and each kind of damage is found and named."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.upkeep.flaw import Flaw
from cheatsheet.memory.upkeep.vacuum import vacuum
from cheatsheet.memory.upkeep.verify import verify
from tests.memory.upkeep.worlds import worn


@pytest.fixture
def path(tmp_path: Path) -> Path:
    worn(tmp_path / "memory.db")
    return tmp_path / "memory.db"


def found(path: Path) -> list[Flaw]:
    with closing(SqliteStore(path)) as store:
        return verify(store)


def edit(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            assert db.execute(statement).rowcount != 0, "it changes something"


def test_a_memory_that_nobody_touched_is_sound(path: Path) -> None:
    assert found(path) == []


DAMAGES = {
    "a bullet with other words": (
        "UPDATE bullets SET content = 'Trust the certificate.', tokens = 6 WHERE number = 1 AND namespace_id = 1",
        "Bullets are stored otherwise than the journal tells: misc-00001 (1).",
    ),
    "a bullet with other counters": (
        "UPDATE bullets SET helpful = 99 WHERE number = 2",
        "Bullets are stored otherwise than the journal tells: misc-00002 (1).",
    ),
    "a bullet that was served again": (
        "UPDATE bullets SET status = 'active' WHERE number = 2",
        "Bullets are stored otherwise than the journal tells: misc-00002 (1).",
    ),
    "a bullet that is gone": (
        "DELETE FROM bullets WHERE number = 2",
        "Bullets of the journal are not stored: misc-00002 (1).",
    ),
    "a bullet of which the journal does not know": (
        "INSERT INTO bullets SELECT namespace_id, 9, 'misc-00009', section, content, 0, 0, created_at, updated_at, "
        "NULL, 0, sources, tags, NULL, 0, 'archived', kind, metadata, tokens, version FROM bullets WHERE number = 2",
        "The store says that it holds 4 bullets; counted are 3.",
    ),
    "a bullet with an id that is none": (
        "UPDATE bullets SET id = 'MISC 00002' WHERE number = 2",
        "Bullets have an id that does not fit their number: MISC 00002 (1).",
    ),
    "a bullet that cannot be read": (
        "UPDATE bullets SET metadata = '{\"k\": ' WHERE number = 2",
        "Bullets cannot be read: misc-00002",
    ),
    "a count that is wrong": (
        "UPDATE namespaces SET active_bullets = 7 WHERE id = 1",
        "The store says that it holds 7 active bullets; counted are 1.",
    ),
    "a sum of tokens that is wrong": (
        "UPDATE namespaces SET active_tokens = 1000000 WHERE id = 1",
        "The store says that it holds 1,000,000 tokens of active bullets; counted are 4.",
    ),
    "a number that would be given again": (
        "UPDATE namespaces SET next_bullet = 2 WHERE id = 1",
        "The next of the bullets would get the number 2, but 3 was given already.",
    ),
    "an experience that is gone": (
        "DELETE FROM experiences WHERE number = 1",
        "Experiences of the journal are not stored: exp-00001 (1).",
    ),
    "an experience with another id": (
        "UPDATE experiences SET data = replace(data, 'exp-00001', 'exp-00002')",
        "Experiences have an id that does not fit their number: exp-00002 (1).",
    ),
    "an experience that was archived": (
        "UPDATE experiences SET status = 'archived'",
        "Experiences are stored otherwise than the journal tells: exp-00001 (1).",
    ),
    "an experience that cannot be read": (
        "UPDATE experiences SET data = '{}'",
        "Experiences cannot be read: exp-00001",
    ),
    "an experience with another letter": (
        "UPDATE experiences SET data = replace(data, 'answer', 'answeR')",
        "Experiences were changed by something else: exp-00001 in 'default' (1).",
    ),
    "an experience that is found by other words": (
        "UPDATE experiences SET query = query || '?'",
        "Experiences were changed by something else: exp-00001 in 'default' (1).",
    ),
    "an entry that is gone": (
        "DELETE FROM journal WHERE version = 1",
        "Version 3 of the journal holds an operation that cannot have taken effect",
    ),
    "an entry that cannot be read": (
        "UPDATE journal SET operations = '[{\"type\": \"grow\"}]' WHERE version = 3",
        "The journal cannot be read after version 0: ",
    ),
    "an operation that never was": (
        "UPDATE journal SET operations = '[{\"type\":\"tag\",\"id\":\"misc-00001\",\"helpful\":5}]' WHERE version = 3",
        "Bullets are stored otherwise than the journal tells: misc-00001, misc-00002 (2).",
    ),
    "a row that is ahead of the journal": (
        "UPDATE bullets SET version = 99 WHERE number = 1",
        "2 of the bullets were touched by a version that the journal does not have yet.",
    ),
    "a row of no namespace": (
        "UPDATE bullets SET namespace_id = 9 WHERE namespace_id = 2",
        "A row of bullets names a row of namespaces that is not there.",
    ),
    "a vector that was cut": (
        "UPDATE embeddings SET vector = substr(vector, 1, 5) WHERE rowid = 1",
        "Embeddings of the model m that are no vectors: 1.",
    ),
    "a vector with a number that is none": (
        "UPDATE embeddings SET vector = x'0000c07f0000c07f' WHERE rowid = 1",
        "Embeddings of the model m that are not finite: 1.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_and_named(path: Path, damage: str) -> None:
    statement, sentence = DAMAGES[damage]
    edit(path, "PRAGMA foreign_keys = OFF", statement)
    flaws = found(path)
    assert any(sentence in flaw.text for flaw in flaws), flaws
    assert all(flaw.severity == "error" for flaw in flaws)
    assert all(flaw.remedy or "restore a backup" in flaw.text for flaw in flaws)


def test_turns_and_numbers_that_stand_twice_are_found(path: Path) -> None:
    """The schema refuses most of it; a file that something else has written may hold it all the same."""
    edit(
        path,
        "DROP INDEX journal_by_turn",
        "UPDATE journal SET turn_id = 'turn-0' WHERE version IN (4, 5)",
        "UPDATE journal SET experience_id = 'exp-00001 exp-1' WHERE version = 4",
        'UPDATE journal SET operations = json(\'[{"type":"add","id":"zz-00001","draft":{"content":"x"}}]\') '
        "WHERE version = 4",
    )
    told = [flaw.text for flaw in found(path)]
    for sentence in (
        "The journal holds a turn twice: turn-0, turn-0 (2).",
        "The journal holds an experience twice: exp-00001 (1).",
        "The journal holds the number of a bullet twice: zz-00001 (1).",
        "The journal names experiences by ids that they cannot have: exp-1 (1).",
    ):
        assert sentence in told


def test_an_index_of_sqlite_that_lost_a_row_is_found(path: Path) -> None:
    """As where a page of it comes back from the disk as it was before."""
    index = "bullets_by_section"
    edit(
        path,
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = sql || ' WHERE number < 0' WHERE name = '{index}'",
    )
    edit(path, f"REINDEX {index}")
    edit(
        path,
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = replace(sql, ' WHERE number < 0', '') WHERE name = '{index}'",
    )
    assert "SQLite finds: wrong # of entries in index bullets_by_section." in [flaw.text for flaw in found(path)]


def test_what_is_wrong_in_one_namespace_is_told_of_it_alone(path: Path) -> None:
    edit(path, "UPDATE bullets SET helpful = 9 WHERE namespace_id = 2")
    (flaw,) = found(path)
    assert (flaw.namespace, flaw.severity) == ("other", "error")


def test_damage_to_what_a_vacuum_kept_is_found(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        vacuum(store, "default", store.version("default"))
        assert verify(store) == []
    edit(path, "UPDATE snapshot_bullets SET data = replace(data, 'Round', 'Bound')")
    (flaw,) = found(path)
    assert flaw.text == "Bullets are stored otherwise than the journal tells: misc-00002 (1)."
    edit(path, "UPDATE snapshot_bullets SET data = '{'")
    (flaw,) = found(path)
    assert (flaw.namespace, flaw.text.startswith("It cannot be read: ")) == ("default", True)
