"""N1 to N4: an index in this process finds what is in the store, whoever wrote it and whoever searches beside it."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.search import in_step
from cheatsheet.memory.search.local import LocalNeighbours
from cheatsheet.memory.sqlite.connections import Connections
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from indexes.embedder import TextKind
from indexes.exact import ExactIndex
from indexes.hashing import HashingEmbedder
from indexes.vectors import Matrix
from tests.memory.search.worlds import DIM, NOW, GatedEmbedder, Pairs, World, add, numbers

IN_SQLITE = pytest.mark.parametrize("where", ["file", "memory"])


def world_at(where: str, tmp_path: Path, embedder: HashingEmbedder | None = None) -> World:
    return World(tmp_path / "memory.db" if where == "file" else ":memory:", embedder=embedder)


@contextmanager
def held(world: World, search: Callable[[], Pairs]) -> Iterator[Future[Pairs]]:
    """A search in another thread, which stands in the embedder while the block lasts."""
    embedder = world.embedder._inner
    assert isinstance(embedder, GatedEmbedder)

    def held_search() -> Pairs:
        embedder.hold()
        return search()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(held_search)
        try:
            assert embedder.entered.wait(60)
            yield future
        finally:
            embedder.gate.set()


# N1 to N3


def test_n1_the_store_of_another_process_is_seen_at_once(tmp_path: Path) -> None:
    """F14: an index that is behind catches up before it answers."""
    one, two = World(tmp_path / "memory.db"), World(tmp_path / "memory.db")
    one.learn("check the units", "round at the end", queries=["how heavy"])
    assert numbers(two.bullets("check the units", 1)) == [1]
    one.commit(Update(id="misc-00002", content="check the dates"), Remove(id="misc-00001"))
    one.learn(queries=["how long"])
    for world in (one, two):
        world.check("check the units", "check the dates", "how long")
    one.commit(Restore(id="misc-00001"), Remove(id="exp-00001"))
    for world in (one, two):
        world.check("check the units", "how heavy")


def test_n1_what_was_removed_leaves_no_hole() -> None:
    """F08, F15: what is not served takes up no place among the k, and a thousand removals are one catching up."""
    world = World()
    world.learn(*(f"check the units of part {n}" for n in range(60)), "something else")
    assert len(world.bullets("check the units of part 1", 3)) == 3
    world.commit(*(Remove(id=f"misc-{n:05}") for n in range(1, 58)))
    assert numbers(world.bullets("check the units of part 1", 5)) == numbers(world.right_bullets("check the units"))[:5]
    assert len(world.bullets("check the units of part 1", 5)) == 4


def test_n2_no_k_no_hits() -> None:
    world = World()
    assert world.bullets("anything") == world.experiences("anything") == []
    world.learn("check the units")
    assert world.bullets("check the units", 0) == world.bullets("check the units", -3) == []


def test_n3_each_text_is_embedded_once_and_only_what_changed_after_that() -> None:
    world = World()
    world.learn(*(f"advice {n}" for n in range(300)))
    world.bullets("advice 7")
    embedded = world.embedder.misses
    world.learn("one more")
    world.commit(Tag(id="misc-00001", helpful=1))
    world.bullets("advice 7")
    assert world.embedder.misses == embedded + 1


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts under `sqlite` the steps of SQLite's virtual machine: some for every row that it reads."""
    counted: Counter[str] = Counter()
    connect = Connections._connect

    def counting(self: Connections) -> sqlite3.Connection:
        connection = connect(self)
        connection.set_progress_handler(lambda: counted.update(["sqlite"]), 1)
        return connection

    monkeypatch.setattr(Connections, "_connect", counting)
    return counted


@pytest.mark.usefixtures("kept_when_small")
def test_neither_a_turn_nor_an_opening_costs_more_in_a_large_memory(tmp_path: Path, steps: Counter[str]) -> None:
    """Only what changed is read and embedded, and with a saved index nothing else is when a memory is opened."""

    def cost(rows: int) -> list[tuple[int, int]]:
        path, costs = tmp_path / f"{rows}.db", []
        world = World(path, keep=True)
        world.learn(*(f"advice {n}" for n in range(rows)))
        vector = world.vector("advice 7")
        world.neighbours.bullets(vector, 3)
        world.learn("one more")
        for _ in range(2):
            steps.clear()
            before = world.embedder.hits + world.embedder.misses
            world.neighbours.bullets(vector, 3)
            costs.append((steps["sqlite"], world.embedder.hits + world.embedder.misses - before))
            world.close()
            world = World(path, keep=True)
        world.close()
        return costs

    caught_up, opened = cost(20)
    assert (caught_up[1], opened[1]) == (1, 0)
    assert cost(2_000) == [caught_up, opened]


