"""K1 to K7: what every store keeps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import OperationError
from cheatsheet.memory.experience import Experience, Feedback
from cheatsheet.memory.journal import Change, JournalEntry
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.sheet import replay
from cheatsheet.memory.sqlite_store import SqliteStore
from cheatsheet.memory.store import MemoryStore
from indexes.cached import CacheKey
from tests.memory.strategies import operations

NOW = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)
Opener = Callable[[], MemoryStore]


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryStore]:
    opened = SqliteStore(tmp_path / "memory.db") if request.param == "file" else SqliteStore(":memory:")
    yield opened
    opened.close()


def change(*operations: Operation, **more: object) -> Change:
    values: dict[str, object] = {"at": NOW, "cause": "user", "operations": operations} | more
    return Change.model_validate(values)


def add(content: str, **more: object) -> Add:
    return Add(draft=Draft.model_validate({"content": content} | more))


def added(entry: JournalEntry) -> list[str]:
    return [operation.id for operation in entry.operations if isinstance(operation, Add)]


def lived(query: str, answer: str = "an answer") -> Experience:
    return Experience(query=query, answer=answer, created_at=NOW)


def sheet_of(store: MemoryStore, namespace: str = "default") -> dict[str, object]:
    return {bullet.id: bullet for bullet in store.bullets(namespace, status=None)}


def test_a_new_store_is_empty(store: MemoryStore) -> None:
    assert store.version("default") == 0
    assert list(store.bullets("default")) == []
    assert list(store.journal("default")) == []
    assert store.bullet("default", "misc-00001") is None
    assert list(store.namespaces()) == []


def test_k1_change_and_journal_entry_are_there_together(store: MemoryStore) -> None:
    committed = store.commit("default", change(add("Check the units."), experience=lived("How far?")))
    (entry,) = store.journal("default")
    assert entry == committed.entry
    assert added(entry) == ["misc-00001"]
    assert entry.experience_id == "exp-00001"
    assert store.version("default") == entry.version
    experience = store.experience("default", "exp-00001")
    assert experience is not None
    assert experience.query == "How far?"


def test_k1_a_commit_that_fails_leaves_nothing(store: MemoryStore) -> None:
    store.commit("default", change(add("one"), turn_id="t"))
    before = (sheet_of(store), store.journal("default"))
    with pytest.raises(OperationError, match="'t' was learnt before"):
        store.commit("default", change(add("two"), turn_id="t"))
    assert (sheet_of(store), store.journal("default")) == before


def test_k1_survives_reopening(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path / "memory.db")
    experience = lived("q").model_copy(
        update={"feedback": Feedback(correct=False, expected="x"), "choices": ("a", "b")}
    )
    first.commit(
        "default", change(add("one", tags=("t",), metadata={"k": [1]}), experience=experience, record={"r": 1})
    )
    expected = (sheet_of(first), first.journal("default"), first.experiences("default"))
    first.close()
    second = SqliteStore(tmp_path / "memory.db")
    assert (sheet_of(second), second.journal("default"), second.experiences("default")) == expected
    second.close()


def test_k2_numbers_are_never_given_twice_not_even_after_delete_reload_add(tmp_path: Path) -> None:
    seen: list[str] = []
    for _ in range(3):
        store = SqliteStore(tmp_path / "memory.db")
        entry = store.commit("default", change(add("one"), add("two", section="code snippets & templates"))).entry
        seen += added(entry)
        store.commit("default", change(*(Remove(id=id) for id in seen[-2:])))
        store.close()
    numbers = [id.rpartition("-")[2] for id in seen]
    assert numbers == ["00001", "00002", "00003", "00004", "00005", "00006"]
    assert seen[1] == "code-00002"


def test_k2_an_add_with_an_id_of_its_own_gets_a_fresh_one(store: MemoryStore) -> None:
    """B17: an ADD that names an existing id must not overwrite that bullet; an empty section becomes the default."""
    store.commit("default", change(add("first", section="")))
    entry = store.commit("default", change(Add(draft=Draft(content="second"), id="misc-00001"))).entry
    assert added(entry) == ["misc-00002"]
    first = store.bullet("default", "misc-00001")
    assert first is not None
    assert (first.content, first.section) == ("first", "others")


@given(batches=st.lists(st.lists(operations(), max_size=5), max_size=6))
def test_k3_the_journal_replayed_gives_the_stored_memory(batches: list[list[Operation]]) -> None:
    store = SqliteStore(":memory:")
    for number, batch in enumerate(batches):
        store.commit("default", change(*batch, at=NOW + timedelta(seconds=number)))
    assert replay(store.journal("default")).bullets == sheet_of(store)
    used = [id for entry in store.journal("default") for id in added(entry)]
    assert len(set(used)) == len(used)
    store.close()


@given(batch=st.lists(operations(), max_size=8))
def test_k4_what_is_not_applied_is_named(batch: list[Operation]) -> None:
    store = SqliteStore(":memory:")
    committed = store.commit("default", change(*batch))
    assert len(committed.entry.operations) + len(committed.skipped) == len(batch)
    assert all(committed.skipped)
    store.close()


def test_k4_one_bad_operation_does_not_sink_the_others(store: MemoryStore) -> None:
    """B11: an update of an id that does not exist is skipped with its name; the add is applied."""
    committed = store.commit("default", change(Update(id="a-12", content="z"), add("ok")))
    assert len(committed.skipped) == 1
    assert "'a-12'" in committed.skipped[0]
    assert [bullet.content for bullet in store.bullets("default")] == ["ok"]


def test_k5_a_turn_is_committed_once_in_a_namespace(store: MemoryStore) -> None:
    store.commit("one", change(turn_id="t", record={"answer": 42}))
    store.commit("two", change(turn_id="t"))
    entry = store.entry_of_turn("one", "t")
    assert entry is not None
    assert entry.record == {"answer": 42}
    assert store.entry_of_turn("one", "") is None
    with pytest.raises(OperationError):
        store.commit("one", change(turn_id="t"))


@pytest.mark.parametrize("hostile", ["b", "A", "a' OR '1'='1", "%", "a\x00", "", "🙂"])
def test_k6_namespaces_do_not_see_each_other(store: MemoryStore, hostile: str) -> None:
    store.commit("a", change(add("in a"), experience=lived("q")))
    store.commit(hostile, change(add("elsewhere")))
    assert [bullet.content for bullet in store.bullets("a")] == ["in a"]
    assert [bullet.content for bullet in store.bullets(hostile)] == ["elsewhere"]
    assert store.count_experiences(hostile) == 0
    assert len(store.journal("a")) == 1
    assert store.bullet(hostile, "misc-00001") != store.bullet("a", "misc-00001")


def test_k7_threads_write_and_read_at_once(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    errors: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(25):
                store.commit("default", change(add(f"{name} {number}"), turn_id=f"{name}-{number}"))
                assert store.count_bullets("default") > 0
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert store.count_bullets("default") == 100
    assert len({bullet.id for bullet in store.bullets("default")}) == 100
    assert replay(store.journal("default")).bullets == sheet_of(store)
    store.close()


def test_k7_another_connection_sees_what_was_committed(tmp_path: Path) -> None:
    one, two = SqliteStore(tmp_path / "memory.db"), SqliteStore(tmp_path / "memory.db")
    one.commit("default", change(add("from one")))
    touched = two.touched("default", after=0)
    assert [content for _, content, _ in touched.bullets] == ["from one"]
    two.commit("default", change(add("from two")))
    assert one.count_bullets("default") == 2
    assert [content for _, content, _ in one.touched("default", after=touched.version).bullets] == ["from two"]
    one.close()
    two.close()


def test_merging_sums_counters_and_unites_sources(store: MemoryStore) -> None:
    store.commit(
        "default",
        change(
            add("one", helpful=2, harmful=1, sources=("a",), tags=("x",)),
            add("two", helpful=3, sources=("b", "a"), pinned=True),
        ),
    )
    store.commit("default", change(Tag(id="misc-00002", uses=4)))
    draft = Draft(content="three", helpful=1, sources=("c",))
    store.commit("default", change(Merge(into="misc-00001", absorbed=("misc-00002",), draft=draft)))
    survivor, absorbed = store.bullet("default", "misc-00001"), store.bullet("default", "misc-00002")
    assert survivor is not None
    assert absorbed is not None
    assert (survivor.content, survivor.helpful, survivor.harmful, survivor.uses) == ("one", 6, 1, 4)
    assert survivor.sources == ("a", "b", "c")
    assert survivor.pinned
    assert absorbed.status == "merged"
    assert absorbed.metadata["merged_into"] == "misc-00001"
    assert store.commit("default", change(Restore(id="misc-00002"))).skipped == (
        "restore: Bullet 'misc-00002' was merged into misc-00001; only an archived bullet can be restored.",
    )


def test_remove_archives_and_restore_brings_back_the_same(store: MemoryStore) -> None:
    store.commit("default", change(add("one", metadata={"k": 1})))
    before = store.bullet("default", "misc-00001")
    store.commit("default", change(Remove(id="misc-00001", reason="harmful")))
    assert list(store.bullets("default")) == []
    archived = store.bullet("default", "misc-00001")
    assert archived is not None
    assert archived.metadata == {"k": 1, "archived_because": "harmful"}
    store.commit("default", change(Restore(id="misc-00001")))
    assert store.bullet("default", "misc-00001") == before


def test_orders(store: MemoryStore) -> None:
    store.commit(
        "default",
        change(
            add("good", helpful=3),
            add("bad", harmful=2),
            add("new", expires_at=NOW),
            add("later", expires_at=NOW + timedelta(days=1), helpful=9, harmful=8),
        ),
    )
    store.commit("default", change(Tag(id="misc-00003", uses=1), at=NOW + timedelta(seconds=1)))

    def contents(**how: object) -> list[str]:
        return [bullet.content for bullet in store.bullets("default", **how)]  # type: ignore[arg-type]  # by name

    assert contents() == ["good", "bad", "new", "later"]
    assert contents(order="utility") == ["good", "later", "new", "bad"]
    assert contents(order="worst") == ["bad", "new", "later", "good"]
    assert contents(order="utility", harmful_weight=2.0) == ["good", "new", "bad", "later"]
    assert contents(order="expiring") == ["new", "later"]
    assert contents(order="utility", limit=1) == ["good"]


def test_experiences_come_oldest_first_and_the_newest_are_kept(store: MemoryStore) -> None:
    for number in range(5):
        store.commit("default", change(experience=lived(f"q{number}"), cause="turn"))
    assert [e.query for e in store.experiences("default")] == ["q0", "q1", "q2", "q3", "q4"]
    assert [e.query for e in store.experiences("default", limit=2)] == ["q3", "q4"]
    assert [e.id for e in store.experiences("default", limit=1)] == ["exp-00005"]


def test_embeddings_are_kept_by_model_kind_and_text(store: MemoryStore) -> None:
    key = CacheKey("m", "document", "a" * 64)
    other = CacheKey("other model", "document", "a" * 64)
    store.put_many({key: np.array([1, 0], dtype=np.float32)})
    store.put_many({key: np.array([0, 1], dtype=np.float32)})
    found = store.get_many([key, other])
    assert list(found) == [key]
    assert found[key].tolist() == [1, 0]


def test_texts_that_no_encoding_holds_are_stored_with_a_replacement(store: MemoryStore) -> None:
    store.commit("default", change(add("half \ud83d of a smiley"), experience=lived("\udc00", "\x00 NUL")))
    (bullet,) = store.bullets("default")
    assert bullet.content == "half \ufffd of a smiley"
    (experience,) = store.experiences("default")
    assert (experience.query, experience.answer) == ("\ufffd", "\x00 NUL")
