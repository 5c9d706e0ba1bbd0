"""What goes wrong between a store and its server: nothing is lost or stored twice, and what is told is true."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from benchmarks.perf.postgres_server import PostgresServer
from cheatsheet.errors import OperationError, StoreBusyError, StoreError, StoreReadOnlyError, StoreUnavailableError
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from tests.memory.postgres.worlds import NOW, TIMEOUT_S, add, change, check, contents, learn, outside
from tests.memory.stores import new_url

KILL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL"


def kill_all(store: PostgresStore) -> None:
    """End every connection to the server but this one, as an administrator or a failover does."""
    with outside(store) as db:
        db.execute(KILL)


@contextmanager
def statements(monkeypatch: pytest.MonkeyPatch, see: Callable[[psycopg.Connection[Any], str], None]) -> Iterator[None]:
    """Have `see` called before every statement of this process."""
    execute = psycopg.Connection.execute

    def seen(db: psycopg.Connection[Any], query: Any, *more: Any, **named: Any) -> Any:
        see(db, str(query))
        return execute(db, query, *more, **named)

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", seen)
        yield


def once(word: str, act: Callable[[psycopg.Connection[Any]], None]) -> Callable[[psycopg.Connection[Any], str], None]:
    """Acts before the first statement that begins so."""
    done: list[str] = []

    def see(db: psycopg.Connection[Any], query: str) -> None:
        if query.startswith(word) and not done:
            done.append(query)
            act(db)

    return see


def pid_of(db: psycopg.Connection[Any]) -> int:
    return db.info.backend_pid


STATEMENTS = (
    "BEGIN",
    "SELECT * FROM namespaces",
    "INSERT INTO journal",
    "INSERT INTO bullets",
    "UPDATE journal",
    "COMMIT",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_connection_that_is_lost_before_the_commit_is_a_second_try(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    learn(store, "before")

    def kill(db: psycopg.Connection[Any]) -> None:
        with psycopg.connect(store.server.address.conninfo, autocommit=True) as other:
            other.cursor().execute("SELECT pg_terminate_backend(%s, 5000)", (pid_of(db),))

    with statements(monkeypatch, once(statement, kill)):
        learn(store, "after", turn_id="t")
    assert contents(store) == ["before", "after"]
    check(store)


def test_a_commit_whose_answer_is_lost_is_not_stored_twice(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit is done, and the connection dies before it says so: the store looks before it tries again."""
    learn(store, "before")
    execute = psycopg.Connection.execute

    def lose(db: psycopg.Connection[Any]) -> None:
        execute(db, "COMMIT")
        db.close()

    with statements(monkeypatch, once("COMMIT", lose)):
        committed = store.commit("default", change(add("once")), beside=[change(turn_id="t")])
    assert contents(store) == ["before", "once"]
    assert [committed.beside[0], committed.entry] == store.journal("default")[1:]
    check(store)


