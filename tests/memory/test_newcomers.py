"""New bullets against those that came since they were compared with the memory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.gate.newcomers import join_newcomers
from cheatsheet.memory.operations import Add, Merge, Operation, Remove, Tag
from indexes.hashing import HashingEmbedder
from indexes.vectors import Vector
from tests.memory.worlds import NOW, Memory, add

SEAL = "Check the seal of every crate before it is loaded."
NEAR = "Check the wax seal of every crate before it is loaded."
EMBEDDER = HashingEmbedder()


def bullet(content: str, number: int = 1, **more: object) -> Bullet:
    values = {"id": f"misc-{number:05d}", "content": content, "created_at": NOW, "updated_at": NOW}
    return Bullet.model_validate(values | more)


def vectors(*texts: str) -> dict[str, Vector]:
    return dict(zip(texts, EMBEDDER.embed(texts), strict=True)) if texts else {}


def joined(draft: Add, *came: Bullet, known: dict[str, Vector] | None = None) -> list[Operation]:
    texts = (draft.draft.content, *(one.content for one in came))
    return join_newcomers([draft], came, vectors(*texts) if known is None else known, threshold=0.9).operations


def test_what_others_have_just_learnt_is_merged() -> None:
    draft = add(NEAR, helpful=1)
    assert joined(draft, bullet(SEAL)) == [Merge(into="misc-00001", draft=draft.draft, content=NEAR)]
    assert joined(add(SEAL), bullet(NEAR)) == [Merge(into="misc-00001", draft=add(SEAL).draft)]


@pytest.mark.parametrize(
    ("content", "other"),
    [
        ("Check 2 seals of every crate before it is loaded.", {"content": SEAL.replace("the seal", "3 seals")}),
        (SEAL, {"content": SEAL.replace("Check", "Never check")}),
        (NEAR, {"content": SEAL, "pinned": True}),
        (SEAL, {"content": SEAL, "kind": "recipe"}),
        (SEAL, {"content": "Wash the windows on Mondays."}),
    ],
)
def test_what_says_something_else_stays_apart(content: str, other: dict[str, object]) -> None:
    draft = add(content)
    assert joined(draft, bullet(**other)) == [draft]  # type: ignore[arg-type]  # a content is among them


def test_without_vectors_equal_words_are_merged_and_the_rest_is_told() -> None:
    assert joined(add(SEAL), bullet(SEAL.upper()), known={}) == [Merge(into="misc-00001", draft=add(SEAL).draft)]
    grown = join_newcomers([add(NEAR)], [bullet(SEAL)], vectors(NEAR), threshold=0.9)
    assert grown.operations == [add(NEAR)]
    assert grown.notes == [
        "1 of the bullets that came meanwhile could be compared by their words only; `cheatsheet refine --full` "
        "merges what says the same."
    ]


def test_other_operations_and_what_is_archived_pass() -> None:
    others: list[Operation] = [Tag(id="misc-00001"), Remove(id="misc-00001"), add(SEAL, status="archived")]
    assert join_newcomers(others, [bullet(SEAL)], vectors(SEAL), threshold=0.9).operations == others


def test_two_drafts_that_join_one_bullet_know_of_each_other() -> None:
    first, second = add(NEAR, helpful=1), add(f"{NEAR[:-1]}, please.", helpful=1)
    known = vectors(SEAL, first.draft.content, second.draft.content)
    found = join_newcomers([first, second], [bullet(SEAL)], known, threshold=0.8).operations
    assert [operation.into for operation in found if isinstance(operation, Merge)] == ["misc-00001"] * 2


PARTS = (("Check", "Never check", "Always check"), ("the seal", "2 seals", "3 seals"), ("", " at night", " on Mondays"))
texts = st.tuples(*map(st.sampled_from, PARTS)).map(lambda part: f"{part[0]} {part[1]} of every crate{part[2]}.")


@settings(max_examples=60)
@given(
    came=st.lists(texts, max_size=4, unique=True),
    drafts=st.lists(texts, max_size=3),
    pinned=st.booleans(),
    threshold=st.sampled_from([0.7, 0.9, 1.0]),
)
def test_the_outcome_is_that_of_growing_into_a_memory_with_these_bullets(
    came: list[str], drafts: list[str], pinned: bool, threshold: float
) -> None:
    memory = Memory(EMBEDDER)
    memory.commit(*(add(text, pinned=pinned) for text in came))
    expected = memory.grow(*map(add, drafts), threshold=threshold)
    found = join_newcomers([*map(add, drafts)], memory.view.bullets(), vectors(*{*came, *drafts}), threshold=threshold)
    assert found == expected
    memory.store.close()
