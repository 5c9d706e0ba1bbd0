"""N1 to N4 where PostgreSQL searches: what it finds is what comparing with every vector finds."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.perf.pgvector import Given, clustered, fill, recall
from benchmarks.perf.postgres_server import PostgresServer
from cheatsheet.errors import DimensionMismatchError, OperationError, StoreError
from cheatsheet.memory.bullet import number_of
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.operations import Operation, Remove, Restore, Update
from cheatsheet.memory.postgres import connections, index_check, vector_tables, vectors_in_step
from cheatsheet.memory.postgres.postgres_neighbours import PostgresNeighbours, _OnServer
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from cheatsheet.memory.postgres.server import Values
from cheatsheet.memory.postgres.vector_table import Index, VectorTable
from indexes.cached import CachedEmbedder
from indexes.embedder import Embedder, TextKind
from indexes.exact import ExactIndex
from indexes.hashing import HashingEmbedder
from indexes.index import Hits
from indexes.vectors import Matrix, Vector, normalise
from tests.memory.postgres.worlds import NOW, TIMEOUT_S, add, change, learn
from tests.memory.stores import fresh_namespace, new_url

DIM = 16
TEXTS = ("", "red", "green", "red green", "green red", "blue", "a longer text about red", "7", "\x00")


def pairs(hits: Hits) -> list[tuple[int, float]]:
    return list(zip(hits.ids.tolist(), hits.scores.tolist(), strict=True))


def plan(store: PostgresStore, neighbours: PostgresNeighbours, query: Vector) -> str:
    """How the server finds the nearest bullets."""
    rows = store.server.rows
    with pytest.MonkeyPatch.context() as patch:
        found: list[str] = []

        def explain(sql: str, values: Values = None) -> list[Any]:
            found.extend(line["QUERY PLAN"] for line in rows(f"EXPLAIN {sql}", values))
            return []

        patch.setattr(store.server, "rows", explain)
        table_of(neighbours).nearest(1, "bullets", query, 26, ef_search=200)
    return "\n".join(found)


def opened(neighbours: PostgresNeighbours) -> _OnServer:
    there = neighbours._opened()
    assert there is not None
    return there


def table_of(neighbours: PostgresNeighbours) -> VectorTable:
    return opened(neighbours).table


@pytest.fixture(scope="module")
def lasting(postgres_server: PostgresServer) -> Iterator[PostgresStore]:
    store = PostgresStore(new_url(postgres_server), timeout_s=TIMEOUT_S)
    yield store
    store.close()


@pytest.fixture
def by_index(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    """A store whose server looks into an index however few rows there are."""
    monkeypatch.setitem(connections._SESSION, "enable_seqscan", "off")
    monkeypatch.setitem(connections._SESSION, "enable_sort", "off")
    store = PostgresStore(postgres_url, timeout_s=TIMEOUT_S)
    yield store
    store.close()


steps = st.lists(
    st.one_of(
        st.sampled_from(TEXTS[1:]).map(add),
        st.builds(Update, id=st.integers(1, 6).map("misc-{:05d}".format), content=st.sampled_from(TEXTS[1:])),
        st.builds(Remove, id=st.integers(1, 6).map("misc-{:05d}".format)),
        st.builds(Restore, id=st.integers(1, 6).map("misc-{:05d}".format)),
        st.builds(Remove, id=st.integers(1, 3).map("exp-{:05d}".format)),
        st.sampled_from(TEXTS).map(lambda text: Experience(query=text, answer="a", created_at=NOW)),
    ),
    max_size=6,
)


def oracle(embedder: Embedder, texts: Mapping[int, str]) -> ExactIndex:
    """Every vector of these texts, to compare with."""
    index = ExactIndex(embedder.dim)
    index.add(list(texts), embedder.embed(list(texts.values())))
    return index


@settings(max_examples=40)
@given(batches=st.lists(steps, min_size=1, max_size=4), k=st.integers(-1, 8), fresh=st.sampled_from([0, 3, 64]))
def test_what_is_found_is_what_comparing_with_all_finds(
    lasting: PostgresStore, batches: list[list[Operation | Experience]], k: int, fresh: int
) -> None:
    """N1 and N2, whether what has changed is compared here or written to the server first."""
    space, embedder = fresh_namespace(), HashingEmbedder(dim=DIM)
    neighbours = PostgresNeighbours(lasting, CachedEmbedder(embedder, lasting), namespace=space)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors_in_step, "MOST_FRESH", fresh)
        for batch in batches:
            lives = tuple(one for one in batch if isinstance(one, Experience))
            asked = [one for one in batch if not isinstance(one, Experience)]
            lasting.commit(space, change(*asked, experiences=lives))
            bullets = oracle(embedder, {number_of(b.id) or 0: b.content for b in lasting.bullets(space)})
            turns = oracle(embedder, {number_of(turn.id) or 0: turn.query for turn in lasting.experiences(space)})
            for query in embedder.embed(["red", "green red", ""], "query"):
                assert pairs(neighbours.bullets(query, k)) == pairs(bullets.search(query, k))
                assert pairs(neighbours.experiences(query, k)) == pairs(turns.search(query, k))
                for among in ([], [1, 3, 5, 99]):
                    found = neighbours.bullets(query, 2, among=among)
                    assert pairs(found) == pairs(bullets.search(query, 2, among=among))
    neighbours.close()


def test_an_index_is_built_beside_the_searches_and_finds_nearly_all(store: PostgresStore) -> None:
    rows = clustered(10_000, 64)
    queries = normalise(rows[::100] + 0.05 * np.random.default_rng(1).standard_normal((100, 64)))
    fill(store, range(10_000))
    scanning = PostgresNeighbours(store, Given(rows), namespace="default", index_from=10_001)
    assert recall(scanning, rows, queries[:20]) == 1.0
    neighbours = PostgresNeighbours(store, Given(rows), namespace="default")
    neighbours.settle()
    assert "Index Scan using near_1_1_0" in plan(store, neighbours, queries[0])
    assert recall(neighbours, rows, queries) >= 0.99
    # A small namespace beside it is found whole, and by no index of another.
    fill(store, range(20), "small")
    small = PostgresNeighbours(store, Given(rows), namespace="small")
    assert recall(small, rows[:20], queries[:20]) == 1.0
    # What goes and what comes is right while the graph still has the old rows.
    store.commit("default", change(*(Remove(id=f"misc-{number:05d}") for number in range(1, 5001))))
    assert min(neighbours.bullets(queries[0], 50).ids) > 5000
    assert len(neighbours.bullets(queries[0], 50).ids) == 50
    for one in (scanning, neighbours, small):
        one.close()
        one.close()


def test_vectors_in_which_an_index_finds_too_little_are_scanned(
    by_index: PostgresStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where nothing is much nearer than the rest, a graph leads nowhere. It is tried again with twice as many."""
    store = by_index
    monkeypatch.setattr(index_check, "EF_SEARCH", (10,))  # as few as are wanted, so that every graph finds too little
    rows = normalise(np.random.default_rng(0).standard_normal((3_000, 64)))
    fill(store, range(1_400))
    neighbours = PostgresNeighbours(store, Given(rows), namespace="default", index_from=1_000)
    neighbours.settle()
    assert table_of(neighbours).index(1, "bullets") == Index(is_there=False, ef_search=0, rows=1_400)
    assert "are scanned: an index finds too little" in caplog.text
    assert recall(neighbours, rows[:1_400], rows[:30]) == 1.0
    fill(store, range(1_400, 2_800))
    monkeypatch.setattr(index_check, "EF_SEARCH", (10, 1_000))
    neighbours.settle()
    assert table_of(neighbours).index(1, "bullets") == Index(is_there=True, ef_search=1_000, rows=2_800)
    assert recall(neighbours, rows[:2_800], rows[:30]) >= 0.99
    neighbours.close()


