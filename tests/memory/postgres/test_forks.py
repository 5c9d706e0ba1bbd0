"""A process that was forked off has connections of its own, and leaves those of the other one alone."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from cheatsheet.errors import StoreError
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.postgres.postgres_neighbours import PostgresNeighbours
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from indexes.cached import CachedEmbedder
from indexes.hashing import HashingEmbedder
from tests.memory.postgres.worlds import add, change, check, contents, learn

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is forked there")

# A process with threads is warned of when it is forked; that it goes well here is what is tested.
FORKING = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def forked(work: Callable[[], object]) -> int:
    """Do work in a process that is forked off; returns its number."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def ended_well(pid: int) -> bool:
    return os.waitpid(pid, 0)[1] == 0


@FORKING
def test_all_go_on_where_a_process_is_forked(store: PostgresStore) -> None:
    learn(store, "one")

    def live(name: str) -> None:
        for number in range(10):
            learn(store, f"{name} {number}")
            assert f"{name} {number}" in contents(store)

    children = [forked(lambda name=name: live(name)) for name in ("red", "green")]  # type: ignore[misc]  # bound at once
    live("parent")
    assert [ended_well(child) for child in children] == [True, True]
    assert store.count_bullets("default") == 31
    check(store)


@FORKING
def test_a_lock_that_another_thread_holds_does_not_stop_the_process_that_is_forked_off(store: PostgresStore) -> None:
    """Its listener is not there either, nor does closing it stop what the other process builds."""
    embedder = CachedEmbedder(HashingEmbedder(dim=8), store)
    neighbours = PostgresNeighbours(store, embedder, namespace="default")
    learn(store, "one")
    red = HashingEmbedder(dim=8).embed(["two"], "query")[0]
    assert neighbours.bullets(red, 2).ids.tolist() == [1]
    there = neighbours._opened()
    assert there is not None

    def live() -> None:
        learn(store, "two")
        assert there.step.caught_up() is not None
        assert neighbours.bullets(red, 1).ids.tolist() == [2]
        neighbours.close()
        store.close()

    with held(there.step._catching_up), store.server.turn("default"), held(store._listener._lock):
        child = forked(live)
    assert ended_well(child)
    assert np.array_equal(neighbours.bullets(red, 2).ids, [2, 1])
    neighbours.close()


@contextmanager
def held(lock: threading.Lock) -> Iterator[None]:
    with lock:
        yield


@FORKING
@pytest.mark.parametrize("inside", ["commit", "pinned"])
def test_what_was_begun_before_the_fork_is_the_other_process_s(store: PostgresStore, inside: str) -> None:
    children: list[int] = []

    def then() -> list[Operation]:
        pid = os.fork()
        if pid:
            children.append(pid)
        return []

    if inside == "commit":
        try:
            store.commit("default", change(add("one")), then=then)
        except StoreError as error:
            os._exit(0 if not children and "forked off inside a change" in str(error) else 1)
    else:
        with store.pinned():
            before = store.version("default")
            then()
            if not children:
                learn(store, "beside")
            else:
                assert ended_well(children[0])
                assert store.version("default") == before
        if not children:
            os._exit(0)
    assert inside == "pinned" or ended_well(children[0])
    learn(store, "two")
    assert contents(store) == (["one", "two"] if inside == "commit" else ["beside", "two"])
    check(store)
