"""Random picks in place of retrieval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from cheatsheet.evaluation.controls.random_picks import RandomPicks
from cheatsheet.memory.experience import Experience, Query
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Remove
from cheatsheet.memory.store_view import StoreView
from tests.evaluation.controls.memories import WHEN, Memory, ground, lived, tickets


@pytest.fixture(scope="module")
def view() -> Iterator[StoreView]:
    with tickets() as memory:
        yield memory


def picked(mode: RandomPicks, text: str, view: StoreView) -> tuple[list[str], list[str]]:
    recalled = mode.recall(Query(text=text), view)
    return [hit.value.id for hit in recalled.bullets], [hit.value.id for hit in recalled.experiences]


def test_as_many_are_shown_as_retrieval_shows(view: StoreView) -> None:
    bullets, experiences = picked(RandomPicks(ground=ground(top_k=4)), "my card was charged", view)
    assert (len(set(bullets)), len(set(experiences))) == (4, 4)
    recalled = RandomPicks(ground=ground(top_k=4)).recall(Query(text="my card was charged"), view)
    assert not recalled.searched
    assert {hit.score for hit in (*recalled.bullets, *recalled.experiences)} == {0.0}


def test_every_memory_is_drawn_about_as_often_whatever_is_asked(view: StoreView) -> None:
    """240 questions that are all most similar to ticket 7 draw 3 of 12: each is expected 60 times."""
    mode = RandomPicks(ground=ground())
    drawn: Counter[str] = Counter()
    for number in range(240):
        for ids in picked(mode, f"Ticket 7: my card was charged 7 times {number}", view):
            drawn.update(ids)
    assert len(drawn) == 24
    assert all(35 <= count <= 85 for count in drawn.values())


def test_another_seed_draws_anew(view: StoreView) -> None:
    draws = {seed: picked(RandomPicks(ground=ground(seed=seed)), "my card", view) for seed in range(5)}
    assert len({str(draw) for draw in draws.values()}) > 1


def test_a_memory_smaller_than_top_k_is_shown_whole() -> None:
    with tickets(2) as memory:
        bullets, experiences = picked(RandomPicks(ground=ground(top_k=5)), "my card", memory)
    assert (len(bullets), len(experiences)) == (2, 2)
    with Memory() as memory:
        assert picked(RandomPicks(ground=ground()), "my card", memory) == ([], [])


class Watched(StoreView):
    """Counts the experiences that are read in lists."""

    listed = 0

    def experiences(self, **options: Any) -> Sequence[Experience]:
        found = super().experiences(**options)
        self.listed += len(found)
        return found


def watched(memory: Memory) -> Watched:
    return Watched(memory.store, memory.view._retriever, namespace="default")


def test_a_large_memory_is_not_read_for_a_few_picks() -> None:
    with (memory := Memory([lived(f"Ticket {n}", "amber") for n in range(200)])):
        view = watched(memory)
        _, experiences = picked(RandomPicks(ground=ground()), "Ticket", view)
    assert len(experiences) == 3
    assert view.listed == 1


def test_where_most_are_archived_the_few_left_are_found() -> None:
    with (memory := Memory([lived(f"Ticket {n}", "amber") for n in range(200)])) as view:
        gone = tuple(Remove(id=f"exp-{n:05d}") for n in range(2, 200))
        memory.store.commit("default", Change(at=WHEN, cause="turn", operations=gone))
        _, experiences = picked(RandomPicks(ground=ground()), "Ticket", view)
    assert sorted(experiences) == ["exp-00001", "exp-00200"]