def test_two_that_want_an_index_at_once_have_one(store: PostgresStore, postgres_url: str) -> None:
    """Neither waits in a statement for the other, which would wait for that statement."""
    rows = clustered(2_000, 32)
    fill(store, range(2_000))
    other = PostgresStore(postgres_url, timeout_s=TIMEOUT_S)
    both = [PostgresNeighbours(one, Given(rows), namespace="default", index_from=100) for one in (store, other)]
    for neighbours in both:
        neighbours.bullets(rows[0], 1)  # which has it built
    for neighbours in both:
        neighbours.settle()
        assert table_of(neighbours).index(1, "bullets") == Index(is_there=True, ef_search=200, rows=2_000)
        neighbours.close()
    other.close()


def test_an_index_that_cannot_be_built_is_told_once(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rows = clustered(100, 8)
    fill(store, range(100))
    neighbours = PostgresNeighbours(store, Given(rows), namespace="default", index_from=10)

    def fail(*given: object) -> None:
        raise psycopg.errors.InsufficientPrivilege("must be owner of the table")

    monkeypatch.setattr(VectorTable, "build_index", fail)
    for _ in range(3):
        neighbours.settle()
        assert neighbours.bullets(rows[7], 1).ids.tolist() == [8]
    assert caplog.text.count("must be owner of the table") == 1
    neighbours.close()


@pytest.mark.parametrize("dim", [2_000, 2_001, 4_001])
def test_longer_vectors_are_indexed_in_half_precision_or_scanned(by_index: PostgresStore, dim: int) -> None:
    store = by_index
    rows = clustered(150, dim)
    fill(store, range(150))
    neighbours = PostgresNeighbours(store, Given(rows), namespace="default", index_from=50)
    neighbours.settle()
    index = table_of(neighbours).index(1, "bullets")
    assert (index is not None and index.is_there) == (dim <= 4_000)
    assert recall(neighbours, rows, rows[:20]) >= 0.99
    neighbours.close()


def test_vectors_that_pgvector_cannot_hold_are_told(store: PostgresStore) -> None:
    neighbours = PostgresNeighbours(store, HashingEmbedder(dim=16_001), namespace="default")
    with pytest.raises(StoreError, match=r"up to 16,000 dimensions, not of 16,001"):
        neighbours.bullets(np.zeros(16_001, dtype=np.float32), 1)


def test_equal_vectors_come_by_their_numbers_however_many_there_are(store: PostgresStore) -> None:
    rows = np.zeros((300, 8), dtype=np.float32)
    rows[:, 0] = 1
    fill(store, range(300))
    neighbours = PostgresNeighbours(store, Given(rows), namespace="default", index_from=50)
    neighbours.settle()
    assert neighbours.bullets(rows[0], 7).ids.tolist() == [1, 2, 3, 4, 5, 6, 7]
    neighbours.close()


def test_another_model_has_vectors_of_its_own(store: PostgresStore) -> None:
    """N3: vectors of two models are never compared."""
    learn(store, "0", "1", "2")
    rows = np.eye(3, dtype=np.float32)
    one = PostgresNeighbours(store, Given(rows, "one"), namespace="default")
    two = PostgresNeighbours(store, Given(rows[::-1].copy(), "two"), namespace="default")
    assert one.bullets(rows[0], 1).ids.tolist() == [1]
    assert two.bullets(rows[0], 1).ids.tolist() == [3]
    with pytest.raises(DimensionMismatchError):
        one.bullets(np.zeros(4, dtype=np.float32), 1)
    one.close()
    two.close()


def test_inside_a_commit_its_own_bullets_are_found_and_nobody_waits(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N1 and N4: also where so much has changed that it would otherwise be written to the server first."""
    monkeypatch.setattr(vectors_in_step, "MOST_FRESH", 2)
    neighbours = PostgresNeighbours(store, CachedEmbedder(HashingEmbedder(dim=DIM), store), namespace="default")
    red = HashingEmbedder(dim=DIM).embed(["red"], "query")[0]
    learn(store, "red", "green", "blue", "black")
    found: list[list[int]] = []

    def then() -> list[Operation]:
        found.append(neighbours.bullets(red, 9).ids.tolist())
        other = threading.Thread(target=lambda: found.append(neighbours.bullets(red, 9).ids.tolist()))
        other.start()
        other.join(timeout=TIMEOUT_S)
        return []

    with opened(neighbours).step._catching_up:  # somebody else catches up, and takes long
        store.commit(
            "default", change(Remove(id="misc-00001"), add("red")), then=lambda: then_alone(found, neighbours, red)
        )
    assert found.pop()[0] == 5
    store.commit("default", change(add("red red")), then=then)
    inside, beside = found
    assert {5, 6} <= set(inside)
    assert 6 not in beside
    assert 5 in beside
    neighbours.close()


def then_alone(found: list[list[int]], neighbours: PostgresNeighbours, query: Vector) -> list[Operation]:
    found.append(neighbours.bullets(query, 9).ids.tolist())
    return []


def test_a_commit_that_fails_leaves_no_vectors(store: PostgresStore) -> None:
    neighbours = PostgresNeighbours(store, CachedEmbedder(HashingEmbedder(dim=DIM), store), namespace="default")
    red = HashingEmbedder(dim=DIM).embed(["red"], "query")[0]
    learn(store, "green")

    def fail() -> list[Operation]:
        assert neighbours.bullets(red, 9).ids.tolist() == [2, 1]
        raise OperationError("no more")

    with pytest.raises(OperationError, match="no more"):
        store.commit("default", change(add("red")), then=fail)
    assert neighbours.bullets(red, 9).ids.tolist() == [1]
    neighbours.close()


def test_two_that_catch_up_at_once_leave_the_newest_vectors(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One embeds the words of before, and is slower than another that has seen the words of now."""
    monkeypatch.setattr(vectors_in_step, "MOST_FRESH", 0)
    learn(store, "0", "1")
    rows = np.eye(3, dtype=np.float32)
    slow, fast = (PostgresNeighbours(store, Given(rows), namespace="default") for _ in range(2))
    embed = slow._embedder.embed

    def overtaken(texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        monkeypatch.setattr(slow._embedder, "embed", embed)
        store.commit("default", change(Update(id="misc-00001", content="2"), Remove(id="misc-00002")))
        assert fast.bullets(rows[2], 2).ids.tolist() == [1]
        return embed(texts, kind)

    monkeypatch.setattr(slow._embedder, "embed", overtaken)
    assert slow.bullets(rows[2], 2).ids.tolist() == [1]
    assert table_of(slow).nearest(1, "bullets", rows[2], 5).numbers.tolist() == [1]
    slow.close()
    fast.close()


def test_an_older_row_that_comes_to_lie_over_a_newer_one_is_looked_at_again(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two catch up at once in several parts, and the one that has seen less writes a part before the other ends."""
    monkeypatch.setattr(vectors_in_step, "MOST_FRESH", 0)
    monkeypatch.setattr(vectors_in_step, "_AT_ONCE", 1)
    learn(store, "0", "1")
    rows = np.eye(3, dtype=np.float32)
    early, late = (PostgresNeighbours(store, Given(rows), namespace="default") for _ in range(2))
    there, put = opened(early), opened(early).step._put
    steps: list[str] = []

    def interrupted(*given: Any, last: bool) -> bool:
        if not steps:  # it has read and embedded the words of before
            steps.append("early")
            store.commit("default", change(Update(id="misc-00001", content="2"), Remove(id="misc-00002")))
            monkeypatch.setattr(opened(late).step, "_put", overtaken)
            assert late.bullets(rows[2], 2).ids.tolist() == [1]
        return put(*given, last=last)

    put_late = opened(late).step._put

    def overtaken(*given: Any, last: bool) -> bool:
        done = put_late(*given, last=last)
        if "late" not in steps:  # its first part is written, with the words of now
            steps.append("late")
            state = there.step.state()
            assert state is not None
            old = [there.step._embedded("bullets", [(1, "0", True), (2, "1", True)])]
            assert put(state, old, early_version, last=False)
        return done

    early_version = store.version("default")
    monkeypatch.setattr(there.step, "_put", interrupted)
    assert early.bullets(rows[2], 2).ids.tolist() == [1]
    assert steps == ["early", "late"]
    found = there.table.nearest(1, "bullets", rows[2], 5)
    assert (found.numbers.tolist(), found.distances.tolist()) == ([1], [-1.0])
    early.close()
    late.close()


def test_many_texts_are_embedded_in_parts_and_told(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_in_step, "_AT_ONCE", 10)
    told: list[tuple[int, int]] = []
    fill(store, range(90))
    neighbours = PostgresNeighbours(
        store, Given(clustered(90, 8)), namespace="default", progress=lambda done, total: told.append((done, total))
    )
    assert len(neighbours.bullets(clustered(1, 8)[0], 5).ids) == 5
    assert told == [(done, 90) for done in range(10, 91, 10)]
    neighbours.close()


def test_a_server_without_pgvector_is_told_with_what_to_do(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(postgres_server.url, autocommit=True) as db:
        db.execute("CREATE DATABASE plain TEMPLATE template0")
    monkeypatch.setattr(vector_tables, "_CREATE", "CREATE EXTENSION vector_that_is_not_there")
    store = PostgresStore(postgres_server.url.replace("/postgres?", "/plain?"), timeout_s=TIMEOUT_S)
    learn(store, "red")
    neighbours = PostgresNeighbours(store, HashingEmbedder(dim=DIM), namespace="default")
    with pytest.raises(StoreError, match=r"needs pgvector.* CREATE EXTENSION vector .* choose index='faiss'"):
        neighbours.bullets(np.zeros(DIM, dtype=np.float32), 1)
    neighbours.close()
    store.close()


def test_a_pgvector_that_is_too_old_is_told(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_tables, "_OLDEST", (99, 0))
    vectors = PostgresNeighbours(store, HashingEmbedder(dim=DIM), namespace="default")
    with pytest.raises(StoreError, match=r"needs 0.8 or newer.*ALTER EXTENSION vector UPDATE"):
        vectors.bullets(np.zeros(DIM, dtype=np.float32), 1)
    vectors.close()
