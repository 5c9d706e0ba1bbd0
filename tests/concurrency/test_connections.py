"""One file, many threads and processes: who waits for whom, how long, and what a fork leaves."""

from __future__ import annotations

import logging
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import StoreBusyError, StoreError
from cheatsheet.memory.sqlite import connections
from cheatsheet.memory.sqlite.connections import Connections
from cheatsheet.memory.sqlite.readers import MOST_IDLE
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.concurrency.worlds import add, at_once, change, heard, program


@pytest.fixture
def store(memory_file: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(memory_file, busy_timeout_s=5.0)
    yield opened
    opened.close()


def log_of(store: SqliteStore) -> int:
    return Path(f"{store.path}-wal").stat().st_size


# The file


def test_the_file_stays_the_same_whatever_folder_the_process_goes_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = SqliteStore("memory.db")
    store.commit("default", change(add("one")))
    monkeypatch.chdir("elsewhere")
    with store.pinned():  # so that the other thread needs a new connection
        assert at_once(lambda: store.count_bullets("default")) == [1]
    store.commit("default", change(add("two")))
    store.close()
    assert not list(Path().iterdir())
    with closing(SqliteStore(tmp_path / "memory.db")) as again:
        assert again.count_bullets("default") == 2


@pytest.mark.parametrize("deed", ["deleted", "replaced"])
def test_a_file_that_is_gone_is_told_and_not_written_to(memory_file: Path, store: SqliteStore, deed: str) -> None:
    """What is open goes on without the name, and a log without its file: what is acknowledged then would be lost."""
    store.commit("default", change(add("one")))
    with closing(SqliteStore(memory_file.with_name("other.db"))) as other:
        other.commit("default", change(add("of another memory")))
    if deed == "deleted":
        memory_file.unlink()
    else:
        memory_file.with_name("other.db").replace(memory_file)
    for use in (lambda: store.commit("default", change(add("two"))), lambda: store.count_bullets("default")):
        with pytest.raises(
            StoreError, match=r"moved, deleted or replaced while it was open. Nothing was read or written"
        ):
            use()
    store.close()
    assert memory_file.exists() == (deed == "replaced")
    for log in memory_file.parent.glob("*-wal"):
        log.unlink()
    if deed == "replaced":
        with closing(SqliteStore(memory_file)) as again:
            assert [bullet.content for bullet in again.bullets("default")] == ["of another memory"]


# Waiting


@pytest.mark.parametrize("place", ["file", "memory"])
def test_a_thread_waits_for_another_one_only_so_long(memory_file: Path, place: str) -> None:
    store = SqliteStore(memory_file if place == "file" else ":memory:", busy_timeout_s=0.05)
    told = r"Other threads .* for 0\.05 s\. Try again, or raise busy_timeout_s"
    with store._connections.write(), pytest.raises(StoreBusyError, match=told):
        at_once(lambda: store.commit("default", change(add("late"))))
    store.commit("default", change(add("in time")))
    assert [bullet.content for bullet in store.bullets("default")] == ["in time"]
    store.close()


def test_a_process_waits_for_another_one_only_so_long(memory_file: Path, store: SqliteStore) -> None:
    other = SqliteStore(memory_file, busy_timeout_s=0.05)
    with store._connections.write(), pytest.raises(StoreBusyError, match="locked by another process"):
        other.commit("default", change(add("late")))
    assert other.commit("default", change(add("in time"))).entry.version == 1
    other.close()


def test_a_writer_goes_on_as_soon_as_another_process_has_done(memory_file: Path, store: SqliteStore) -> None:
    other = SqliteStore(memory_file, busy_timeout_s=30.0)
    with store._connections.write() as db:
        db.execute("INSERT INTO namespaces (name) VALUES ('first')")
        writing = threading.Thread(target=other.commit, args=("second", change(add("x"))))
        writing.start()
    writing.join()
    assert store.namespaces() == ["first", "second"]
    other.close()


def test_readers_do_not_wait_for_a_writer_and_see_what_was_committed(store: SqliteStore) -> None:
    store.commit("default", change(add("one")))
    with store._connections.write() as db:
        db.execute("UPDATE bullets SET content = 'half written'")
        assert store.bullets("default")[0].content == "half written", "the thread that writes sees what it wrote"
        seen = at_once(*[lambda: store.bullets("default")[0].content] * 3)
        raised = RuntimeError("the writer gives up")
        assert seen == ["one"] * 3
        with pytest.raises(RuntimeError):
            raise raised


def test_a_transaction_inside_another_one_is_refused(store: SqliteStore) -> None:
    with store._connections.write(), pytest.raises(RuntimeError, match="cannot begin inside another"):
        store.commit("default", change(add("x")))
    assert store.version("default") == 0


HOLDER = """
import sys
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
store = SqliteStore(sys.argv[1])
with store._connections.write() as db:
    db.execute("INSERT INTO namespaces (name) VALUES ('never there')")
    print("writing", flush=True)
    input()
"""


def test_a_process_that_is_killed_while_it_writes_is_in_nobody_s_way(memory_file: Path, store: SqliteStore) -> None:
    with program(HOLDER, str(memory_file)) as child:
        assert heard(child) == "writing"
        child.kill()
        assert child.wait() == -signal.SIGKILL
        store.commit("default", change(add("x")))
    assert store.namespaces() == ["default"]


@pytest.mark.parametrize("step", range(1, 7))  # then it has the lock itself
def test_a_new_file_may_be_made_by_another_process_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """What another one is making is not taken for the file of another program."""
    path, connect = tmp_path / "memory.db", sqlite3.connect
    left = step

    class Overtaken(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            nonlocal left
            left -= 1
            if left == 0:
                monkeypatch.setattr(sqlite3, "connect", connect)
                SqliteStore(path).close()
            return super().execute(sql, *values)

    monkeypatch.setattr(sqlite3, "connect", partial(connect, factory=Overtaken))
    store = SqliteStore(path)
    assert left <= 0
    assert store.commit("default", change(add("x"))).entry.version == 1
    store.close()


# Reading


def test_what_is_pinned_is_of_one_version(store: SqliteStore) -> None:
    store.commit("default", change(add("one")))
    with store.pinned():
        assert store.version("default") == 1
        at_once(lambda: store.commit("default", change(add("two"))))
        assert (store.version("default"), store.count_bullets("default")) == (1, 1)
        store.commit("default", change(add("three")))  # a thread may write while it reads what was
        with store.pinned():
            assert [bullet.content for bullet in store.bullets("default")] == ["one"]
    assert store.count_bullets("default") == 3
    with store._connections.write(), store.pinned():
        assert store.version("default") == 3


def test_few_connections_are_kept(store: SqliteStore) -> None:
    many = threading.Barrier(MOST_IDLE + 4)

    def read() -> None:
        with store._connections.read():
            many.wait()

    at_once(*[read] * (MOST_IDLE + 4))
    assert len(store._connections._readers._idle) == MOST_IDLE
    assert store._connections._readers._lent == 0


# The log


def test_a_log_begins_anew_once_nobody_needs_it(memory_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "LONG_LOG", 30_000)
    store = SqliteStore(memory_file)
    with store.pinned():
        store.version("default")
        for number in range(10):
            store.commit("default", change(add(f"advice {number}")))
        assert log_of(store) > 30_000, "who reads an old version needs it"
        assert store.version("default") == 0
    lengths = []
    for number in range(10):
        store.commit("default", change(add(f"more advice {number}")))
        lengths.append(log_of(store))
    assert 0 in lengths
    assert store.count_bullets("default") == 20
    store.close()


def test_a_log_that_cannot_begin_anew_fails_no_commit(
    memory_file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "LONG_LOG", 1)
    store = SqliteStore(memory_file)

    def refuse(action: int, name: str | None, *rest: object) -> int:
        return sqlite3.SQLITE_DENY if name == "wal_checkpoint" else sqlite3.SQLITE_OK

    store._connections._writer.set_authorizer(refuse)
    with caplog.at_level(logging.WARNING, "cheatsheet"):
        store.commit("default", change(add("x")))
    assert "could not be moved into it, and is kept" in caplog.text
    assert store.count_bullets("default") == 1
    store.close()


# Forking


FORKED = """
import os, sys
sys.path.insert(0, os.getcwd())
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.concurrency.worlds import add, change

store = SqliteStore(sys.argv[1])
store.commit("default", change(add("before")))
store.count_bullets("default")
to_child, to_parent = os.pipe(), os.pipe()
if os.fork() == 0:
    store.commit("default", change(add("of the child")))
    os.write(to_parent[1], b"x")
    os.read(to_child[0], 1)
    store.commit("default", change(add("of the child, later")))
    os._exit(store.count_bullets("default"))
os.read(to_parent[0], 1)
store.commit("default", change(add("of the parent")))
store.close()
os.write(to_child[1], b"x")
print(os.waitstatus_to_exitcode(os.wait()[1]))
print(SqliteStore(sys.argv[1]).count_bullets("default"))
"""


def test_a_process_that_is_forked_off_writes_into_the_same_memory(memory_file: Path) -> None:
    """With a connection that was open at the fork, the parent's closing would delete the log under the child."""
    with program(FORKED, str(memory_file)) as child:
        assert [heard(child), heard(child)] == ["4", "4"]


FORKED_WHILE_READING = """
import os, sys, threading
sys.path.insert(0, os.getcwd())
from cheatsheet.memory.sqlite import connections
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.concurrency.worlds import add, change

connections.FORK_WAIT_S = 0.05
store, going, done = SqliteStore(sys.argv[1]), threading.Event(), threading.Event()
store.commit("default", change(add("before")))

def read():
    with store.pinned():
        going.set()
        done.wait()

reading = threading.Thread(target=read)
reading.start()
going.wait()
if os.fork() == 0:
    for use in (lambda: store.commit("default", change(add("x"))), lambda: SqliteStore(sys.argv[1])):
        try:
            use()
        except Exception as error:
            print(error, flush=True)
    os._exit(0)
os.wait()
done.set()
reading.join()
store.commit("default", change(add("after")))
print(store.count_bullets("default"))
"""


def test_a_memory_that_was_in_use_at_the_fork_is_refused_in_the_new_process(memory_file: Path) -> None:
    with program(FORKED_WHILE_READING, str(memory_file)) as child:
        refused = [heard(child), heard(child)]
        assert heard(child) == "2"
    assert all("was being read or written by another thread when this process was forked off" in r for r in refused)
    assert all("'spawn' or 'forkserver'" in sentence for sentence in refused)


FORKED_IN_MEMORY = """
import os, sys
sys.path.insert(0, os.getcwd())
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.concurrency.worlds import add, change

store = SqliteStore(":memory:")
store.commit("default", change(add("before")))
if os.fork() == 0:
    store.commit("default", change(add("of the child")))
    os._exit(store.count_bullets("default"))
print(os.waitstatus_to_exitcode(os.wait()[1]), store.count_bullets("default"))
"""


def test_a_memory_in_ram_becomes_two_at_a_fork() -> None:
    with program(FORKED_IN_MEMORY) as child:
        assert heard(child) == "2 1"


def test_closing_waits_for_who_writes_and_happens_once(memory_file: Path) -> None:
    opened = Connections(str(memory_file), synchronous="full", busy_timeout_s=5.0)
    closing = threading.Thread(target=opened.close)
    with opened.write() as db:
        closing.start()
        db.execute("INSERT INTO namespaces (name) VALUES ('kept')")
        assert closing.is_alive()
    closing.join()
    opened.close()
    again = SqliteStore(memory_file)
    assert again.namespaces() == ["kept"]
    again.close()
