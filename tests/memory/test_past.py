"""The past of a memory: as it was, why it is so, what changed, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import OperationError, StoreCorruptError
from cheatsheet.memory.experience import Experience, Feedback
from cheatsheet.memory.history.blame import Touch, blame, touches_of
from cheatsheet.memory.history.journal import Change, JournalEntry
from cheatsheet.memory.history.past import Difference, History, difference, roll_back, rollback_operations
from cheatsheet.memory.history.past_view import PastView
from cheatsheet.memory.history.sheet import Sheet
from cheatsheet.memory.operations import Add, Merge, Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.view import BulletOrder, MemoryView
from indexes.hashing import HashingEmbedder
from tests.memory.strategies import operations
from tests.memory.worlds import NOW, Memory, add

batches = st.lists(st.tuples(st.lists(operations(), max_size=4), st.integers(0, 1)), min_size=1, max_size=6)
Batches = list[tuple[list[Operation], int]]


def write(store: SqliteStore, *operations: Operation, turns: int = 0, hours: float = 0, **more: object) -> int:
    at = NOW + timedelta(hours=hours)
    lived = tuple(Experience(query=f"q{turn}", answer="a", created_at=at) for turn in range(turns))
    values: dict[str, object] = {"at": at, "cause": "user", "operations": operations, "experiences": lived}
    return store.commit("default", Change.model_validate(values | more)).entry.version


def written(batches: Batches) -> SqliteStore:
    store = SqliteStore(":memory:")
    for hours, (batch, turns) in enumerate(batches):
        write(store, *batch, turns=turns, hours=hours)
    return store


def journal(store: SqliteStore) -> Sequence[JournalEntry]:
    return store.journal("default")


def past_of(store: SqliteStore) -> History:
    return History.of(store, "default")


def now(store: SqliteStore) -> Sheet:
    return past_of(store).as_of()


# A place in the past


@pytest.fixture
def past(memory: Memory) -> SqliteStore:
    """Versions 1, 3 and 4; version 2 is another namespace's."""
    write(memory.store, add("one"), turn_id="t1")
    memory.store.commit("elsewhere", Change(at=NOW, cause="user"))
    write(memory.store, add("two"), hours=1)
    write(memory.store, add("three"), hours=25, turn_id="2026-01-05")
    return memory.store


@pytest.mark.parametrize(
    ("given", "version"),
    [
        (0, 0),
        (1, 1),
        (2, 1),
        ("3", 3),
        (" 4 ", 4),
        ("t1", 1),
        ("2026-01-05T00:59", 1),
        ("2026-01-05 01:00", 3),
        ("2026-01-05T02:00+01:00", 3),
        ("2026-01-05T01:00:00Z", 3),
        ("2026-01-06", 3),
        ("2030-01-01", 4),
        (NOW + timedelta(hours=2), 3),
        ((NOW + timedelta(hours=2)).replace(tzinfo=None), 3),
        ("2026-01-05", 4),  # the name of a turn goes before a time
    ],
)
def test_a_place_is_a_version_a_time_or_a_turn(past: SqliteStore, given: int | str | datetime, version: int) -> None:
    assert past_of(past).version_at(given) == version


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (5, "There is no version 5."),
        (-1, "There is no version -1."),
        ("t2", "'t2' is neither a version nor a turn nor a time."),
        ("", "'' is neither"),
        ("9" * 5000, "is neither"),
        ("0001-01-01T00:00+14:00", "is neither"),
        ("2026-01-04", "The memory has nothing from 2026-01-04 00:00 or before."),
    ],
)
def test_a_place_that_is_none_is_told_with_those_there_are(past: SqliteStore, given: int | str, sentence: str) -> None:
    with pytest.raises(OperationError) as told:
        past_of(past).version_at(given)
    assert sentence in str(told.value)
    assert "Versions go from 1 (2026-01-05 00:00) to 4 (2026-01-06 01:00)" in str(told.value)


def test_a_memory_without_a_past_has_version_0_only() -> None:
    assert History([]).version_at("0") == 0
    with pytest.raises(OperationError, match="no history yet"):
        History([]).version_at(1)


# As of


@settings(max_examples=25)
@given(batches=batches)
def test_as_of_a_version_is_the_memory_of_that_version(batches: Batches) -> None:
    store = SqliteStore(":memory:")
    seen = [Sheet()]
    for batch, turns in batches:
        write(store, *batch, turns=turns)
        bullets = {bullet.id: bullet for bullet in store.bullets("default", status=None)}
        seen.append(replace(now(store), bullets=bullets, standings=store.standings("default")))
    assert [past_of(store).as_of(version) for version in range(len(seen))] == seen
    store.close()


