"""Evict: of too many experiences, the least recently used are archived."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.evict import EvictPolicy, evict
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.history.sheet import replay
from cheatsheet.memory.operations import Operation, Remove, Restore, Tag
from cheatsheet.memory.refine import RefinePolicy, refine
from indexes.hashing import HashingEmbedder
from tests.memory.worlds import NOW, Memory, add


def live(memory: Memory, *queries: str, hours: float = 0, then: Callable[[], list[Operation]] | None = None) -> None:
    at = NOW + timedelta(hours=hours)
    turns = tuple(Experience(query=query, answer="a", created_at=at) for query in queries)
    memory.store.commit("default", Change(at=at, cause="turn", experiences=turns), then=then)


def use(memory: Memory, id: str, *, hours: float) -> None:
    at = NOW + timedelta(hours=hours)
    memory.store.commit("default", Change(at=at, cause="turn", operations=(Tag(id=id, uses=1),)))


def evicted(memory: Memory, most: int | None) -> list[str]:
    return [removal.id for removal in evict(memory.view, EvictPolicy(max_experiences=most))]


def test_the_least_recently_used_go_first(memory: Memory) -> None:
    live(memory, "q1", "q2", "q3")
    live(memory, "q4", hours=1)
    use(memory, "exp-00001", hours=2)
    assert evicted(memory, None) == []
    assert evicted(memory, 4) == []
    assert evicted(memory, 2) == ["exp-00002", "exp-00003"]
    assert evicted(memory, 1) == ["exp-00002", "exp-00003", "exp-00004"]
    assert evict(memory.view, EvictPolicy(max_experiences=3)) == [Remove(id="exp-00002", reason="least recently used")]


def test_what_is_evicted_is_not_found_and_can_be_restored(memory: Memory) -> None:
    live(memory, "how far is the moon", "how far is the sun")
    assert [hit.value.id for hit in memory.view.nearest_experiences("the moon", 2)] == ["exp-00001", "exp-00002"]
    memory.commit(*evict(memory.view, EvictPolicy(max_experiences=1)))
    assert [hit.value.id for hit in memory.view.nearest_experiences("the moon", 2)] == ["exp-00002"]
    assert [experience.id for experience in memory.view.experiences()] == ["exp-00002"]
    assert memory.view.experience("exp-00001") is None
    assert (memory.view.count_experiences(), memory.view.count_experiences("archived")) == (1, 1)
    memory.commit(Restore(id="exp-00001"))
    assert [hit.value.id for hit in memory.view.nearest_experiences("the moon", 2)] == ["exp-00001", "exp-00002"]
    assert memory.view.experience("exp-00001") == memory.store.experience("default", "exp-00001")


def test_in_the_turn_s_own_transaction_the_limit_always_holds(memory: Memory) -> None:
    for number in range(6):
        live(memory, f"q{number}", hours=number, then=lambda: [*evict(memory.view, EvictPolicy(max_experiences=2))])
        assert memory.view.count_experiences() == min(number + 1, 2)
    assert [experience.query for experience in memory.view.experiences()] == ["q4", "q5"]
    assert replay(memory.store.journal("default")).standings == memory.store.standings("default")


@given(turns=st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(1, 8)), max_size=12), most=st.integers(0, 4))
def test_twice_is_once_and_none_that_stays_was_used_longer_ago(turns: list[tuple[int, int | None]], most: int) -> None:
    memory = Memory(HashingEmbedder())
    for hours, used in turns:
        live(memory, "q", hours=hours)
        if used:
            use(memory, f"exp-{used:05d}", hours=hours)
    policy = EvictPolicy(max_experiences=most)
    gone = evict(memory.view, policy)
    memory.commit(*gone)
    assert evict(memory.view, policy) == []
    assert memory.view.count_experiences() == min(most, len(turns))
    standings = memory.store.standings("default")

    def last_used(id: str) -> object:
        experience = memory.store.experience("default", id)
        assert experience is not None
        return standings[id].last_used_at or experience.created_at

    stayed = [id for id, standing in standings.items() if standing.status == "active"]
    assert all(last_used(removal.id) <= last_used(id) for removal in gone for id in stayed)  # type: ignore[operator]  # times
    memory.store.close()


def test_k9_a_turn_costs_the_same_however_large_the_memory_is() -> None:
    """Steps of SQLite's machine, not seconds: they are the same on every machine."""

    def steps_of_a_turn(size: int) -> int:
        memory = Memory(HashingEmbedder())
        memory.commit(*(add(f"advice {number}") for number in range(size)))
        memory.commit(*(add(f"old advice {number}", status="archived") for number in range(size)))
        live(memory, *(f"q{number}" for number in range(size)))

        def follow() -> list[Operation]:
            memory.view.bullets(status="archived", order="recent", limit=8)  # as the guard does
            policy = RefinePolicy(max_bullets=size, max_sheet_tokens=10 * size)
            return [*refine(memory.view, policy, now=NOW), *evict(memory.view, EvictPolicy(max_experiences=size))]

        steps = 0

        def count() -> int:
            nonlocal steps
            steps += 1
            return 0

        memory.store._connections._writer.set_progress_handler(count, 1)
        live(memory, "one more", then=follow)
        assert memory.view.count_experiences() == size
        memory.store._connections._writer.set_progress_handler(None, 1)
        memory.store.close()
        return steps

    assert steps_of_a_turn(1_000) <= steps_of_a_turn(50) + 50
