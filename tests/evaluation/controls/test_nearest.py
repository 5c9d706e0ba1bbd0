"""The answer of the most similar experience, without a model."""

from __future__ import annotations

from cheatsheet.evaluation.controls.nearest import NOTHING_NEAR, CopyingGenerator, Nearest
from cheatsheet.llm.model import Outcome, Usage
from cheatsheet.memory.experience import Experience, Query
from cheatsheet.roles.role import Generation
from tests.evaluation.controls.memories import Memory, ground, lived

ASKED = Query(text="My parcel has not arrived", choices=("amber", "crimson"))


def answer(*experiences: Experience, top_k: int = 3) -> Generation:
    with Memory(experiences) as memory:
        recalled = Nearest(ground=ground(top_k=top_k)).recall(ASKED, memory)
    turns = tuple(turn for section in recalled.sections for turn in section.turns)
    assert tuple(turn.id for turn in turns) == tuple(hit.value.id for hit in recalled.experiences)
    return CopyingGenerator().generate(ASKED, context="", examples=turns)


def test_the_most_similar_is_copied() -> None:
    given = answer(
        lived("My parcel arrived broken", "crimson", correct=True),
        lived("My parcel has not arrived yet", "amber", correct=True),
        lived("The card was charged twice", "crimson", correct=True),
    )
    assert (given.answer, given.outcome, given.usage) == ("amber", Outcome.OK, Usage(cost_usd=0.0))


def test_the_right_answer_is_copied_where_it_became_known() -> None:
    assert answer(lived("My parcel has not arrived", "amber", correct=False, expected="crimson")).answer == "crimson"


def test_an_answer_that_nobody_judged_is_copied() -> None:
    assert answer(lived("My parcel has not arrived", "amber")).answer == "amber"


def test_an_answer_known_to_be_wrong_is_passed_over_for_the_next() -> None:
    told = lived("My parcel has not arrived", "amber", correct=False), lived("A parcel is late", "crimson")
    assert answer(*told).answer == "crimson"
    assert answer(*told, top_k=1).outcome is Outcome.EMPTY


def test_of_an_empty_memory_nothing_is_copied_and_it_is_told() -> None:
    given = answer()
    assert (given.answer, given.outcome, given.notes) == ("", Outcome.EMPTY, (NOTHING_NEAR,))