def test_a_mode_that_shows_no_experiences_embeds_no_questions() -> None:
    world = World()
    world.learn("check the units", queries=[f"question {n}" for n in range(20)])
    world.bullets("check the units")
    assert world.embedder.misses == 1


def test_progress_is_told_in_pages_while_texts_are_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not while vectors are only read, as when a memory is opened again."""
    monkeypatch.setattr(in_step, "LEAST_PAGE", 4)
    told: list[tuple[int, int]] = []

    def opened() -> World:
        return World(tmp_path / "memory.db", progress=lambda done, total: told.append((done, total)))

    world = opened()
    world.learn(*(f"advice {n}" for n in range(10)))
    world.bullets("advice", 3)
    assert told == [(8, 10), (10, 10)]
    world.learn("a", "b", "c", "d")
    world.bullets("advice", 3)
    world.close()
    world = opened()
    world.learn("e", "f")
    assert len(world.bullets("advice")) == 16
    world.close()
    assert len(told) == 2


def test_progress_without_a_cache_counts_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_step, "LEAST_PAGE", 4)
    told: list[tuple[int, int]] = []
    world = World()
    world.learn(*(f"advice {n}" for n in range(10)))
    neighbours = LocalNeighbours(
        world.store,
        HashingEmbedder(DIM),
        namespace="default",
        make_index=ExactIndex,
        progress=lambda done, total: told.append((done, total)),
    )
    neighbours.bullets(world.vector("advice"), 3)
    assert told == [(8, 10), (10, 10)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_forked_off_while_another_thread_embeds_begins_anew(tmp_path: Path) -> None:
    """Or it would wait for a thread that it does not have."""
    world = World(tmp_path / "memory.db", embedder=GatedEmbedder())
    world.learn("a slow lesson", "check the units")
    with held(world, lambda: world.bullets("lesson")):
        child = os.fork()
        if not child:
            signal.alarm(20)
            found: list[int] = []
            try:
                found = sorted(numbers(world.bullets("units")))
            finally:
                os._exit(found != [1, 2])
        assert os.waitpid(child, 0)[1] == 0
    world.close()


def test_an_embedder_that_fails_leaves_the_index_as_right_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(HashingEmbedder):
        broken = False

        def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
            if self.broken and "advice 7" in texts:
                raise ConnectionError("the model is away")
            return super().embed(texts, kind)

    monkeypatch.setattr(in_step, "LEAST_PAGE", 4)
    embedder = Failing(DIM)
    world = World(embedder=embedder)
    world.learn("advice 0")
    world.check("advice 0")
    world.learn(*(f"advice {n}" for n in range(1, 10)))
    world.commit(Remove(id="misc-00001"))
    embedder.broken = True
    with pytest.raises(ConnectionError):
        world.bullets("advice 9")
    embedder.broken = False
    world.check("advice 0", "advice 7", "advice 9")


def test_a_memory_that_went_back_is_indexed_anew(caplog: pytest.LogCaptureFixture) -> None:
    """As after a server that lost its last transactions, or a backup that was put in place: told, and never wrong."""
    long, short = SqliteStore(), SqliteStore()
    for store, contents in ((long, ("a lost lesson", "another lost one", "and more")), (short, ("what is left",))):
        for content in contents:
            store.commit("default", Change(at=NOW, cause="user", operations=(add(content),)))
    world = World(store=long)
    world.check("lesson")
    world.store = world.neighbours._bullets._store = world.neighbours._experiences._store = short
    world.check("lesson", "what is left")
    assert "went back behind version 3" in caplog.text


# N4: threads


@IN_SQLITE
def test_n4_a_search_that_needs_nothing_new_does_not_wait_for_one_that_embeds(where: str, tmp_path: Path) -> None:
    world = world_at(where, tmp_path, GatedEmbedder())
    world.learn("check the units")
    world.check("check the units")
    world.learn(queries=["a slow question"])
    with held(world, lambda: world.experiences("a question")) as other:
        assert numbers(world.bullets("check the units")) == [1]
        world.learn("learnt meanwhile")
        assert world.bullets("learnt meanwhile") == world.right_bullets("learnt meanwhile")
        assert not other.done()
    assert numbers(other.result()) == [1]


@IN_SQLITE
def test_n4_no_commit_waits_for_a_search_that_embeds(where: str, tmp_path: Path) -> None:
    world = world_at(where, tmp_path, GatedEmbedder())
    world.learn("a slow lesson")
    with held(world, lambda: world.bullets("lesson")) as other:
        world.learn("learnt meanwhile")
        assert not other.done()
    assert numbers(other.result())[:1] == [1]
    world.check("learnt meanwhile")


@IN_SQLITE
def test_n4_a_search_inside_a_commit_waits_for_nobody(where: str, tmp_path: Path) -> None:
    """It would wait for ever: the one that embeds has to store its vectors when the commit is done."""
    world = world_at(where, tmp_path, GatedEmbedder())
    world.learn("check the units")
    world.check("check the units")
    world.learn("a slow lesson")
    found: list[Pairs] = []

    def revised(change: Change) -> Change:
        found.append(world.bullets("lesson"))
        found.append(world.right_bullets("lesson"))
        return change

    with held(world, lambda: world.bullets("lesson")) as other:
        change = Change(at=NOW, cause="user", operations=(add("learnt meanwhile"),))
        world.store.commit("default", change, seen=0, revise=revised)
        assert not other.done()
    assert found[0] == found[1] == other.result()[: len(found[0])]
    assert numbers(found[0])[0] == 2
    world.check("lesson", "learnt meanwhile")


def test_n4_searches_that_need_the_same_embed_it_once() -> None:
    embedder = GatedEmbedder()
    world = World(embedder=embedder)
    world.learn("a slow lesson")
    with ThreadPoolExecutor(4) as pool, held(world, lambda: world.bullets("lesson")) as first:
        others = [pool.submit(world.bullets, "lesson") for _ in range(4)]
        embedder.gate.set()
        assert [other.result(60) for other in others] == [first.result(60)] * 4
    assert world.embedder.misses == 2  # the lesson and the question


def test_many_threads_search_while_others_write() -> None:
    """F09: no crash, and what comes back was there."""
    world = World()
    world.learn(*(f"advice {n}" for n in range(20)))
    stop = threading.Event()

    def search() -> set[int]:
        seen: set[int] = set()
        while not stop.is_set():
            seen |= set(numbers(world.bullets("advice 3", 5)))
        return seen

    with ThreadPoolExecutor(4) as pool:
        searching = [pool.submit(search) for _ in range(3)]
        try:
            for n in range(20, 60):
                operations: list[Operation] = [add(f"advice {n}"), Remove(id=f"misc-{n - 19:05}")]
                world.commit(*operations)
        finally:
            stop.set()
        assert all(each.result(60) <= set(range(1, 61)) for each in searching)
    world.check("advice 3", "advice 59")


# Inside a commit


@IN_SQLITE
def test_what_a_commit_has_made_is_found_inside_it_and_not_outside(where: str, tmp_path: Path) -> None:
    world = world_at(where, tmp_path)
    world.learn("check the units")
    world.check("check the units")
    inside: list[Pairs] = []

    def then() -> tuple[Operation, ...]:
        inside.append(world.bullets("round at the end"))
        inside.append(world.right_bullets("round at the end"))
        raise KeyboardInterrupt

    change = Change(at=NOW, cause="user", operations=(add("round at the end"), Remove(id="misc-00001")))
    with pytest.raises(KeyboardInterrupt):
        world.store.commit("default", change, then=then)
    assert inside[0] == inside[1]
    assert numbers(inside[0]) == [2]
    world.check("round at the end")
    # The number that was not given is given to something else, under the version that was not reached.
    world.learn("look twice")
    world.check("round at the end", "look twice")


def test_inside_a_commit_k_is_kept_and_among_holds() -> None:
    world = World()
    world.learn(*(f"advice {n}" for n in range(8)))
    world.check("advice")
    found: list[list[int]] = []

    def then() -> tuple[Operation, ...]:
        vector = world.vector("advice 3")
        found.append(world.neighbours.bullets(vector, 3).ids.tolist())
        found.append(world.neighbours.bullets(vector, 9, among=[2, 4, 10]).ids.tolist())
        found.append(world.neighbours.bullets(vector, 0).ids.tolist())
        return ()

    change = Change(at=NOW, cause="user", operations=(Update(id="misc-00004", content="else"), add("advice 3, again")))
    world.store.commit("default", change, then=then)
    assert found[0] == numbers(world.right_bullets("advice 3"))[:3]
    assert sorted(found[1]) == [2, 4]
    assert found[2] == []


def test_a_pinned_reader_sends_nobody_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    world = World(tmp_path / "memory.db")
    world.learn("check the units")
    world.check("check the units")
    with world.store.pinned(), ThreadPoolExecutor(1) as pool:
        pool.submit(world.learn, "learnt meanwhile").result(60)
        assert len(pool.submit(world.bullets, "learnt meanwhile").result(60)) == 2
        assert 1 in numbers(world.bullets("check the units"))
    world.check("check the units", "learnt meanwhile")
    assert caplog.text == ""
