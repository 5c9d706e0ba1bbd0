"""Words in a SQLite file: made when they are needed, kept in step by whoever writes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import SettingsError, StoreReadOnlyError
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.sqlite import sqlite_words
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.memory.search.worlds import NOW, add

TEXTS = st.sampled_from(["alpha beta", "beta", "gamma alpha alpha", "遇到ORA-1时", "在ORA-2里beta", "naïve Σίσυφος"])
ASKED = ("alpha beta", "gamma", "ora-1", "ora", "naive σισυφος")


def commit(store: SqliteStore, *operations: Operation) -> None:
    store.commit("default", Change(at=NOW, cause="user", operations=operations))


def objects(path: Path) -> list[str]:
    """Names of all tables and triggers of words in a file."""
    with closing(sqlite3.connect(path)) as db:
        query = "SELECT name FROM sqlite_master WHERE name GLOB 'words_*' OR name GLOB 'pieces_*' ORDER BY name"
        return [name for (name,) in db.execute(query)]


def test_whoever_never_looks_for_words_has_no_table_of_them(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store:
        commit(store, add("alpha beta"))
        store.matching_bullets("default", "?!", 5)
        assert objects(path) == []
        store.matching_bullets("default", "alpha", 5)
        made = objects(path)
        store.matching_bullets("default", "beta", 5)
    assert made == objects(path)
    assert {"words_of_bullets_1", "words_of_bullets_1_added", "pieces_of_bullets_1"} <= set(made)
    assert not [name for name in made if "experiences" in name]


def test_a_program_that_knows_nothing_of_words_keeps_them_in_step(tmp_path: Path) -> None:
    """As an older version: the triggers are in the file."""
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store:
        commit(store, add("alpha"), add("beta"), add("在ORA-7里"))
        assert sorted(store.matching_bullets("default", "alpha beta ora-7", 5)) == [1, 2, 3]
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE bullets SET content = 'gamma' WHERE number = 1")
            db.execute("UPDATE bullets SET status = 'archived' WHERE number = 2")
            db.execute("DELETE FROM bullets WHERE number = 3")
        assert store.matching_bullets("default", "alpha beta ora-7", 5) == []
        assert store.matching_bullets("default", "gamma", 5) == [1]


@settings(max_examples=40)
@given(
    before=st.lists(TEXTS, max_size=4),
    changes=st.lists(st.tuples(st.sampled_from("auxrt"), st.integers(1, 5), TEXTS), max_size=12),
)
def test_kept_in_step_is_made_anew(before: list[str], changes: list[tuple[str, int, str]]) -> None:
    """After whatever changes, the triggers have done what making the tables would do."""
    with closing(SqliteStore()) as kept, closing(SqliteStore()) as made:
        kept.matching_bullets("default", "alpha", 5)
        for store in (kept, made):
            commit(store, *map(add, before or ["alpha"]))
        kept.matching_bullets("default", "alpha", 5)
        for kind, number, text in changes:
            id = f"misc-{number:05}"
            operations: dict[str, Operation] = {
                "a": add(text),
                "u": Update(id=id, content=text),
                "x": Remove(id=id),
                "r": Restore(id=id),
                "t": Tag(id=id, uses=1),
            }
            for store in (kept, made):
                commit(store, operations[kind])
        for asked in ASKED:
            assert kept.matching_bullets("default", asked, 9) == made.matching_bullets("default", asked, 9)


def test_a_memory_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        commit(store, add("alpha"))
        store._connections.read_only = True
        with pytest.raises(StoreReadOnlyError, match="Open it once with search='hybrid' where it can be written"):
            store.matching_bullets("default", "alpha", 5)
        store._connections.read_only = False
        store.matching_bullets("default", "alpha", 5)
        store._connections.read_only = True
        assert store.matching_bullets("default", "alpha", 5) == [1]


def test_a_sqlite_without_full_text_search_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_words, "_MAKE", ("CREATE VIRTUAL TABLE {words} USING fts5_not_built_in (text)",))
    with closing(SqliteStore()) as store:
        commit(store, add("alpha"))
        with pytest.raises(
            SettingsError, match=r"lacks FTS5 .* Use a Python whose SQLite has both, or search='vectors'"
        ):
            store.matching_bullets("default", "alpha", 5)


def test_frequent_words_are_left_out_before_rare_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_words, "MOST_ROWS", 4)
    with closing(SqliteStore()) as store:
        commit(store, *(add(f"frequent {n}") for n in range(10)), add("rare alpha"), add("rare beta"))
        assert store.matching_bullets("default", "frequent rare", 50) == [11, 12]
        assert store.matching_bullets("default", "frequent alpha rare", 50) == [11, 12]
        assert len(store.matching_bullets("default", "frequent", 50)) == 10


def test_a_word_that_is_a_piece_of_another_is_not_it() -> None:
    """Only a text without spaces is looked into."""
    with closing(SqliteStore()) as store:
        commit(store, add("page 14229"), add("at page 422"), add("第14229页"))
        assert store.matching_bullets("default", "422", 5) == [2, 3]


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (["DELETE FROM words_of_bullets_1_data"], "words_of_bullets_1 cannot be searched"),
        (
            ["DROP TRIGGER words_of_bullets_1_changed", "UPDATE bullets SET status = 'active' WHERE number = 3"],
            "words_of_bullets_1 are those of 2 texts; there are 3",
        ),
        (["DELETE FROM pieces_of_bullets_1_docsize"], "pieces_of_bullets_1 are those of 0 texts; there are 1"),
    ],
    ids=["damaged", "a trigger that is gone", "of a script without spaces"],
)
def test_words_that_are_damaged_or_out_of_step_are_found_by_verify(tmp_path: Path, harm: list[str], told: str) -> None:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        commit(store, add("alpha beta"), add("在ORA-7里"), add("gamma"))
        commit(store, Remove(id="misc-00003"))
        store.matching_bullets("default", "alpha", 5)
        assert store.faults() == []
    with closing(sqlite3.connect(tmp_path / "memory.db")) as db, db:
        for statement in harm:
            db.execute(statement)
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        assert any(told in fault for fault in store.faults())
