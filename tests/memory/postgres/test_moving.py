"""A memory that is moved is the same memory: its bullets, its past, its ids and its marks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.perf.postgres_server import PostgresServer
from cheatsheet.errors import SetupError, StoreCorruptError
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.history.blame import blame
from cheatsheet.memory.history.past import roll_back
from cheatsheet.memory.moving import tables
from cheatsheet.memory.moving.move import Moved, move
from cheatsheet.memory.operations import Operation, Remove, Tag
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.upkeep.vacuum import vacuum
from cheatsheet.memory.upkeep.verify import verify
from indexes.cached import CacheKey
from tests.memory.postgres.worlds import NOW, add, change
from tests.memory.stores import Place, new_url
from tests.memory.strategies import operations

SPACES = ("default", "a\x00'; DROP TABLE bullets; --", "🙂")


def told(store: MemoryStore) -> dict[str, Any]:
    """All that can be asked of a memory, by namespace."""
    return {name: _told(store, name) for name in store.namespaces()}


def _told(store: MemoryStore, name: str) -> Mapping[str, Any]:
    journal = store.journal(name)
    bullets = store.bullets(name, status=None)
    return {
        "version": store.version(name),
        "journal": journal,
        "marks": [store.mark(name, entry.version) for entry in journal],
        "bullets": bullets,
        "blame": [blame(store, name, bullet.id) for bullet in store.bullets(name)],
        "orders": [store.bullets(name, order=order) for order in ("utility", "worst", "recent", "expiring")],
        "experiences": store.experiences(name, status=None),
        "standings": store.standings(name),
        "sums": (store.count_bullets(name), store.sheet_tokens(name), store.count_experiences(name)),
        "next": store.next_numbers(name),
        "touched": store.touched(name, after=0),
        "snapshot": store.snapshot(name),
    }


def lived(query: str) -> Experience:
    return Experience(query=query, answer="an \x00 answer", created_at=NOW)


def worn(store: MemoryStore) -> None:
    """A memory with some of everything."""
    for name in SPACES:
        more = {"turn_id": "t\x00\x01", "record": {"r": "\x00"}, "model": "m", "mode": "retrieval"}
        store.commit(name, change(add(f"one of {name}"), add("two"), experiences=(lived("q\x00"), lived("r")), **more))
        store.commit(name, change(Tag(id="misc-00001", uses=1, helpful=1), Tag(id="exp-00001", uses=1)))
        store.commit(name, change(Remove(id="misc-00002", reason="\x00"), Remove(id="exp-00002"), notes=("a note",)))
    roll_back(store, "default", store.journal("default")[0].version, at=NOW)
    for _ in range(3):
        store.commit("🙂", change(Tag(id="misc-00001", uses=1)))
    vacuum(store, "🙂", store.version("🙂"))
    store.put_many({CacheKey("m", "document", "ab" * 32): np.array([1, 0], dtype=np.float32)})
    store.commit("🙂", change(Tag(id="misc-00001", uses=1)))  # a few vectors wait for the next commit


@pytest.fixture
def places(postgres_server: PostgresServer, tmp_path: Path) -> Iterator[Sequence[Place]]:
    """A file, a server and another file, none of them made yet."""
    places = [
        Place("file", str(tmp_path / "one.db")),
        Place("postgres", new_url(postgres_server)),
        Place("file", str(tmp_path / "two.db")),
    ]
    yield places
    for place in places:
        place.close()


def test_there_and_back_everything_is_the_same_and_goes_on(places: Sequence[Place]) -> None:
    worn(places[0].open())
    before = told(places[0].open())
    assert set(before) == set(SPACES)
    seen: list[tuple[int, int]] = []
    for source, target in pairwise(places):
        moved = move(source.address, target.address, told=lambda done, total: seen.append((done, total)))
        assert moved == Moved(namespaces=3, entries=len_of(before), bullets=6, experiences=6, embeddings=1)
        store = target.open()
        assert told(store) == before
        assert store.get_many([CacheKey("m", "document", "ab" * 32)])
        assert store.matching_bullets("default", "one", 5) == [1]
    assert seen[-1][0] == seen[-1][1] == max(done for done, _ in seen)
    for place in places:
        store = place.open()
        learn_on(store, before)
        assert verify(store) == []


def len_of(before: Mapping[str, Any]) -> int:
    return sum(len(space["journal"]) for space in before.values())


def learn_on(store: MemoryStore, before: Mapping[str, Any]) -> None:
    """New numbers and versions follow the old ones, a turn is learnt once, and the past can come back."""
    newest = max(space["version"] for space in before.values())
    entry = store.commit("default", change(add("new"), experiences=(lived("s"),))).entry
    assert entry.version > newest
    assert entry.experience_ids == ("exp-00003",)
    assert store.bullet("default", "misc-00003") is not None
    first = store.journal("default")[0].version
    roll_back(store, "default", first, at=NOW)
    assert [bullet.content for bullet in store.bullets("default")] == ["one of default", "two"]
    assert store.commit("new", change(add("another namespace"))).entry.version > entry.version


batches = st.lists(st.tuples(st.lists(operations(), max_size=4), st.integers(0, 1)), min_size=1, max_size=4)


@settings(max_examples=8)
@given(batches=batches)
def test_any_memory_comes_back_as_it_was(
    postgres_server: PostgresServer,
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[tuple[list[Operation], int]],
) -> None:
    """SQLite, PostgreSQL, PostgreSQL, SQLite."""
    folder = tmp_path_factory.mktemp("moving")
    places = [str(folder / "one.db"), new_url(postgres_server), new_url(postgres_server), str(folder / "two.db")]
    store: MemoryStore = SqliteStore(places[0])
    for number, (batch, turns) in enumerate(batches):
        store.commit(f"{number % 2}", change(*batch, experiences=(lived(f"q{number}"),) * turns))
    before = told(store)
    store.close()
    for source, target in pairwise(places):
        move(source, target)
    for place in places[1:]:
        store = PostgresStore(place) if place.startswith("postgresql") else SqliteStore(place)
        assert told(store) == before
        store.close()


def test_a_target_that_is_not_empty_is_refused_and_left_as_it_is(places: Sequence[Place]) -> None:
    for place, content in zip(places, ("one", "two", "three"), strict=True):
        place.open().commit("default", change(add(content)))
    for source, target in ((places[0], places[1]), (places[1], places[2]), (places[2], places[0])):
        before = told(target.open())
        with pytest.raises(SetupError, match=r"holds a memory already. Move to a"):
            move(source.address, target.address)
        assert told(target.open()) == before


@pytest.mark.parametrize("direction", [(0, 1), (1, 2)])
def test_a_move_that_is_stopped_leaves_the_target_empty(
    places: Sequence[Place], monkeypatch: pytest.MonkeyPatch, direction: tuple[int, int]
) -> None:
    source, target = (places[number] for number in direction)
    worn(source.open())
    before = told(source.open())

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move(source.address, target.address, told=stop)
    assert list(target.open().namespaces()) == []
    move(source.address, target.address)
    assert told(target.open()) == before


def test_a_move_goes_on_where_the_connection_to_the_server_is_lost(places: Sequence[Place]) -> None:
    worn(places[0].open())
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        if not killed:
            server = places[1].address.rpartition("&schema=")[0]
            with psycopg.connect(server, autocommit=True) as db:
                query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state LIKE 'idle in tr%'"
                killed.append(db.execute(query).rowcount)

    move(places[0].address, places[1].address, told=kill)
    assert killed[0] >= 1
    assert told(places[1].open()) == told(places[0].open())


def test_a_move_whose_commit_is_not_answered_is_looked_for(
    places: Sequence[Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there, and not taken for somebody else's memory."""
    worn(places[0].open())
    execute = psycopg.Connection.execute
    lost: list[str] = []

    def lose(db: psycopg.Connection[Any], query: Any, *more: Any, **named: Any) -> Any:
        done = execute(db, query, *more, **named)
        if query == "COMMIT" and not lost:
            lost.append(query)
            db.close()
            raise psycopg.OperationalError("the connection is lost")
        return done

    PostgresStore(places[1].address).close()  # so that the first commit is that of the move
    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", lose)
        move(places[0].address, places[1].address)
    assert lost
    assert told(places[1].open()) == told(places[0].open())


