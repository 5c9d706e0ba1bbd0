"""Consolidate: bullets of one memory that say the same become one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import ModelUnavailableError
from cheatsheet.memory.bullet import RESTATEMENT
from cheatsheet.memory.history.sheet import replay
from cheatsheet.memory.likeness import grow as growing
from cheatsheet.memory.likeness.consolidate import Consolidated, consolidate
from cheatsheet.memory.operations import Add, Draft, Merge, Tag, Update
from indexes.hashing import HashingEmbedder
from tests.memory.strategies import drafts
from tests.memory.worlds import NOW, AllAlike, Memory, add

SHORT = "Check the units before answering"
LONG = "Check the units of both sides before you answer"
TURNED = "Before answering, check the units"


def run(memory: Memory, threshold: float = 0.9) -> Consolidated:
    found = consolidate(memory.view, threshold=threshold)
    memory.commit(*found.operations)
    assert memory.store.journal("default")[-1].notes == ()
    return found


def contents(memory: Memory) -> dict[str, str]:
    return {bullet.id: bullet.content for bullet in memory.view.bullets()}


def test_near_duplicates_become_one_and_their_votes_are_summed(alike: Memory) -> None:
    alike.commit(add(SHORT, helpful=2, sources=("a",)), add("Close the file"), add(TURNED, harmful=1, sources=("b",)))
    found = run(alike)
    assert found.operations == [Merge(into="misc-00001", absorbed=("misc-00003",))]
    assert found.notes == ["misc-00003 was merged into misc-00001."]
    bullet = alike.view.bullet("misc-00001")
    assert bullet is not None
    assert (bullet.helpful, bullet.harmful, bullet.sources) == (2, 1, ("a", "b"))
    assert contents(alike) == {"misc-00001": SHORT, "misc-00002": "Close the file"}
    assert list(replay(alike.store.journal("default"))) == alike.view.bullets(status=None)


def test_across_sections_the_survivor_keeps_its_own(alike: Memory) -> None:
    alike.commit(add(SHORT, section="common_mistakes"), add(TURNED, section="formulas", helpful=1))
    run(alike)
    assert [(bullet.id, bullet.section) for bullet in alike.view.bullets()] == [("form-00002", "formulas")]


def test_the_id_with_the_most_votes_survives_with_the_words_that_say_most(alike: Memory) -> None:
    alike.commit(add(LONG), add(SHORT, helpful=5), add(TURNED, helpful=1))
    found = run(alike)
    assert found.operations == [Merge(into="misc-00002", absorbed=("misc-00001", "misc-00003"), content=LONG)]
    assert contents(alike) == {"misc-00002": LONG}


def test_utility_is_what_the_caller_says(alike: Memory) -> None:
    alike.commit(add(SHORT, helpful=5), add(TURNED))
    found = consolidate(alike.view, threshold=0.9, utility={"misc-00001": 0.1, "misc-00002": 0.2})
    assert found.operations == [Merge(into="misc-00002", absorbed=("misc-00001",), content=SHORT)]


def test_pinned_bullets_stay_with_their_words(alike: Memory) -> None:
    alike.commit(add(SHORT, pinned=True), add(TURNED, helpful=9), add(LONG), add(TURNED + ".", pinned=True))
    run(alike)
    assert contents(alike) == {"misc-00001": SHORT, "misc-00003": LONG, "misc-00004": TURNED + "."}


def test_a_chain_of_likenesses_does_not_merge_its_ends(memory: Memory) -> None:
    """A is like B and B like C, but C has much that A has not: B goes to the one that says most, A stays."""
    a, b, c = "check the units", "check the units twice", "check the units twice before answering questions"
    memory.commit(add(a), add(b), add(c))
    first = run(memory, threshold=0.3)
    assert first.operations == [Merge(into="misc-00002", absorbed=("misc-00003",), content=c)]
    assert contents(memory) == {"misc-00001": a, "misc-00002": c}
    assert run_again(memory, 0.3) == []


def run_again(memory: Memory, threshold: float) -> list[object]:
    return list(consolidate(memory.view, threshold=threshold).operations)


def test_what_is_apart_stays_apart(alike: Memory) -> None:
    alike.commit(
        add("Use the batch endpoint"),
        add("Do not use the batch endpoint"),
        add("Retrieve with k=5"),
        add("Retrieve with k=7"),
        add("Retrieve with k=5", kind="other"),
    )
    assert run(alike).operations == []


def test_below_the_threshold_nothing_is_merged(memory: Memory) -> None:
    memory.commit(add("Check the units of the table"), add("Check the unit of the tables"), add("Deploy on Mondays"))
    assert run(memory, threshold=0.999).operations == []
    assert len(run(memory, threshold=0.5).operations) == 1


def test_the_end_of_the_last_holds_and_a_lesson_is_no_restatement(alike: Memory) -> None:
    late = NOW + timedelta(days=30)
    alike.commit(
        add(SHORT, expires_at=NOW + timedelta(days=1), tags=(RESTATEMENT, "a")),
        add(TURNED, expires_at=late, tags=("b",)),
    )
    found = run(alike)
    assert found.operations[1:] == [Update(id="misc-00001", expires_at=late, tags=("a", "b"))]
    (bullet,) = alike.view.bullets()
    assert (bullet.expires_at, bullet.tags) == (late, ("a", "b"))


def test_an_empty_memory_has_nothing_to_merge(memory: Memory) -> None:
    assert run(memory).operations == []


class Words:
    """A merger that says what it was told to say."""

    def __init__(self, words: str | Exception | None) -> None:
        self.words = words
        self.asked: list[tuple[str, ...]] = []

    def merge_words(self, texts: Sequence[str]) -> str | None:
        self.asked.append(tuple(texts))
        if isinstance(self.words, Exception):
            raise self.words
        return self.words


@pytest.mark.parametrize(
    ("words", "content", "told"),
    [
        ("Check units of both sides before answering", "Check units of both sides before answering", ""),
        ("Check it", LONG, ""),
        (None, LONG, "gave none"),
        (ModelUnavailableError("no connection"), LONG, "no connection"),
    ],
)
def test_a_model_may_find_the_words(alike: Memory, words: str | Exception | None, content: str, told: str) -> None:
    if words == "Check it":
        alike.commit(add(LONG + " in Berlin", helpful=1), add(SHORT + " in Berlin"))
        content, told = LONG + " in Berlin", "lose 'berlin'"
    else:
        alike.commit(add(LONG, helpful=1), add(SHORT))
    merger = Words(words)
    found = consolidate(alike.view, threshold=0.9, merger=merger)
    alike.commit(*found.operations)
    assert contents(alike) == {"misc-00001": content}
    assert len(merger.asked) == 1
    assert told in found.notes[0]


alike_drafts = st.builds(
    Draft,
    content=st.sampled_from([SHORT, LONG, TURNED, SHORT + ".", "Close the file"]),
    helpful=st.integers(0, 2),
    pinned=st.booleans(),
)


@settings(max_examples=40)
@given(
    sheet=st.lists(
        drafts
        | st.sampled_from([SHORT, LONG, TURNED, SHORT + ".", "Close the file"]).map(lambda text: Draft(content=text)),
        max_size=7,
    )
)
def test_twice_is_once_each_is_in_one_merge_and_no_vote_is_lost(sheet: list[Draft]) -> None:
    memory = Memory(AllAlike(dim=4))
    memory.commit(*(Add(draft=draft) for draft in sheet))
    before = memory.view.bullets()
    merges = [operation for operation in run(memory).operations if isinstance(operation, Merge)]
    named = [id for merge in merges for id in (merge.into, *merge.absorbed)]
    assert len(named) == len(set(named))
    after = memory.view.bullets()
    for counter in ("helpful", "harmful", "uses"):
        assert sum(getattr(b, counter) for b in after) == sum(getattr(b, counter) for b in before)
    assert {bullet.content for bullet in after} <= {bullet.content for bullet in before}
    assert not {bullet.id for bullet in before if bullet.pinned} - {bullet.id for bullet in after}
    assert run_again(memory, 0.9) == []
    memory.store.close()


def test_the_outcome_does_not_depend_on_what_was_asked_before(alike: Memory) -> None:
    alike.commit(*(add(text) for text in (SHORT, LONG, TURNED, SHORT + ".")))
    first = consolidate(alike.view, threshold=0.9)
    alike.view.nearest_bullets("anything", 3)
    alike.commit(Tag(id="misc-00009", uses=1))
    assert consolidate(alike.view, threshold=0.9) == first


words = st.lists(
    st.sampled_from("check units file close round end never always the of".split()), min_size=1, max_size=5
)


@settings(max_examples=40)
@given(known=st.lists(words.map(" ".join), max_size=14), threshold=st.sampled_from([0.0, 0.5, 0.8, 0.9, 1.0]))
def test_looking_up_all_bullets_at_once_gives_what_one_by_one_gives(known: list[str], threshold: float) -> None:
    memory = Memory(HashingEmbedder())
    memory.commit(*map(add, known))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "LOOKED_UP_TOGETHER", 1_000)
        one_by_one = consolidate(memory.view, threshold=threshold)
        patch.setattr(growing, "LOOKED_UP_TOGETHER", 1)
        together = consolidate(memory.view, threshold=threshold)
    assert together == one_by_one
    memory.store.close()
