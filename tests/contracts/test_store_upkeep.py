"""K3, K5, K11 and K12 where a journal is compacted, and what a vacuum leaves of the past."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import takewhile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cheatsheet.errors import OperationError
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.history.blame import Touch, blame
from cheatsheet.memory.history.compaction import Compaction, compaction_of
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.history.past import History, roll_back
from cheatsheet.memory.history.sheet import Sheet, Snapshot
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.upkeep.vacuum import vacuum
from cheatsheet.memory.upkeep.verify import verify, verify_namespace
from indexes.cached import CacheKey
from tests.memory.stores import Place, fresh_namespace

NOW = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)


def write(store: MemoryStore, *operations: Operation, namespace: str = "default", **more: object) -> int:
    values: dict[str, object] = {"at": NOW, "cause": "user", "operations": operations} | more
    return store.commit(namespace, Change.model_validate(values)).entry.version


def add(content: str, **more: object) -> Add:
    return Add(draft=Draft.model_validate({"content": content} | more))


def lived(query: str) -> Experience:
    return Experience(query=query, answer="an answer", created_at=NOW)


# A life: batches of operations with experiences, each of them a turn or not, and ways back into the past.

some = st.integers(1, 4).map(lambda number: f"misc-{number:05d}")
turns = st.integers(1, 3).map(lambda number: f"exp-{number:05d}")
words = st.sampled_from(["one", "two", "three"])
uses = st.builds(Tag, id=some, uses=st.integers(1, 2))
steps: st.SearchStrategy[Operation] = st.one_of(
    st.builds(Add, draft=st.builds(Draft, content=words)),
    uses,
    uses,
    st.builds(Tag, id=some, helpful=st.integers(0, 1), harmful=st.integers(0, 1), uses=st.integers(0, 1)),
    st.builds(Update, id=some, content=words),
    st.builds(Merge, into=some, absorbed=some.map(lambda id: (id,))),
    st.builds(Remove, id=some | turns, reason=words),
    st.builds(Restore, id=some | turns),
    st.builds(Tag, id=turns, uses=st.just(1)),
)
batches = st.tuples(
    st.lists(steps, min_size=1, max_size=5), st.integers(0, 1), st.sampled_from(["", "", "turn", "record"])
)
made = st.tuples(st.just([Add(draft=Draft(content=f"{n}")) for n in range(4)]), st.just(2), st.just(""))
more = st.lists(st.one_of(batches, batches, batches, batches, st.integers(0, 9)), min_size=1, max_size=10)
lives = st.builds(lambda first, rest: [first, *rest], made, more)
Life = Sequence[tuple[list[Operation], int, str] | int]


class Lived:
    """One namespace with all that was known of it at each of its versions."""

    def __init__(self, store: MemoryStore, namespace: str) -> None:
        self.store = store
        self.namespace = namespace
        self.then: dict[int, Sheet] = {}
        self.turns: dict[str, dict[str, object] | None] = {}

    @property
    def history(self) -> History:
        return History.of(self.store, self.namespace)

    @property
    def versions(self) -> list[int]:
        return sorted(self.then)

    def live(self, life: Life) -> None:
        for step in life:
            at = NOW + timedelta(seconds=len(self.then))
            if isinstance(step, int):
                known = [version for version in self.versions if version >= self.history.snapshot.version]
                if known:
                    roll_back(self.store, self.namespace, known[step % len(known)], at=at)
            else:
                self._commit(*step, at=at)
            self.then[self.store.version(self.namespace)] = self.stored()
        self.check()

    def _commit(self, batch: Sequence[Operation], turns: int, kind: str, *, at: datetime) -> None:
        named = f"turn-{len(self.turns)}" if kind else ""
        record: dict[str, object] | None = {"row": len(self.turns)} if kind == "record" else None
        more = {"turn_id": named, "record": record, "experiences": tuple(lived(f"q{n}") for n in range(turns))}
        write(self.store, *batch, namespace=self.namespace, at=at, notes=("a note",), **more)
        if named:
            self.turns[named] = record

    def stored(self) -> Sheet:
        bullets = {bullet.id: bullet for bullet in self.store.bullets(self.namespace, status=None)}
        next_bullet, _ = self.store.next_numbers(self.namespace)
        return Sheet(bullets, next_bullet, dict(self.store.standings(self.namespace)))

    def check(self) -> None:
        """K3 and K5, of every version whose past is known; and what is not known any more says so."""
        history = self.history
        assert history.as_of() == self.stored()
        for version, sheet in self.then.items():
            if version >= history.snapshot.version:
                assert history.as_of(history.version_at(version)) == sheet
            else:
                with pytest.raises(OperationError, match=f"before version {history.snapshot.version} was compacted"):
                    history.version_at(version)
        for turn, record in self.turns.items():
            entry = self.store.entry_of_turn(self.namespace, turn)
            assert entry is not None
            assert entry.record == record
        assert list(verify_namespace(self.store, self.namespace)) == []

    def blamed(self, version: int) -> dict[str, list[Touch]]:
        """Why each bullet is what it is that was served at a version or at any time since."""
        served = {id: None for then, sheet in self.then.items() if then >= version for id in active(sheet)}
        return {id: in_rows(blame(self.store, self.namespace, id)) for id in served}

    def vacuum(self, version: int) -> None:
        """K11, and the same blame as before."""
        before, blamed = self.unchanging(), self.blamed(version)
        vacuum(self.store, self.namespace, version)
        assert self.unchanging() == before
        assert self.blamed(version) == blamed
        self.check()

    def unchanging(self) -> object:
        store, namespace = self.store, self.namespace
        numbers = store.next_numbers(namespace)
        version = store.version(namespace)
        touched = store.touched(namespace, after=0)
        experiences = store.experiences(namespace, status=None)
        return numbers, version, store.mark(namespace, version), self.stored(), touched, experiences


def active(sheet: Sheet) -> list[str]:
    return [bullet.id for bullet in sheet if bullet.status == "active"]


def in_rows(touches: Sequence[Touch]) -> list[Touch]:
    """The touches, in which uses of one bullet that nothing but uses comes between are one."""
    rows: list[Touch] = []
    for touch in touches:
        used = used_by(touch)
        since = list(takewhile(used_by, rows[::-1]))
        row = next((row for row in since if row.bullet_id == touch.bullet_id), None) if used else None
        if row is not None:
            rows.remove(row)
            operation = touch.operation.model_copy(update={"uses": used + used_by(row)})
            touch = replace(touch, operation=operation, before=row.before)
        rows.append(touch)
    return rows


def used_by(touch: Touch) -> int:
    """How many uses it counts, where it does nothing else."""
    operation = touch.operation
    return operation.uses if isinstance(operation, Tag) and not (operation.helpful or operation.harmful) else 0


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=lives, second=more, third=more, data=st.data())
def test_k11_a_vacuum_forgets_nothing_of_what_lives(
    lasting_store: MemoryStore, first: Life, second: Life, third: Life, data: st.DataObject
) -> None:
    life = Lived(lasting_store, fresh_namespace())
    life.live(first)
    life.vacuum(data.draw(st.sampled_from(life.versions)))
    life.live(second)
    later = [version for version in life.versions if version >= life.history.snapshot.version]
    life.vacuum(data.draw(st.sampled_from(later)))
    life.live(third)


def worn(store: MemoryStore) -> int:
    """A memory that has gone through much; returns the version from which on its past is to be known."""
    write(
        store, add("lives"), add("dies"), add("goes into it"), turn_id="t1", record={"row": 1}, experiences=[lived("q")]
    )
    for number in range(3):
        write(
            store,
            Tag(id="misc-00001", uses=1),
            Tag(id="misc-00002", uses=1),
            Tag(id="exp-00001", uses=1),
            turn_id=f"u{number}",
        )
    write(store, Tag(id="misc-00002", harmful=3), notes=("a note",))
    write(store, Merge(into="misc-00001", absorbed=("misc-00003",)), Remove(id="misc-00002", reason="harmful"))
    return write(store, Update(id="misc-00001", content="lives on"))


def told(store: MemoryStore) -> list[tuple[int, str, list[str]]]:
    """Version, turn and operations of each entry."""
    return [
        (entry.version, entry.turn_id, [f"{operation.type} {_id(operation)}" for operation in entry.operations])
        for entry in store.journal("default")
    ]


def _id(operation: Operation) -> str:
    return operation.into if isinstance(operation, Merge) else operation.id


def test_what_a_vacuum_forgets_and_what_it_keeps(store: MemoryStore) -> None:
    version = worn(store)
    done = vacuum(store, "default", version)
    assert told(store) == [
        (1, "t1", ["add misc-00001", "add misc-00003"]),
        (2, "u0", []),
        (3, "u1", []),
        (4, "u2", ["tag misc-00001"]),
        (6, "", ["merge misc-00001"]),
        (7, "", ["update misc-00001"]),
    ]
    assert (done.since, done.entries, done.operations) == (7, 1, 11)
    start = store.snapshot("default")
    assert (start.version, list(start.sheet.bullets), list(start.sheet.standings)) == (7, ["misc-00002"], ["exp-00001"])
    assert start.sheet.standings["exp-00001"].uses == 3
    assert [
        touch.operation.uses for touch in blame(store, "default", "misc-00001") if isinstance(touch.operation, Tag)
    ] == [3]
    assert verify(store) == []


def test_a_vacuum_that_only_tells_changes_nothing(store: MemoryStore) -> None:
    version = worn(store)
    before = (store.journal("default"), store.snapshot("default"))
    dry = vacuum(store, "default", version, dry_run=True)
    assert (store.journal("default"), store.snapshot("default")) == before
    done = vacuum(store, "default", version)
    # A server needs room for the snapshot before it gives any back.
    assert replace(dry, dry_run=False, bytes_before=done.bytes_before, bytes_after=done.bytes_after) == done
    again = vacuum(store, "default", version)
    assert (again.since, again.entries, again.operations, again.journal_bytes) == (version, 0, 0, 0)


def test_where_nothing_goes_the_whole_past_stays(store: MemoryStore) -> None:
    version = write(store, add("one"), turn_id="t")
    assert vacuum(store, "default", version).since == 0
    assert store.snapshot("default") == Snapshot()
    assert vacuum(store, "nowhere", 0).since == 0


def test_k5_a_turn_is_learnt_once_also_when_its_entry_was_rewritten(store: MemoryStore) -> None:
    vacuum(store, "default", worn(store))
    for turn in ("t1", "u0"):
        with pytest.raises(OperationError, match=f"'{turn}' was learnt before"):
            write(store, turn_id=turn)


def test_what_is_forgotten_can_be_restored_and_its_blame_says_why_it_begins_late(store: MemoryStore) -> None:
    vacuum(store, "default", worn(store))
    with pytest.raises(OperationError, match=r"What made misc-00002 is not known any more.*up to version 7"):
        blame(store, "default", "misc-00002")
    back = write(store, Restore(id="misc-00002"))
    (touch,) = blame(store, "default", "misc-00002")
    assert (touch.version, touch.before is not None, touch.after.harmful) == (back, True, 3)
    assert vacuum(store, "default", back).since == 7, "nothing more to forget"
    write(store, add("dies too"))
    before, sheet = blame(store, "default", "misc-00002"), History.of(store, "default").as_of()
    last = write(store, Remove(id="misc-00004"))
    assert vacuum(store, "default", last).since == last
    assert list(store.snapshot("default").sheet.bullets) == ["misc-00002", "misc-00004"]
    assert blame(store, "default", "misc-00002") == before
    assert History.of(store, "default").as_of().bullets["misc-00002"] == sheet.bullets["misc-00002"]
    assert verify(store) == []


def test_a_mark_outlives_the_rewriting_of_its_entry(store: MemoryStore) -> None:
    version = worn(store)
    before = {at: store.mark("default", at) for at in range(1, version + 1)}
    vacuum(store, "default", version)
    after = {at: store.mark("default", at) for at in range(1, version + 1)}
    assert after == before | {5: ""}
    assert len(set(after.values())) == version


def test_k11_a_compaction_that_does_not_fit_any_more_changes_nothing(store: MemoryStore) -> None:
    compaction = compaction_of(History.of(store, "default"), 0)
    version = worn(store)
    compaction = compaction_of(History.of(store, "default"), version)
    assert compaction.forgotten == {"misc-00002"}
    before = (store.journal("default"), store.snapshot("default"))
    assert not store.compact("default", compaction, still=lambda: False)

    def fail() -> bool:
        raise OperationError("no more")

    with pytest.raises(OperationError, match="no more"):
        store.compact("default", compaction, still=fail)
    assert (store.journal("default"), store.snapshot("default")) == before
    write(store, Tag(id="misc-00001", uses=1))
    assert compaction.fits(store.journal("default", after=compaction.seen))
    write(store, Restore(id="misc-00002"))
    assert not compaction.fits(store.journal("default", after=compaction.seen))


def test_what_comes_to_life_while_the_journal_is_read_keeps_its_past(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = worn(store)
    compact = type(store).compact

    def late(self: MemoryStore, namespace: str, compaction: Compaction, *, still: Callable[[], bool]) -> bool:
        monkeypatch.undo()
        write(store, Restore(id="misc-00002"))
        return compact(self, namespace, compaction, still=still)

    monkeypatch.setattr(type(store), "compact", late)
    vacuum(store, "default", version)
    assert blame(store, "default", "misc-00002")[0].version == 1


def test_k6_a_vacuum_leaves_other_namespaces_alone(store: MemoryStore) -> None:
    version = worn(store)
    write(store, add("elsewhere"), namespace="other")
    write(store, Remove(id="misc-00001"), namespace="other")
    before = store.journal("other")
    vacuum(store, "default", version)
    assert (store.journal("other"), store.snapshot("other")) == (before, Snapshot())


def test_k12_what_is_read_while_it_is_pinned_is_of_one_moment(shared_place: Place) -> None:
    one, two = shared_place.open(), shared_place.open()
    write(one, add("first"))
    with one.pinned():
        assert one.version("default") == 1
        write(two, add("second"))
        assert (one.version("default"), one.count_bullets("default")) == (1, 1)
        with one.pinned():
            assert one.version("default") == 1
    assert one.version("default") == 2


def keys_of(*texts: str, model: str = "m") -> list[CacheKey]:
    return [CacheKey(model, "document", sha256(text.encode()).hexdigest()) for text in texts]


def test_embeddings_that_no_text_needs_go(store: MemoryStore) -> None:
    write(store, add("served"), add("archived"), add("merged"), experiences=[lived("asked")])
    write(store, Remove(id="misc-00002"), Merge(into="misc-00001", absorbed=("misc-00003",)))
    needed, unneeded = keys_of("served", "archived", "asked"), keys_of("merged", "words of old", model="other")
    store.put_many({key: np.array([1, 0], dtype=np.float32) for key in (*needed, *unneeded)})
    assert {key for key, _ in store.vectors()} == {*needed, *unneeded}
    assert vacuum(store, "default", 0, dry_run=True).vectors == 2
    assert vacuum(store, "default", 0).vectors == 2
    assert {key for key, _ in store.vectors()} == set(needed)


def test_embeddings_that_cannot_be_right_are_found_and_go(store: MemoryStore) -> None:
    write(store, add("a"), add("b"), add("c"), add("d"))
    keys = keys_of("a", "b", "c", "d")
    rows = ([1, 0, 0], [0, 0, 0], [2, 0, 0], [1, 0])
    store.put_many({key: np.array(row, dtype=np.float32) for key, row in zip(keys, rows, strict=True)})
    found = verify(store)
    assert [flaw.text for flaw in found] == [
        "Embeddings of the model m that are not of norm 1: 1.",
        "Embeddings of the model m that are not of length 3: 1.",
    ]
    assert "cheatsheet vacuum" in found[0].remedy
    assert vacuum(store, "default", 0).vectors == 2
    assert verify(store) == []
    assert {key for key, _ in store.vectors()} == set(keys[:2])


def test_an_embedding_that_is_neither_needed_nor_right_is_counted_once(store: MemoryStore) -> None:
    write(store, add("served"))
    right, wrong = (np.array(row, dtype=np.float32) for row in ([1, 0], [2, 0]))
    store.put_many(dict.fromkeys((*keys_of("served"), *keys_of("words of old")), wrong))
    store.put_many(dict.fromkeys(keys_of("other words of old"), right))
    assert [vacuum(store, "default", 0, dry_run=dry).vectors for dry in (True, True, False, False)] == [3, 3, 3, 0]


def test_the_next_numbers_are_told(store: MemoryStore) -> None:
    assert store.next_numbers("default") == (1, 1)
    write(store, add("one"), experiences=[lived("q"), lived("r")])
    assert store.next_numbers("default") == (2, 3)
    assert list(store.faults()) == []
