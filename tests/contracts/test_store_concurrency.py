"""K6, K7 and K10: many at once on one memory. The fixtures are those of `tests/memory/stores.py`."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cheatsheet.errors import OperationError, StoreBusyError
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.history.journal import Change, JournalEntry
from cheatsheet.memory.history.past import roll_back
from cheatsheet.memory.operations import Operation, Remove, Update
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.upkeep.verify import verify, verify_namespace
from tests.concurrency.worlds import NOW, add, at_once, change
from tests.memory.stores import Place, fresh_namespace
from tests.memory.strategies import operations


class Held:
    """A transaction that another thread holds open until it is let go."""

    def __init__(self, store: MemoryStore, *found: Operation) -> None:
        self._inside, self._go = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=store.commit, args=("default", change(*found)), kwargs={"then": self})

    def __call__(self) -> Sequence[Operation]:
        self._inside.set()
        self._go.wait()
        return ()

    def __enter__(self) -> None:
        self._thread.start()
        self._inside.wait()

    def __exit__(self, *error: object) -> None:
        self._go.set()
        self._thread.join()


def contents(store: MemoryStore, namespace: str = "default") -> list[str]:
    return [bullet.content for bullet in store.bullets(namespace)]


# K7


def test_k7_nothing_is_lost_and_no_number_given_twice(shared_place: Place) -> None:
    stores = [shared_place.open() for _ in range(3)]

    def work(store: MemoryStore, name: str) -> list[JournalEntry]:
        lived = Experience(query=name, answer="a", created_at=NOW)
        return [
            store.commit("default", change(add(f"{name} {n}"), experiences=(lived,), turn_id=f"{name}-{n}")).entry
            for n in range(10)
        ]

    names = [f"worker {number}" for number in range(6)]
    told = at_once(*(lambda n=n, name=name: work(stores[n % 3], name) for n, name in enumerate(names)))
    entries = [entry for found in told for entry in found]  # type: ignore[attr-defined]  # lists of entries
    assert sorted(entries, key=lambda entry: entry.version) == list(stores[0].journal("default"))
    assert len({bullet.id for bullet in stores[1].bullets("default")}) == 60
    assert len({id for entry in entries for id in entry.experience_ids}) == 60
    assert verify(stores[2]) == []


def test_k7_a_turn_that_two_learn_at_once_is_learnt_once(shared_place: Place) -> None:
    one, two = shared_place.open(), shared_place.open()

    def learn(store: MemoryStore) -> str:
        try:
            store.commit("default", change(add("x"), turn_id="t"))
        except OperationError as error:
            return str(error)
        return "learnt"

    told = at_once(lambda: learn(one), lambda: learn(two))
    assert "learnt" in told
    assert any("'t' was learnt before" in str(sentence) for sentence in told)
    assert contents(one) == ["x"]


def test_k7_readers_do_not_wait_for_a_writer(shared_place: Place) -> None:
    store, other = shared_place.open(), shared_place.open()
    store.commit("default", change(add("one")))
    with Held(store, add("two"), Update(id="misc-00001", content="changed")):
        assert at_once(lambda: contents(store), lambda: contents(other)) == [["one"], ["one"]]
        assert other.version("default") == 1
    assert contents(other) == ["changed", "two"]


@pytest.mark.parametrize("opened", ["the same store", "another one"])
def test_k7_a_writer_waits_for_another_one_only_so_long(shared_place: Place, opened: str) -> None:
    store = shared_place.open(timeout_s=0.2)
    other = store if opened == "the same store" else shared_place.open(timeout_s=0.2)
    with Held(store, add("first")), pytest.raises(StoreBusyError, match="busy_timeout_s"):
        other.commit("default", change(add("late")))
    other.commit("default", change(add("in time")))
    assert contents(store) == ["first", "in time"]


def test_k7_a_writer_that_fails_is_in_nobody_s_way(place: Place) -> None:
    store = place.open(timeout_s=5.0)

    def fail(*_: object) -> Change:
        raise RuntimeError("it fails in the middle")

    for more in ({"then": fail}, {"revise": fail, "seen": 7}):
        with pytest.raises(RuntimeError, match="in the middle"):
            store.commit("default", change(add("half")), **more)
    assert at_once(lambda: store.commit("default", change(add("whole"))).skipped) == [()]
    assert contents(store) == ["whole"]


# K10


def test_k10_a_change_is_revised_only_where_the_memory_has_changed(place: Place) -> None:
    store, asked = place.open(), list[Change]()

    def revise(change: Change) -> Change:
        asked.append(change)
        return change.model_copy(update={"operations": (add("revised"),), "notes": ("told",)})

    first = store.commit("default", change(add("one")), seen=0, revise=revise).entry
    assert asked == []
    proposed = change(add("two"), turn_id="t")
    revised = store.commit("default", proposed, seen=0, revise=revise, beside=[change(record={"n": 1})]).entry
    assert asked == [proposed]
    assert (revised.turn_id, revised.notes) == ("t", ("told",))
    store.commit("default", change(add("three")), seen=revised.version, revise=revise)
    store.commit("elsewhere", change(add("other")), seen=0, revise=revise)
    assert (contents(store), len(asked)) == (["one", "revised", "three"], 1)
    assert first.version < revised.version


def test_k10_nothing_comes_between_the_revision_and_the_commit(shared_place: Place) -> None:
    """Two find that a bullet is not there yet, and one of them adds it."""
    one, two = shared_place.open(), shared_place.open()

    def unless_there(store: MemoryStore) -> None:
        def revise(proposed: Change) -> Change:
            return proposed.model_copy(update={"operations": ()}) if contents(store) else proposed

        store.commit("default", change(add("once")), seen=0, revise=revise)

    with Held(one, add("once")):
        waiting = threading.Thread(target=unless_there, args=(two,))
        waiting.start()
    waiting.join()
    at_once(*[lambda: unless_there(one), lambda: unless_there(two)] * 3)
    assert contents(one) == ["once"]
    assert len(one.journal("default")) == 8


# K6

ACCENTED = "mémoire"
HOSTILE = [
    "",
    " ",
    "space ",
    "Space",
    "SPACE",
    unicodedata.normalize("NFD", ACCENTED),
    ACCENTED,
    "spаce",  # with a Cyrillic letter
    "space'; DROP TABLE bullets; --",
    '"space"',
    "%",
    "_____",
    "sp_ce",
    "space\x00",
    "space\n",
    "../space",
    "..",
    "*",
    "🧀",
    "x" * 1_900,
    "x" * 1_901,
    "0",
    "None",
]


def live_in(store: MemoryStore, namespace: str, name: str) -> None:
    lived = Experience(query=f"question of {name}", answer="a", created_at=NOW)
    words = (add(f"first of {name}"), add(f"second of {name}"))
    store.commit(namespace, change(*words, experiences=(lived,), turn_id="t", record={"name": name}))
    store.commit(namespace, change(Update(id="misc-00001", content=f"changed by {name}")))


def seen_in(store: MemoryStore, namespace: str) -> list[object]:
    """All that a store tells of a namespace, without the versions, which grow over the whole of it."""
    told = store.entry_of_turn(namespace, "t")
    touched = store.touched(namespace, after=0)
    return [
        contents(store, namespace),
        [experience.query for experience in store.experiences(namespace)],
        [entry.model_copy(update={"version": 0}) for entry in store.journal(namespace)],
        told and told.record,
        (touched.bullets, touched.experiences),
        store.standings(namespace),
        [store.count_bullets(namespace), store.count_experiences(namespace), store.sheet_tokens(namespace)],
        store.matching_bullets(namespace, "first second changed", 9),
        store.matching_experiences(namespace, "question", 9),
        store.bullets_by_number(namespace, [1, 2, 3]),
        store.next_numbers(namespace),
    ]


def test_k6_no_name_reaches_what_another_one_has(place: Place) -> None:
    store = place.open()
    for name in ("space", *HOSTILE):
        assert contents(store, name) == []
        assert store.version(name) == 0
        live_in(store, name, name[:40] + str(len(name)))
    assert sorted(store.namespaces()) == sorted(["space", *HOSTILE])
    expected = seen_in(store, "space")
    for name in HOSTILE:
        own = name[:40] + str(len(name))
        assert contents(store, name) == [f"changed by {own}", f"second of {own}"]
        told = store.entry_of_turn(name, "t")
        assert told is not None
        assert told.record == {"name": own}
        assert [experience.query for experience in store.experiences(name)] == [f"question of {own}"]
        assert store.mark(name, store.version("space")) == ""
    for name in HOSTILE:
        store.commit(name, change(Remove(id="misc-00001"), Remove(id="misc-00002"), Remove(id="exp-00001")))
        roll_back(store, name, 0, at=NOW)
    assert seen_in(store, "space") == expected
    assert verify(store) == []


def test_k6_the_way_back_of_one_leaves_the_other(place: Place) -> None:
    store = place.open()
    live_in(store, "one", "one")
    first = store.version("one")
    live_in(store, "two", "two")
    store.commit("one", change(Remove(id="misc-00002")))
    two = seen_in(store, "two")
    roll_back(store, "one", first, at=NOW)
    assert contents(store, "one") == ["changed by one", "second of one"]
    assert seen_in(store, "two") == two


lives = st.lists(st.tuples(st.integers(0, 1), st.lists(operations(), max_size=4), st.integers(0, 1)), max_size=8)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(lived=lives)
def test_k6_two_namespaces_live_as_if_each_were_alone(
    lasting_store: MemoryStore, lived: list[tuple[int, list[Operation], int]]
) -> None:
    together = [fresh_namespace(), fresh_namespace()]
    alone = [fresh_namespace(), fresh_namespace()]

    def live(namespace: str, step: int) -> None:
        _, batch, turns = lived[step]
        experience = Experience(query=f"q{step}", answer="a", created_at=NOW)
        at = NOW + timedelta(seconds=step)
        lasting_store.commit(namespace, change(*batch, at=at, experiences=(experience,) * turns, turn_id=f"t{step}"))

    for step, (which, _, _) in enumerate(lived):
        live(together[which], step)
    for which in (0, 1):
        for step in [step for step, (other, _, _) in enumerate(lived) if other == which]:
            live(alone[which], step)
    for which in (0, 1):
        assert seen_in(lasting_store, together[which]) == seen_in(lasting_store, alone[which])
        assert list(verify_namespace(lasting_store, together[which])) == []