def test_where_nobody_can_know_what_was_stored_it_is_said(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresStore(new_url(postgres_server), timeout_s=2)
    learn(store, "before")

    def stop(db: psycopg.Connection[Any]) -> None:
        postgres_server.tell("stop")

    with statements(monkeypatch, once("COMMIT", stop)), pytest.raises(StoreUnavailableError) as told:
        learn(store, "perhaps", turn_id="t")
    postgres_server.tell("start")
    assert "whether it was stored cannot be known" in told.value.__notes__[0]
    store.close()
    store = PostgresStore(store_url(store, postgres_server), timeout_s=TIMEOUT_S)
    assert contents(store) in (["before"], ["before", "perhaps"])
    check(store)
    store.close()


def store_url(store: PostgresStore, server: PostgresServer) -> str:
    return f"{server.url}&schema={store.server.address.schema}"


def test_a_restart_of_the_server_is_a_pause(store: PostgresStore, postgres_server: PostgresServer) -> None:
    learn(store, "before")
    with ThreadPoolExecutor(1) as pool:
        restart = pool.submit(postgres_server.tell, "restart")
        for number in range(30):
            learn(store, f"{number}", turn_id=f"t{number}")
            assert store.count_bullets("default") == number + 2
        restart.result()
    learn(store, "after")
    check(store)


@pytest.mark.parametrize("error", [psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected])
@pytest.mark.parametrize("statement", STATEMENTS[1:])
def test_a_transaction_that_is_given_up_is_tried_again(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, error: type[psycopg.Error], statement: str
) -> None:
    asked: list[int] = []

    def fail(db: psycopg.Connection[Any]) -> None:
        raise error("so that others can go on")

    def then() -> list[Operation]:
        asked.append(store.count_bullets("default"))
        return []

    with statements(monkeypatch, once(statement, fail)):
        store.commit("default", change(add("kept")), then=then)
    assert contents(store) == ["kept"]
    assert set(asked) == {1}
    check(store)


def test_two_that_wait_for_each_other_both_come_through(store: PostgresStore) -> None:
    """A real deadlock: two transactions lock two namespaces in two orders, by way of what they do inside."""
    meet = threading.Barrier(2, timeout=TIMEOUT_S)
    first = {"a": True, "b": True}

    def work(mine: str, other: str) -> None:
        def then() -> list[Operation]:
            if first.pop(mine, False):
                meet.wait()
            learn(store, f"from {mine}", namespace=other)
            return []

        store.commit(mine, change(add(f"in {mine}")), then=then)

    threads = [threading.Thread(target=work, args=pair) for pair in (("a", "b"), ("b", "a"))]
    gate = store.server.turn
    store.server.turn = lambda namespace: gate(f"{namespace} {threading.get_ident()}")  # type: ignore[method-assign]  # as in two processes
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(contents(store, "a")) == ["from b", "in a"]
    assert sorted(contents(store, "b")) == ["from a", "in b"]
    check(store)


def test_an_error_that_somebody_swallows_inside_a_commit_is_not_taken_for_success(store: PostgresStore) -> None:
    def swallow() -> list[Operation]:
        with pytest.raises(psycopg.errors.DivisionByZero):
            store.server.rows("SELECT 1 / 0")
        return []

    lived = Experience(query="a question", answer="an answer", created_at=NOW)
    with pytest.raises(StoreError, match="was not stored: its transaction had failed"):
        store.commit("default", change(experiences=(lived,)), then=swallow)
    assert store.version("default") == 0


def test_others_that_hold_the_memory_too_long_are_told_and_readers_do_not_wait(postgres_url: str) -> None:
    store = PostgresStore(postgres_url, timeout_s=0.3)
    learn(store, "one")
    with outside(store) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM namespaces FOR UPDATE")
        assert store.count_bullets("default") == 1
        with pytest.raises(StoreBusyError, match=r"held by others .* busy_timeout_s, which is 0.3"):
            learn(store, "two")
        other.execute("ROLLBACK")
    learn(store, "two")
    assert contents(store) == ["one", "two"]
    store.close()


def test_connections_are_bounded_and_waiting_for_one_is_too(postgres_url: str) -> None:
    store = PostgresStore(postgres_url, timeout_s=0.3, max_connections=2)
    held, go = threading.Semaphore(0), threading.Event()

    def hold() -> None:
        with store.pinned():
            held.release()
            go.wait()

    with ThreadPoolExecutor(2) as pool:
        holding = [pool.submit(hold) for _ in range(2)]
        for _ in holding:
            held.acquire()
        with pytest.raises(StoreBusyError, match=r"All 2 connections .* raise max_connections"):
            store.version("default")
        go.set()
    assert store.version("default") == 0
    store.close()


def test_writers_of_one_process_wait_without_a_connection_each(postgres_url: str) -> None:
    store = PostgresStore(postgres_url, timeout_s=TIMEOUT_S, max_connections=2)
    started, go = threading.Event(), threading.Event()

    def then() -> list[Operation]:
        started.set()
        go.wait()
        return []

    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(store.commit, "default", change(add("slow")), then=then)
        started.wait()
        others = [pool.submit(learn, store, f"{number}") for number in range(8)]
        assert store.count_bullets("default") == 0
        go.set()
        first.result()
        for other in others:
            other.result()
    assert store.count_bullets("default") == 9
    store.close()


def test_versions_of_a_namespace_become_visible_in_their_order(store: PostgresStore, postgres_url: str) -> None:
    """A reader that has caught up to a version has seen all before it, whoever wrote at the same moment."""
    other = PostgresStore(postgres_url, timeout_s=TIMEOUT_S)
    done = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not done.is_set():
            seen.extend(entry.version for entry in other.journal("default", after=seen[-1] if seen else 0))

    def write(writer: PostgresStore, name: str) -> None:
        for number in range(30):
            learn(writer, f"{name} {number}")
            learn(writer, "elsewhere", namespace=name)

    reader = threading.Thread(target=read)
    reader.start()
    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(write, (store, other)[n % 2], f"w{n}") for n in range(4)]:
            future.result()
    done.set()
    reader.join()
    read_late = [entry.version for entry in other.journal("default", after=seen[-1] if seen else 0)]
    assert [*seen, *read_late] == [entry.version for entry in store.journal("default")]
    assert len(store.journal("default")) == 120
    other.close()


def test_a_standby_is_read_and_says_that_it_cannot_be_written(store: PostgresStore, postgres_url: str) -> None:
    learn(store, "one")
    standby = PostgresStore(f"{postgres_url}&options=-c%20default_transaction_read_only%3Don", timeout_s=2)
    assert standby.read_only
    assert contents(standby) == ["one"]
    with pytest.raises(StoreReadOnlyError, match="connect to the primary server"):
        learn(standby, "two")
    standby.close()


def test_names_that_no_index_can_hold_are_refused(store: PostgresStore) -> None:
    with pytest.raises(OperationError, match=r"namespace 'nnn.* too long: on PostgreSQL it may have 2,000 bytes"):
        learn(store, "one", namespace="n" * 2001)
    with pytest.raises(OperationError, match=r"turn_id 'ttt.* too long"):
        learn(store, "one", turn_id="t" * 2001)
    assert learn(store, "one", namespace="🙂" * 500, turn_id="🙂" * 500)


def test_a_closed_store_says_so(store: PostgresStore) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match=r"is closed. Open it again with cheatsheet.open"):
        store.version("default")


def test_what_is_pinned_does_not_change(store: PostgresStore) -> None:
    learn(store, "one")
    with store.pinned():
        before = store.version("default")
        writer = threading.Thread(target=learn, args=(store, "two"))
        writer.start()
        writer.join()
        assert (store.version("default"), contents(store)) == (before, ["one"])
        with store.pinned():
            assert contents(store) == ["one"]
    assert contents(store) == ["one", "two"]


def test_every_idle_connection_may_be_gone(store: PostgresStore) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: learn(store, f"{n}"), range(6)))
    kill_all(store)
    start = time.monotonic()
    assert store.count_bullets("default") == 6
    learn(store, "more")
    assert time.monotonic() - start < TIMEOUT_S
    check(store)
