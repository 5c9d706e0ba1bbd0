"""What retrieval shows, in another order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cheatsheet.context.compiled import part_ids
from cheatsheet.evaluation.controls.shuffled import Shuffled
from cheatsheet.memory.experience import Query
from cheatsheet.memory.store_view import StoreView
from cheatsheet.mode import Recalled
from tests.evaluation.controls.memories import Memory, ground, lived, tickets


@pytest.fixture(scope="module")
def view() -> Iterator[StoreView]:
    with tickets() as memory:
        yield memory


def both(text: str, view: StoreView, *, top_k: int = 4) -> tuple[Recalled, Recalled]:
    mode = Shuffled(ground=ground(top_k=top_k))
    return mode.ground.retrieval.recall(Query(text=text), view), mode.recall(Query(text=text), view)


@pytest.mark.parametrize("text", [f"Ticket {n}: my card was charged" for n in range(8)])
def test_the_same_is_shown_and_the_most_similar_never_last(text: str, view: StoreView) -> None:
    real, shuffled = both(text, view)
    for before, after in zip(real.sections, shuffled.sections, strict=True):
        assert sorted(part_ids(before)) == sorted(part_ids(after))
        if len(part_ids(before)) > 1:
            assert part_ids(before)[-1] != part_ids(after)[-1]
    assert {hit.value.id: hit.score for hit in real.experiences} == {
        hit.value.id: hit.score for hit in shuffled.experiences
    }
    assert shuffled.searched


def test_hits_are_told_in_the_order_shown(view: StoreView) -> None:
    _, shuffled = both("my card was charged", view)
    bullets, _, experiences = shuffled.sections
    assert tuple(hit.value.id for hit in shuffled.bullets) == part_ids(bullets)
    assert tuple(hit.value.id for hit in shuffled.experiences) == part_ids(experiences)


def test_orders_differ_from_question_to_question(view: StoreView) -> None:
    firsts = {both(f"my card was charged {n}", view)[1].sections[0].items[0].id for n in range(12)}
    assert len(firsts) > 2


def test_one_alone_stays_and_mistakes_have_an_order_of_their_own() -> None:
    told = [lived("Ticket 1", "amber", correct=True), lived("Ticket 2", "amber", correct=False)]
    with Memory(told) as memory:
        real, shuffled = both("Ticket 2", memory)
    assert shuffled.sections == real.sections