def test_a_journal_that_something_else_changed_is_told(past: SqliteStore) -> None:
    entry = journal(past)[0].model_copy(update={"operations": (Tag(id="misc-00009", uses=1),)})
    with pytest.raises(StoreCorruptError, match="Version 1 of the journal holds an operation that cannot have taken"):
        History([entry]).as_of(4)


# Difference


def test_every_kind_of_change_is_told(memory: Memory) -> None:
    store = memory.store
    before = write(
        store, *(add(name) for name in ("reworded", "counted", "archived", "restored", "merged", "moved")), turns=2
    )
    before = write(store, Remove(id="misc-00004"), Remove(id="exp-00002"))
    write(
        store,
        Update(id="misc-00001", content="in other words"),
        Tag(id="misc-00002", helpful=1, uses=2),
        Remove(id="misc-00003", reason="harmful"),
        Restore(id="misc-00004"),
        Merge(into="misc-00002", absorbed=("misc-00005",)),
        Update(id="misc-00006", section="meta strategies", tags=("t",)),
        add("new"),
        Remove(id="exp-00001"),
        Restore(id="exp-00002"),
        turns=1,
    )
    told = difference(past_of(store).as_of(before), now(store))
    names = {
        name: [
            getattr(value, "id", value) if not hasattr(value, "after") else value.after.id
            for value in getattr(told, name)
        ]
        for name in Difference.__dataclass_fields__
    }
    assert names == {
        "added": ["misc-00007"],
        "gone": [],
        "archived": ["misc-00003"],
        "restored": ["misc-00004"],
        "merged": ["misc-00005"],
        "reworded": ["misc-00001"],
        "recounted": ["misc-00002"],
        "altered": ["misc-00006"],
        "experiences_added": ["exp-00003"],
        "experiences_gone": [],
        "experiences_archived": ["exp-00001"],
        "experiences_restored": ["exp-00002"],
    }
    assert told.reworded[0].edits == {"content": ("reworded", "in other words")}
    assert told.recounted[0].edits == {"helpful": (0, 1), "uses": (0, 2)}
    assert told.altered[0].edits == {"section": ("others", "meta_strategies"), "tags": ((), ("t",))}
    back = difference(now(store), past_of(store).as_of(before))
    assert [bullet.id for bullet in back.gone] == ["misc-00007"]
    assert [bullet.id for bullet in back.archived] == ["misc-00004"]
    assert back.experiences_gone == ("exp-00003",)


@settings(max_examples=25)
@given(batches=batches)
def test_a_memory_does_not_differ_from_itself(batches: Batches) -> None:
    store = written(batches)
    assert not difference(now(store), now(store))
    store.close()


# The way back


@settings(max_examples=25)
@given(batches=batches, more=batches, data=st.data())
def test_rolled_back_it_is_what_it_was_and_rolling_back_that_brings_the_present_back(
    batches: Batches, more: Batches, data: st.DataObject
) -> None:
    store = written(batches)
    for batch, turns in more:
        write(store, *batch, turns=turns, hours=100)
    present, newest = now(store), store.version("default")
    target = data.draw(st.sampled_from([*range(len(batches)), len(batches)]))
    then = past_of(store).as_of(target)

    committed = roll_back(store, "default", target, at=NOW + timedelta(days=9))
    assert (committed.skipped, committed.entry.cause) == ((), "rollback")
    back = now(store)
    assert {id: bullet for id, bullet in back.bullets.items() if id in then.bullets} == then.bullets
    assert {id: standing for id, standing in back.standings.items() if id in then.standings} == then.standings
    later = [bullet for bullet in back if bullet.id not in then.bullets]
    assert [bullet.id for bullet in back] == list(present.bullets), "nothing is destroyed"
    for bullet in later:
        assert bullet.status != "active"
        if bullet.status == "merged":
            assert bullet.metadata["merged_into"] not in then.bullets, "it would be lost in what is as it was"
    assert all(back.standings[id].status == "archived" for id in back.standings if id not in then.standings)
    assert rollback_operations(back, then) == ()
    told = difference(then, back)
    assert told == Difference(added=tuple(later), experiences_added=told.experiences_added)
    assert store.bullets("default", status=None) == list(back)

    assert roll_back(store, "default", newest, at=NOW + timedelta(days=10)).skipped == ()
    assert (now(store).bullets, now(store).standings) == (present.bullets, present.standings)
    store.close()


