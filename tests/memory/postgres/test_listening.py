"""Messages of commits: they let a program catch up before it is asked, and nothing depends on them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from cheatsheet.errors import OperationError, StoreError
from cheatsheet.memory.postgres import listening
from cheatsheet.memory.postgres.postgres_neighbours import PostgresNeighbours
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from indexes.cached import CachedEmbedder
from indexes.hashing import HashingEmbedder
from tests.memory.postgres.worlds import TIMEOUT_S, learn, outside


class Heard:
    """Versions that were called, one after the other."""

    def __init__(self) -> None:
        self.versions: list[int] = []
        self._changed = threading.Condition()

    def __call__(self, version: int) -> None:
        with self._changed:
            self.versions.append(version)
            self._changed.notify_all()

    def until(self, version: int) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: version in self.versions, timeout=TIMEOUT_S)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "_GATHER_S", 0.01)
    monkeypatch.setattr(listening, "_LOOK_S", 0.05)
    monkeypatch.setattr(listening, "_PAUSE_S", 0.05)


@pytest.fixture
def other(postgres_url: str) -> Iterator[PostgresStore]:
    """Another process's store of the same memory."""
    other = PostgresStore(postgres_url, timeout_s=TIMEOUT_S)
    yield other
    other.close()


@pytest.mark.parametrize("namespace", ["default", "of somebody else's \x00 '; NOTIFY"])
def test_a_commit_of_another_process_is_heard(store: PostgresStore, other: PostgresStore, namespace: str) -> None:
    first = learn(other, "before anybody listened", namespace=namespace)
    heard = Heard()
    store.on_commit(namespace, heard)
    assert heard.until(first)
    assert heard.until(learn(other, "one", namespace=namespace))
    learn(other, "elsewhere", namespace="another")
    last = learn(other, "two", namespace=namespace)
    assert heard.until(last)
    assert heard.versions == sorted(heard.versions)
    store.off_commit(heard)
    learn(other, "three", namespace=namespace)
    assert heard.versions[-1] == last


def test_it_listens_again_after_its_connection_was_lost(store: PostgresStore, other: PostgresStore) -> None:
    heard = Heard()
    store.on_commit("default", heard)
    assert heard.until(learn(other, "one"))
    with outside(other) as db:
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
    assert heard.until(learn(other, "two"))


def test_what_is_no_message_of_ours_and_a_call_that_fails_do_no_harm(
    store: PostgresStore, other: PostgresStore
) -> None:
    heard = Heard()

    def fail(version: int) -> None:
        raise OperationError("cannot")

    store.on_commit("default", fail)
    store.on_commit("default", heard)
    with outside(other) as db:
        for payload in ("", "x default", "7"):
            db.execute("SELECT pg_notify(%s, %s)", (store._listener._channel, payload))
    assert heard.until(learn(other, "one"))


def test_a_call_that_fails_in_a_way_of_its_own_does_not_end_the_listening(
    store: PostgresStore, other: PostgresStore
) -> None:
    """As of a model of somebody else's that cannot be reached."""
    heard = Heard()

    def fail(version: int) -> None:
        raise ConnectionError("no network")

    store.on_commit("default", fail)
    store.on_commit("default", heard)
    assert heard.until(learn(other, "one"))
    assert heard.until(learn(other, "two"))


def test_on_a_standby_nobody_listens(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    execute = psycopg.Connection.execute

    def refused(db: psycopg.Connection[Any], query: Any, *more: Any, **named: Any) -> Any:
        if "LISTEN" in str(query):
            raise psycopg.errors.ReadOnlySqlTransaction("cannot execute LISTEN during recovery")
        return execute(db, query, *more, **named)

    monkeypatch.setattr(psycopg.Connection, "execute", refused)
    store.on_commit("default", Heard())
    thread = store._listener._thread
    assert thread is not None
    thread.join(TIMEOUT_S)
    assert not thread.is_alive()


def test_closing_does_not_wait_for_a_server_that_is_away(
    store: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is being caught up with asks again and again until the time is over, or the memory is closed."""
    asking, answer = threading.Event(), threading.Event()

    def ask(version: int) -> None:
        asking.set()
        with suppress(StoreError):
            store.server._again(lost)
        answer.set()

    def lost(db: object) -> int:
        raise psycopg.OperationalError("the server is away")

    monkeypatch.setattr(listening, "_CLOSE_S", TIMEOUT_S)
    store.on_commit("default", ask)
    learn(other, "one")
    assert asking.wait(TIMEOUT_S)
    store.server.timeout_s = 1_000
    store.close()
    assert answer.is_set()


def test_vectors_are_brought_to_the_server_before_anybody_asks(store: PostgresStore, other: PostgresStore) -> None:
    neighbours = PostgresNeighbours(store, CachedEmbedder(HashingEmbedder(dim=8), store), namespace="default")
    learn(other, "one")
    red = HashingEmbedder(dim=8).embed(["one"], "query")[0]
    assert neighbours.bullets(red, 1).ids.tolist() == [1]
    done = Heard()
    store.on_commit("default", done)  # called after the neighbours, which came first
    version = learn(other, "two")
    assert done.until(version)
    there = neighbours._opened()
    assert there is not None
    state = there.step.state()
    assert state is not None
    assert state.reached == version
    neighbours.close()


def test_a_commit_does_not_depend_on_its_message(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening.Listener, "_channel", "a name that is too long for PostgreSQL " * 9)
    assert learn(store, "one") == store.version("default")
    assert learn(store, "two") == store.version("default")
