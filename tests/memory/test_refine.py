"""Refine: what is archived, what stays, and that twice is once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import SettingsError
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft, Remove, Restore
from cheatsheet.memory.refine import RefinePolicy, estimate_tokens, refine, refinement_notes
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store_view import StoreView
from indexes.hashing import HashingEmbedder
from tests.memory.strategies import drafts
from tests.memory.worlds import NOW, Memory, add


def ranked(memory: Memory, policy: RefinePolicy) -> StoreView:
    """The memory as the engine looks at it: ranked by the weights of the policy."""
    return StoreView(
        memory.store,
        memory.retriever,
        namespace="default",
        harmful_weight=policy.harmful_weight,
        helpful_weight=policy.helpful_weight,
    )


def archived(memory: Memory, policy: RefinePolicy) -> dict[str, str]:
    removals = refine(ranked(memory, policy), policy, now=NOW)
    return {
        (memory.view.bullet(removal.id) or memory.view.bullets()[0]).content: removal.reason for removal in removals
    }


def test_expired_and_harmful_bullets_are_archived_pinned_ones_stay(memory: Memory) -> None:
    memory.commit(
        add("expired", expires_at=NOW),
        add("expires later", expires_at=NOW + timedelta(microseconds=1)),
        add("expired but pinned", expires_at=NOW, pinned=True),
        add("harmful", harmful=3, helpful=2),
        add("harmful but pinned", harmful=9, pinned=True),
        add("disputed", harmful=3, helpful=3),
        add("too few votes", harmful=2),
    )
    assert archived(memory, RefinePolicy()) == {
        "expired": "expired on 2026-01-05",
        "harmful": "harmful 3 times, helpful 2",
    }


def test_the_harmful_weight_decides_what_is_harmful(memory: Memory) -> None:
    memory.commit(add("disputed", harmful=3, helpful=3))
    assert archived(memory, RefinePolicy()) == {}
    assert archived(memory, RefinePolicy(harmful_weight=2.0)) == {"disputed": "harmful 3 times, helpful 3"}
    assert archived(memory, RefinePolicy(helpful_weight=0.5)) == {"disputed": "harmful 3 times, helpful 3"}
    assert archived(memory, RefinePolicy(helpful_weight=2.0, harmful_weight=2.0)) == {}


def test_over_the_count_the_worst_go_first(memory: Memory) -> None:
    memory.commit(add("a", helpful=1), add("b"), add("c", helpful=2), add("d", pinned=True))
    assert archived(memory, RefinePolicy(max_bullets=2)) == {
        "b": "over the limit of 2 bullets",
        "a": "over the limit of 2 bullets",
    }


def test_over_the_tokens_the_worst_go_first(memory: Memory) -> None:
    memory.commit(add("x" * 40, helpful=1), add("y" * 40), add("字" * 10, helpful=3))
    assert memory.view.sheet_tokens() == 30
    assert archived(memory, RefinePolicy(max_sheet_tokens=29)) == {"y" * 40: "over the limit of 29 tokens"}


def test_lazy_acts_only_over_the_token_limit_and_off_never(memory: Memory) -> None:
    memory.commit(add("expired", expires_at=NOW), add("x" * 40))
    assert refine(memory.view, RefinePolicy(trigger="lazy"), now=NOW) == []
    assert refine(memory.view, RefinePolicy(trigger="lazy", max_sheet_tokens=100), now=NOW) == []
    assert archived(memory, RefinePolicy(trigger="lazy", max_sheet_tokens=10)) == {"expired": "expired on 2026-01-05"}
    assert refine(memory.view, RefinePolicy(trigger="off", max_bullets=1), now=NOW) == []


def test_what_is_archived_can_be_restored(memory: Memory) -> None:
    memory.commit(add("a", helpful=1), add("b"))
    before = memory.view.bullet("misc-00002")
    memory.commit(*refine(memory.view, RefinePolicy(max_bullets=1), now=NOW))
    assert memory.view.count_bullets() == 1
    memory.commit(Restore(id="misc-00002"))
    assert memory.view.bullet("misc-00002") == before


def test_votes_age_only_where_a_half_life_is_set(memory: Memory) -> None:
    memory.commit(
        add("old praise", helpful=8, last_used_at=NOW - timedelta(days=40), created_at=NOW - timedelta(days=90)),
        add("new praise", helpful=3, last_used_at=NOW),
        add("old blame", harmful=2, created_at=NOW - timedelta(days=40)),
        add("new blame", harmful=1, created_at=NOW),
    )
    limit: dict[str, Any] = {"max_bullets": 3, "harmful_votes": 99}
    assert list(archived(memory, RefinePolicy(**limit))) == ["old blame"]
    aged = RefinePolicy(**limit, half_life=timedelta(days=10))
    assert list(archived(memory, aged)) == ["new blame"]
    assert list(archived(memory, RefinePolicy(max_bullets=1, half_life=timedelta(days=10)))) == [
        "new blame",
        "old blame",
        "old praise",
    ]
    assert list(archived(memory, RefinePolicy(max_bullets=1))) == ["old blame", "new blame", "new praise"]


def test_aged_utility_halves_with_each_half_life_without_use(memory: Memory) -> None:
    memory.commit(add("x", helpful=8, harmful=1, last_used_at=NOW - timedelta(days=20)))
    (bullet,) = memory.view.bullets()
    policy = RefinePolicy(helpful_weight=0.5, harmful_weight=2.0, half_life=timedelta(days=10))
    assert policy.utility(bullet) == 2.0
    assert policy.utility_at(bullet, NOW) == pytest.approx(0.5)
    assert policy.utility_at(bullet, NOW - timedelta(days=99)) == 2.0
    assert RefinePolicy().utility_at(bullet, NOW) == 7.0


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ({"helpful_weight": 0.0}, "helpful_weight is 0.0; it must be above 0"),
        ({"half_life": timedelta()}, "half_life is 0:00:00; it must be above 0, or None"),
    ],
)
def test_policies_that_make_no_sense_are_told(policy: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        RefinePolicy(**policy)


def test_what_was_archived_is_told_with_its_reason_and_a_limit_that_cannot_hold(memory: Memory) -> None:
    memory.commit(add("a", helpful=1), add("b"), add("c", pinned=True), add("d", pinned=True))
    policy = RefinePolicy(max_bullets=1)
    removals = refine(memory.view, policy, now=NOW)
    memory.commit(*removals)
    notes = refinement_notes((*removals, Restore(id="x"), Remove(id="y")), memory.view, policy)
    assert notes == (
        "misc-00002 was archived: over the limit of 1 bullet.",
        "misc-00001 was archived: over the limit of 1 bullet.",
        "y was archived: no reason was given.",
        "The memory is over the limit of 1 bullet, because the bullets that are left are pinned. "
        "Unpin some, or raise the limit.",
    )
    assert refinement_notes((), memory.view, RefinePolicy()) == ()
    assert refinement_notes((), memory.view, RefinePolicy(trigger="off", max_bullets=1)) == ()


def test_the_reason_is_kept_with_the_bullet_until_it_is_restored(memory: Memory) -> None:
    memory.commit(add("a"), add("b", helpful=1))
    memory.commit(*refine(memory.view, RefinePolicy(max_bullets=1), now=NOW))
    (bullet,) = memory.view.bullets(status="archived")
    assert bullet.metadata == {"archived_because": "over the limit of 1 bullet"}
    memory.commit(Restore(id=bullet.id))
    assert memory.view.bullets()[0].metadata == {}


policies = st.builds(
    RefinePolicy,
    trigger=st.sampled_from(["proactive", "lazy"]),
    max_bullets=st.none() | st.integers(1, 4),
    max_sheet_tokens=st.none() | st.integers(1, 30),
    helpful_weight=st.sampled_from([0.5, 1.0, 2.0]),
    harmful_weight=st.sampled_from([0.0, 1.0, 3.0]),
    harmful_votes=st.integers(1, 4),
    half_life=st.none() | st.just(timedelta(days=30)),
)


@settings(max_examples=60)
@given(sheet=st.lists(drafts, max_size=8), policy=policies)
def test_twice_is_once_limits_hold_nothing_pinned_goes_and_nothing_is_lost(
    sheet: list[Draft], policy: RefinePolicy
) -> None:
    memory = Memory(HashingEmbedder())
    memory.commit(*(Add(draft=draft) for draft in sheet))
    view = ranked(memory, policy)
    before = view.bullets(status=None)
    removals = refine(view, policy, now=NOW)
    memory.commit(*removals)
    assert refine(view, policy, now=NOW) == []
    after = view.bullets(status=None)
    gone = {removal.id for removal in removals}
    assert [_but_for_its_status(bullet) for bullet in after] == [_but_for_its_status(bullet) for bullet in before]
    assert {old.id for old, new in zip(before, after, strict=True) if old.status != new.status} == gone
    assert not any(bullet.pinned for bullet in before if bullet.id in gone)
    unpinned = [bullet for bullet in view.bullets() if not bullet.pinned]
    if policy.max_bullets is not None and policy.trigger == "proactive":
        assert view.count_bullets() <= policy.max_bullets or not unpinned
    if policy.max_sheet_tokens is not None:
        assert view.sheet_tokens() <= policy.max_sheet_tokens or not unpinned
    assert bool(refinement_notes((), view, policy)) <= (not unpinned)
    memory.store.close()


def _but_for_its_status(bullet: Bullet) -> dict[str, object]:
    kept = {name: value for name, value in bullet.metadata.items() if name != "archived_because"}
    return bullet.model_dump(exclude={"status", "updated_at", "metadata"}) | kept


@given(text=st.text())
def test_the_stored_estimate_is_that_of_the_text(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= len(text)
    assert estimate_tokens(text + "字") == estimate_tokens(text) + 1
    if text.strip():
        store = SqliteStore(":memory:")
        store.commit("default", Change(at=NOW, cause="user", operations=(add(text),)))
        assert store.sheet_tokens("default") == estimate_tokens(text)
        store.close()