def test_a_later_bullet_that_went_into_an_older_one_comes_out_of_it_again(memory: Memory) -> None:
    store = memory.store
    then = write(store, add("old", helpful=1))
    write(store, add("later", helpful=2), add("later still", helpful=4), turns=1)
    write(store, Merge(into="misc-00002", absorbed=("misc-00003",)))
    write(store, Merge(into="misc-00001", absorbed=("misc-00002",)))
    roll_back(store, "default", then, at=NOW)
    old, later, still = store.bullets("default", status=None)
    assert (old.content, old.helpful, old.status) == ("old", 1, "active")
    assert (later.helpful, later.status, later.metadata) == (
        6,
        "archived",
        {"archived_because": f"rolled back to version {then}"},
    )
    assert (still.status, still.metadata["merged_into"]) == ("merged", "misc-00002")
    assert [experience.id for experience in store.experiences("default")] == []
    assert [bullet.content for bullet in memory.view.bullets()] == ["old"]
    assert [hit.value.id for hit in memory.view.nearest_bullets("later", 3)] == ["misc-00001"]


# Blame


def told(touches: Sequence[Touch]) -> list[tuple[int, str, str]]:
    return [(touch.version, touch.bullet_id, touch.operation.type) for touch in touches]


def test_blame_names_turn_model_feedback_and_what_changed(memory: Memory) -> None:
    lived = Experience(query="How far?", answer="7", feedback=Feedback(correct=False, expected="8"), created_at=NOW)
    change = Change(
        at=NOW, cause="turn", turn_id="t1", mode="cumulative", model="m", operations=(add("Round up."),),
        experiences=(lived,), notes=("a note",),
    )  # fmt: skip
    memory.store.commit("default", change)
    write(memory.store, Update(id="misc-00001", content="Round up always."), hours=1)
    made, changed = blame(memory.store, "default", "misc-00001")
    assert (made.version, made.at, made.cause, made.turn_id) == (1, NOW, "turn", "t1")
    assert (made.mode, made.model, made.notes, made.before, made.edits) == ("cumulative", "m", ("a note",), None, {})
    assert made.after.content == "Round up."
    (experience,) = made.experiences
    assert (experience.id, experience.query, experience.feedback) == ("exp-00001", "How far?", lived.feedback)
    assert changed.edits == {"content": ("Round up.", "Round up always.")}
    assert (changed.cause, changed.experiences) == ("user", ())


def test_of_a_batch_blame_names_the_turns_that_the_bullet_comes_from(memory: Memory) -> None:
    write(memory.store, add("of one turn", sources=("exp-00002",)), add("of all"), turns=3)
    assert [e.id for e in blame(memory.store, "default", "misc-00001")[0].experiences] == ["exp-00002"]
    assert len(blame(memory.store, "default", "misc-00002")[0].experiences) == 3


def test_blame_follows_merges_both_ways(memory: Memory) -> None:
    store = memory.store
    write(store, add("a"), add("b"), add("c"), add("d"), add("elsewhere"))  # 1
    write(store, Merge(into="misc-00002", absorbed=("misc-00001",)))  # 2: b takes a in
    write(store, Tag(id="misc-00002", helpful=1))  # 3
    write(store, Merge(into="misc-00003", absorbed=("misc-00002",)))  # 4: c takes b in
    write(store, Tag(id="misc-00003", harmful=1))  # 5
    write(store, Merge(into="misc-00003", absorbed=("misc-00004",)))  # 6: c takes d in
    # Of b: what it took in, itself, and c from the moment at which it took b in.
    assert told(blame(store, "default", "misc-00002")) == [
        (1, "misc-00001", "add"),
        (1, "misc-00002", "add"),
        (2, "misc-00002", "merge"),
        (2, "misc-00001", "merge"),
        (3, "misc-00002", "tag"),
        (4, "misc-00003", "merge"),
        (4, "misc-00002", "merge"),
        (5, "misc-00003", "tag"),
        (6, "misc-00003", "merge"),
    ]
    # Of c: all that went into it, but not what d would have been without it.
    assert {touch.bullet_id for touch in blame(store, "default", "misc-00003")} == {
        "misc-00001", "misc-00002", "misc-00003", "misc-00004",
    }  # fmt: skip
    assert told(blame(store, "default", "misc-00001"))[-1] == (6, "misc-00003", "merge")
    assert blame(store, "default", "misc-00001")[2].merged_into == "misc-00002"