def test_what_is_learnt_meanwhile_stays_in_the_source(places: Sequence[Place]) -> None:
    source = places[0].open()
    worn(source)
    before = told(source)

    def learn_more(done: int, total: int) -> None:
        if done == total:
            source.commit("default", change(add("too late")))

    move(places[0].address, places[1].address, told=learn_more)
    assert told(places[1].open()) == before
    assert told(source) != before


def test_a_damaged_memory_is_not_moved(places: Sequence[Place]) -> None:
    learn_into = places[0].open()
    learn_into.commit("default", change(add("one")))
    learn_into.close()
    with sqlite3.connect(places[0].address) as db:
        db.execute("UPDATE bullets SET content = 'other words'")
    db.close()
    with pytest.raises(StoreCorruptError, match=r"is damaged: .* Nothing was moved"):
        move(places[0].address, places[2].address)
    assert not Path(places[2].address).exists()


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        ("nowhere.db", "two.db", "There is no memory file"),
        (":memory:", "two.db", "in RAM"),
        ("one.db", ":memory:", "in RAM"),
    ],
)
def test_what_cannot_be_moved_is_told(tmp_path: Path, source: str, target: str, sentence: str) -> None:
    SqliteStore(tmp_path / "one.db").close()
    source, target = (name if name.startswith(":") else str(tmp_path / name) for name in (source, target))
    with pytest.raises(SetupError, match=sentence):
        move(source, target)
    assert not (tmp_path / "nowhere.db").exists()


def test_every_table_and_column_of_a_file_is_moved_or_worked_out_anew(tmp_path: Path) -> None:
    """A column that a later version adds must not be forgotten here."""
    worked_out = {"namespaces": {"active_bullets", "active_tokens", "active_experiences"}}
    SqliteStore(tmp_path / "one.db").close()
    db = sqlite3.connect(tmp_path / "one.db")
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert {name for name in names if not name.startswith("sqlite_")} == set(tables.TABLES)
    for table, columns in tables.TABLES.items():
        there = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
        assert there == set(columns) | worked_out.get(table, set())
    db.close()


def test_counts_are_told_as_they_are(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "one.db")
    store.commit("default", change(add("one")))
    store.close()
    moved = move(str(tmp_path / "one.db"), str(tmp_path / "two.db"))
    assert asdict(moved) == {"namespaces": 1, "entries": 1, "bullets": 1, "experiences": 0, "embeddings": 0}
