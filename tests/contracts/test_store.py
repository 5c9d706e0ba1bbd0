"""K1 to K9: what every store keeps. The fixtures are those of `tests/memory/stores.py`."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import OperationError
from cheatsheet.memory.apply import Limits
from cheatsheet.memory.experience import Experience, Feedback, Standing
from cheatsheet.memory.history.journal import Change, JournalEntry
from cheatsheet.memory.history.sheet import replay
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.refine import estimate_tokens
from cheatsheet.memory.store import MemoryStore
from indexes.cached import CacheKey
from tests.memory.stores import Place, fresh_namespace
from tests.memory.strategies import operations

NOW = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)


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


def check_replayed(store: MemoryStore, namespace: str = "default") -> None:
    """K3, and K9: what is kept as a number is what counting gives."""
    sheet = replay(store.journal(namespace))
    assert sheet.bullets == sheet_of(store, namespace)
    assert list(sheet.bullets) == list(sheet_of(store, namespace))
    assert list(sheet.standings.items()) == list(store.standings(namespace).items())
    active = [bullet for bullet in sheet if bullet.status == "active"]
    assert store.count_bullets(namespace) == len(active)
    assert store.sheet_tokens(namespace) == sum(estimate_tokens(bullet.content) for bullet in active)
    served = [id for id, standing in sheet.standings.items() if standing.status == "active"]
    assert store.count_experiences(namespace) == len(served)
    assert store.count_experiences(namespace, None) == len(sheet.standings)
    assert [experience.id for experience in store.experiences(namespace)] == served


def test_a_new_store_is_empty(store: MemoryStore) -> None:
    assert store.version("default") == 0
    assert list(store.bullets("default")) == []
    assert list(store.journal("default")) == []
    assert store.bullet("default", "misc-00001") is None
    assert list(store.namespaces()) == []


def test_k1_change_and_journal_entry_are_there_together(store: MemoryStore) -> None:
    committed = store.commit("default", change(add("Check the units."), experiences=(lived("How far?"),)))
    (entry,) = store.journal("default")
    assert entry == committed.entry
    assert added(entry) == ["misc-00001"]
    assert entry.experience_ids == ("exp-00001",)
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


def test_k1_survives_reopening(shared_place: Place) -> None:
    first = shared_place.open()
    experience = lived("q").model_copy(
        update={"feedback": Feedback(correct=False, expected="x"), "choices": ("a", "b")}
    )
    first.commit(
        "default", change(add("one", tags=("t",), metadata={"k": [1]}), experiences=(experience,), record={"r": 1})
    )
    expected = (sheet_of(first), first.journal("default"), first.experiences("default"))
    first.close()
    second = shared_place.open()
    assert (sheet_of(second), second.journal("default"), second.experiences("default")) == expected


def test_k2_numbers_are_never_given_twice_not_even_after_delete_reload_add(shared_place: Place) -> None:
    seen: list[str] = []
    for _ in range(3):
        store = shared_place.open()
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


batches = st.lists(st.tuples(st.lists(operations(), max_size=5), st.integers(0, 2)), max_size=6)


@settings(max_examples=60)
@given(batches=batches)
def test_k3_the_journal_replayed_gives_the_stored_memory(
    lasting_store: MemoryStore, batches: list[tuple[list[Operation], int]]
) -> None:
    store, space = lasting_store, fresh_namespace()
    then: dict[int, tuple[object, object]] = {}
    for number, (batch, turns) in enumerate(batches):
        lives = tuple(lived(f"q{turn}") for turn in range(turns))
        entry = store.commit(space, change(*batch, at=NOW + timedelta(seconds=number), experiences=lives)).entry
        then[entry.version] = (sheet_of(store, space), store.standings(space))
    check_replayed(store, space)
    for version, (bullets, standings) in then.items():
        past = replay(store.journal(space), until=version)
        assert (past.bullets, past.standings) == (bullets, standings)
        assert replay(store.journal(space, until=version)) == past
    used = [id for entry in store.journal(space) for id in added(entry)]
    assert len(set(used)) == len(used)


@given(batch=st.lists(operations(), max_size=8))
def test_k4_what_is_not_applied_is_named(lasting_store: MemoryStore, batch: list[Operation]) -> None:
    committed = lasting_store.commit(fresh_namespace(), change(*batch))
    assert len(committed.entry.operations) + len(committed.skipped) == len(batch)
    assert all(committed.skipped)


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
    store.commit("a", change(add("in a"), experiences=(lived("q"),)))
    store.commit(hostile, change(add("elsewhere")))
    assert [bullet.content for bullet in store.bullets("a")] == ["in a"]
    assert [bullet.content for bullet in store.bullets(hostile)] == ["elsewhere"]
    assert store.count_experiences(hostile) == 0
    assert len(store.journal("a")) == 1
    assert store.bullet(hostile, "misc-00001") != store.bullet("a", "misc-00001")


def test_k7_threads_write_and_read_at_once(store: MemoryStore) -> None:
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
    check_replayed(store)


def test_k7_another_connection_sees_what_was_committed(shared_place: Place) -> None:
    one, two = shared_place.open(), shared_place.open()
    one.commit("default", change(add("from one")))
    touched = two.touched("default", after=0)
    assert [content for _, content, _ in touched.bullets] == ["from one"]
    two.commit("default", change(add("from two")))
    assert one.count_bullets("default") == 2
    assert [content for _, content, _ in one.touched("default", after=touched.version).bullets] == ["from two"]


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
        "restore: Bullet 'misc-00002' was merged into misc-00001; only what is archived can be restored.",
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


def test_a_draft_of_a_bullet_that_was_kept_elsewhere_keeps_its_past(store: MemoryStore) -> None:
    made, used = NOW - timedelta(days=9), NOW - timedelta(days=1)
    store.commit(
        "default",
        change(
            add("kept elsewhere", created_at=made, last_used_at=used, uses=7, helpful=2),
            add("archived there", status="archived"),
            add("made now"),
        ),
    )
    kept, archived, new = store.bullets("default", status=None)
    assert (kept.created_at, kept.last_used_at, kept.uses, kept.updated_at) == (made, used, 7, NOW)
    assert (archived.status, new.created_at, new.last_used_at) == ("archived", NOW, None)
    draft = Draft(content="again", uses=3, last_used_at=NOW)
    store.commit("default", change(Merge(into=kept.id, draft=draft)))
    merged = store.bullet("default", kept.id)
    assert merged is not None
    assert (merged.uses, merged.last_used_at) == (10, NOW)
    check_replayed(store)


def test_what_is_said_of_a_merged_bullet_counts_for_its_survivor(store: MemoryStore) -> None:
    """A turn that is on its way while others merge names bullets that are merged by now; its votes are not lost."""
    store.commit("default", change(add("one"), add("two"), add("three")))
    store.commit("default", change(Merge(into="misc-00002", absorbed=("misc-00001",))))
    store.commit("default", change(Merge(into="misc-00003", absorbed=("misc-00002",))))
    late = (
        Tag(id="misc-00001", helpful=1, uses=1),
        Merge(into="misc-00002", draft=Draft(content="once more", harmful=2)),
    )
    committed = store.commit("default", change(*late, at=NOW + timedelta(seconds=1)))
    assert committed.skipped == ()
    survivor = store.bullet("default", "misc-00003")
    assert survivor is not None
    assert (survivor.helpful, survivor.harmful, survivor.uses) == (1, 2, 1)
    check_replayed(store)
    refused = store.commit("default", change(Update(id="misc-00001", content="other words"))).skipped
    assert refused == ("update: Bullet 'misc-00001' was merged; it lives on in 'misc-00003': name that.",)


def state_of(store: MemoryStore, id: str) -> dict[str, object]:
    bullet = store.bullet("default", id)
    assert bullet is not None
    return bullet.model_dump(mode="json")


def test_a_bullet_becomes_exactly_what_it_once_was(store: MemoryStore) -> None:
    store.commit("default", change(add("one", metadata={"k": [1]}, helpful=2, expires_at=NOW), add("two")))
    one, before = state_of(store, "misc-00001"), sheet_of(store)
    store.commit("default", change(Tag(id="misc-00001", uses=1), at=NOW + timedelta(hours=1)))
    store.commit("default", change(Update(id="misc-00001", content="other", section="meta strategies")))
    two = state_of(store, "misc-00002")
    store.commit("default", change(Merge(into="misc-00002", absorbed=("misc-00001",))))
    later = NOW + timedelta(days=1)
    back = change(Restore(id="misc-00001", state=one), Restore(id="misc-00002", state=two), at=later)
    assert store.commit("default", back).skipped == ()
    assert sheet_of(store) == before
    check_replayed(store)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        ({"id": "misc-00002"}, "is that of 'misc-00002'"),
        ({"helpful": -1}, "helpful is not valid"),
        ({"content": " "}, "content is not valid"),
        ({"colour": "red"}, "colour is not valid"),
    ],
)
def test_a_state_that_no_bullet_can_have_is_refused(store: MemoryStore, edit: dict[str, object], sentence: str) -> None:
    store.commit("default", change(add("one"), add("two")))
    before = sheet_of(store)
    (skipped,) = store.commit(
        "default", change(Restore(id="misc-00001", state=state_of(store, "misc-00001") | edit))
    ).skipped
    assert sentence in skipped
    assert sheet_of(store) == before


def test_a_lower_limit_refuses_new_words_and_leaves_old_ones(shared_place: Place) -> None:
    wide = shared_place.open()
    wide.commit("default", change(add("long enough to be over it"), add("short")))
    wide.close()
    narrow = shared_place.open(limits=Limits(max_bullet_chars=10))
    old = (Tag(id="misc-00001", helpful=1), Remove(id="misc-00001"), Restore(id="misc-00001"))
    assert narrow.commit("default", change(*old)).skipped == ()
    assert narrow.commit("default", change(Merge(into="misc-00001", absorbed=("misc-00002",)))).skipped == ()
    new = change(add("twelve chars"), Update(id="misc-00001", content="other words"))
    assert [sentence.split(":")[0] for sentence in narrow.commit("default", new).skipped] == ["add", "update"]
    check_replayed(narrow)


def test_several_turns_are_stored_at_once_and_named_as_sources(store: MemoryStore) -> None:
    store.commit("default", change(experiences=(lived("q1"),)))
    learnt = (
        add("new", sources=("book.md",)),
        add("of one turn", sources=("exp-00001",)),
        Tag(id="misc-00001", helpful=1),
    )
    committed = store.commit("default", change(*learnt, experiences=(lived("q2"), lived("q3"))))
    assert committed.entry.experience_ids == ("exp-00002", "exp-00003")
    assert [bullet.sources for bullet in store.bullets("default")] == [
        ("book.md", "exp-00002", "exp-00003"),
        ("exp-00001",),
    ]
    assert [experience.query for experience in store.experiences("default")] == ["q1", "q2", "q3"]
    check_replayed(store)


def test_entries_beside_a_change_are_of_its_transaction(store: MemoryStore) -> None:
    beside = [change(turn_id="t1", record={"n": 1}, cause="turn"), change(turn_id="t2", cause="turn")]
    committed = store.commit("default", change(add("learnt of three"), turn_id="t3", cause="turn"), beside=beside)
    assert [entry.turn_id for entry in store.journal("default")] == ["t1", "t2", "t3"]
    assert (*committed.beside, committed.entry) == tuple(store.journal("default"))
    before = (sheet_of(store), store.journal("default"))
    with pytest.raises(OperationError, match="'t2' was learnt before"):
        store.commit("default", change(add("more"), turn_id="t5"), beside=[change(turn_id="t4"), change(turn_id="t2")])
    assert (sheet_of(store), store.journal("default")) == before


def test_k1_a_commit_whose_end_fails_leaves_nothing(store: MemoryStore) -> None:
    store.commit("default", change(add("one"), experiences=(lived("q"),)))

    def fail() -> list[Operation]:
        assert store.count_bullets("default") == 2  # it sees what the transaction has done so far
        raise OperationError("no more")

    before = (sheet_of(store), store.standings("default"), store.journal("default"))
    with pytest.raises(OperationError, match="no more"):
        store.commit("default", change(add("two"), Tag(id="exp-00001", uses=1), experiences=(lived("r"),)), then=fail)
    assert (sheet_of(store), store.standings("default"), store.journal("default")) == before
    check_replayed(store)


def test_k8_an_experience_is_used_archived_and_restored_and_never_changes(store: MemoryStore) -> None:
    store.commit("default", change(experiences=(lived("q1"), lived("q2"))))
    before = store.experience("default", "exp-00001")
    later = NOW + timedelta(hours=1)
    store.commit("default", change(Tag(id="exp-00001", uses=2), at=later))
    used = Standing(id="exp-00001", uses=2, last_used_at=later)
    assert store.standings("default")["exp-00001"] == used
    seen = store.version("default")
    store.commit("default", change(Remove(id="exp-00001", reason="least recently used")))
    assert [experience.query for experience in store.experiences("default")] == ["q2"]
    assert [e.query for e in store.experiences("default", status=None)] == ["q1", "q2"]
    assert store.experiences_by_number("default", [1, 2], status="active").keys() == {2}
    assert store.experience("default", "exp-00001", status="active") is None
    assert store.touched("default", after=seen).experiences == [(1, "q1", False)]
    store.commit("default", change(Restore(id="exp-00001")))
    assert store.touched("default", after=seen).experiences == [(1, "q1", True)]
    assert store.experience("default", "exp-00001") == before
    assert store.standings("default")["exp-00001"] == used
    back = Standing(id="exp-00001", status="archived", uses=1)
    store.commit("default", change(Restore(id="exp-00001", state=back.model_dump(mode="json"))))
    assert store.standings("default")["exp-00001"] == back
    check_replayed(store)


@pytest.mark.parametrize(
    ("operation", "sentence"),
    [
        (Tag(id="exp-00009", uses=1), "There is no experience 'exp-00009'"),
        (Tag(id="exp-1", uses=1), "There is no experience 'exp-1'"),
        (Tag(id="exp-00001", helpful=1), "counts its uses"),
        (Restore(id="exp-00001"), "The experience 'exp-00001' is active; only what is archived"),
        (Update(id="exp-00001", content="x"), "There is no bullet 'exp-00001'"),
        (Merge(into="misc-00001", absorbed=("exp-00001",)), "There is no bullet 'exp-00001'"),
    ],
)
def test_k8_what_an_experience_cannot_take_is_named(store: MemoryStore, operation: Operation, sentence: str) -> None:
    store.commit("default", change(add("one"), experiences=(lived("q"),)))
    (skipped,) = store.commit("default", change(operation)).skipped
    assert sentence in skipped


def test_experiences_come_least_recently_used_first(store: MemoryStore) -> None:
    def at(hours: int) -> datetime:
        return NOW + timedelta(hours=hours)

    for hours in (0, 1, 1, 2):
        store.commit("default", change(experiences=(lived(f"{hours}").model_copy(update={"created_at": at(hours)}),)))
    store.commit("default", change(Tag(id="exp-00001", uses=1), at=at(2)))
    order = [experience.id for experience in store.experiences("default", order="least-recent")]
    assert order == ["exp-00002", "exp-00003", "exp-00001", "exp-00004"]
    assert len(store.experiences("default", order="least-recent", limit=2)) == 2
    assert store.experiences("default", order="least-recent", limit=1)[0].id == "exp-00002"


def test_k6_experiences_of_another_namespace_are_neither_used_nor_archived(store: MemoryStore) -> None:
    store.commit("a", change(experiences=(lived("in a"),)))
    for operation in (Tag(id="exp-00001", uses=1), Remove(id="exp-00001")):
        assert len(store.commit("b", change(operation)).skipped) == 1
    assert store.standings("a") == {"exp-00001": Standing(id="exp-00001")}


def test_the_journal_is_read_in_parts(store: MemoryStore) -> None:
    versions = [store.commit("default", change(add(f"{n}"))).entry.version for n in range(5)]
    read = [entry.version for entry in store.journal("default", after=versions[0], until=versions[3])]
    assert read == versions[1:4]
    newest = store.journal("default", until=versions[3], limit=2, newest_first=True)
    assert [entry.version for entry in newest] == [versions[3], versions[2]]
    assert list(store.journal("default", until=0)) == []


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
        store.commit("default", change(experiences=(lived(f"q{number}"),), cause="turn"))
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
    store.commit("default", change(add("half \ud83d of a smiley"), experiences=(lived("\udc00", "\x00 NUL"),)))
    (bullet,) = store.bullets("default")
    assert bullet.content == "half \ufffd of a smiley"
    (experience,) = store.experiences("default")
    assert (experience.query, experience.answer) == ("\ufffd", "\x00 NUL")