def test_blame_follows_a_survivor_no_longer_than_until_the_bullet_is_back(memory: Memory) -> None:
    store = memory.store
    then = write(store, add("a"), add("b"))
    write(store, Merge(into="misc-00002", absorbed=("misc-00001",)))
    roll_back(store, "default", then, at=NOW)
    write(store, Tag(id="misc-00002", uses=1))
    write(store, Tag(id="misc-00001", uses=1))
    assert told(blame(store, "default", "misc-00001")) == [
        (1, "misc-00001", "add"),
        (2, "misc-00002", "merge"),
        (2, "misc-00001", "merge"),
        (3, "misc-00001", "restore"),
        (5, "misc-00001", "tag"),
    ]


def test_a_bullet_that_was_brought_back_as_a_merged_one_can_be_blamed(memory: Memory) -> None:
    """What it is to live on in does not change with it, so that nothing of that one is told."""
    store = memory.store
    write(store, add("a"), add("b"))
    bullet = store.bullet("default", "misc-00001")
    assert bullet is not None
    state = bullet.model_dump(mode="json")
    write(store, Restore(id=bullet.id, state=state | {"status": "merged", "metadata": {"merged_into": "misc-00002"}}))
    write(store, Restore(id=bullet.id, state=state))
    changes = [(version, "misc-00001", what) for version, what in enumerate(("add", "restore", "restore"), start=1)]
    assert told(blame(store, "default", "misc-00001")) == changes


def test_bullets_that_take_each_other_in_by_turns_can_be_blamed(memory: Memory) -> None:
    store = memory.store
    then = write(store, add("a"), add("b"))
    for number in range(30):
        into, absorbed = ("misc-00001", "misc-00002") if number % 2 else ("misc-00002", "misc-00001")
        write(store, Merge(into=into, absorbed=(absorbed,)))
        roll_back(store, "default", then, at=NOW)
    touches = blame(store, "default", "misc-00001")
    # Made once, in 30 merges, and brought back from the 15 that took it in; of the other one all but the last return.
    assert [sum(touch.bullet_id == f"misc-{n:05d}" for touch in touches) for n in (1, 2)] == [1 + 30 + 15, 1 + 30 + 14]


@settings(max_examples=25)
@given(batches=batches)
def test_the_last_change_of_a_bullet_is_what_it_is(batches: Batches) -> None:
    store = written(batches)
    for bullet in now(store):
        touches = touches_of(journal(store), bullet.id)
        own = [touch for touch in touches if touch.bullet_id == bullet.id]
        assert isinstance(own[0].operation, Add)
        assert own[0].before is None
        assert own[-1].after == bullet
        assert all(one.after == following.before for one, following in pairwise(own))
        assert [touch.version for touch in touches] == sorted(touch.version for touch in touches)
    with pytest.raises(OperationError, match="There never was a bullet 'misc-99999'"):
        touches_of(journal(store), "misc-99999")
    store.close()


# A view of the past


def seen(view: MemoryView) -> dict[str, object]:
    orders: list[BulletOrder] = ["id", "utility", "worst", "recent", "expiring"]
    return {
        "place": (view.namespace, view.version),
        "bullets": [view.bullets(order=order, status=None) for order in orders],
        "best": view.bullets(order="utility", limit=2),
        "section": view.bullets(section="formulas_and_calculations"),
        "counts": [view.count_bullets(status) for status in ("active", "archived", "merged", None)],
        "experiences": [view.experiences(), view.experiences(limit=1), view.experiences(limit=0)],
        "oldest": [view.experiences(order="least-recent"), view.experiences(order="least-recent", limit=1)],
        "served": [view.count_experiences(status) for status in ("active", "archived", None)],
        "one": [(view.bullet(f"misc-{n:05d}"), view.experience(f"exp-{n:05d}")) for n in range(1, 5)],
        "near": view.nearest_bullets("check the units", 3),
        "among": view.nearest_bullets("check", 3, among=["misc-00001", "misc-00003", "zz"]),
        "turns": view.nearest_experiences("q0", 2, min_score=0.1),
        "none": [view.nearest_bullets("x", 0), view.nearest_experiences("x", 0)],
    }


@settings(max_examples=25)
@given(batches=batches, more=batches)
def test_the_past_is_seen_as_it_was_seen_then(batches: Batches, more: Batches) -> None:
    memory = Memory(HashingEmbedder())
    for hours, (batch, turns) in enumerate(batches):
        write(memory.store, *batch, turns=turns, hours=hours)
    then, version = seen(memory.view), memory.view.version
    for batch, turns in more:
        write(memory.store, *batch, turns=turns, hours=100)
    sheet = past_of(memory.store).as_of(version)
    view = PastView(memory.store, sheet, memory.embedder, namespace="default", version=version)
    assert seen(view) == then
    memory.store.close()
