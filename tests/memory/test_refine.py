"""Refine: what is archived, what stays, and that twice is once."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.journal import Change
from cheatsheet.memory.operations import Add, Draft, Operation, Remove, Restore
from cheatsheet.memory.refine import RefinePolicy, estimate_tokens, refine
from cheatsheet.memory.sqlite_store import SqliteStore
from indexes.hashing import HashingEmbedder
from tests.memory.strategies import drafts
from tests.memory.worlds import NOW, Memory, add


def archived(memory: Memory, policy: RefinePolicy) -> dict[str, str]:
    removals = refine(memory.view, policy, now=NOW)
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
    assert archived(memory, RefinePolicy()) == {"expired": "expired", "harmful": "harmful"}


def test_the_harmful_weight_decides_what_is_harmful(memory: Memory) -> None:
    memory.commit(add("disputed", harmful=3, helpful=3))
    memory.view._harmful_weight = 2.0
    assert archived(memory, RefinePolicy(harmful_weight=2.0)) == {"disputed": "harmful"}


def test_over_the_count_the_worst_go_first(memory: Memory) -> None:
    memory.commit(add("a", helpful=1), add("b"), add("c", helpful=2), add("d", pinned=True))
    assert archived(memory, RefinePolicy(max_bullets=2)) == {"b": "over the limit", "a": "over the limit"}


def test_over_the_tokens_the_worst_go_first(memory: Memory) -> None:
    memory.commit(add("x" * 40, helpful=1), add("y" * 40), add("字" * 10, helpful=3))
    assert memory.view.sheet_tokens() == 30
    assert archived(memory, RefinePolicy(max_sheet_tokens=29)) == {"y" * 40: "over the limit"}


def test_lazy_acts_only_over_the_token_limit_and_off_never(memory: Memory) -> None:
    memory.commit(add("expired", expires_at=NOW), add("x" * 40))
    assert refine(memory.view, RefinePolicy(trigger="lazy"), now=NOW) == []
    assert refine(memory.view, RefinePolicy(trigger="lazy", max_sheet_tokens=100), now=NOW) == []
    assert archived(memory, RefinePolicy(trigger="lazy", max_sheet_tokens=10)) == {"expired": "expired"}
    assert refine(memory.view, RefinePolicy(trigger="off", max_bullets=1), now=NOW) == []


def test_what_is_archived_can_be_restored(memory: Memory) -> None:
    memory.commit(add("a", helpful=1), add("b"))
    before = memory.view.bullet("misc-00002")
    memory.commit(*refine(memory.view, RefinePolicy(max_bullets=1), now=NOW))
    assert memory.view.count_bullets() == 1
    memory.commit(Restore(id="misc-00002"))
    assert memory.view.bullet("misc-00002") == before


policies = st.builds(
    RefinePolicy,
    trigger=st.sampled_from(["proactive", "lazy"]),
    max_bullets=st.none() | st.integers(1, 4),
    max_sheet_tokens=st.none() | st.integers(1, 30),
    harmful_votes=st.integers(1, 4),
)


@given(sheet=st.lists(drafts, max_size=8), policy=policies)
def test_twice_is_once_and_limits_hold(sheet: list[Draft], policy: RefinePolicy) -> None:
    memory = Memory(HashingEmbedder())
    adds: list[Operation] = [Add(draft=draft) for draft in sheet]
    memory.commit(*adds)
    removals = refine(memory.view, policy, now=NOW)
    memory.commit(*removals)
    assert refine(memory.view, policy, now=NOW) == []
    unpinned = [bullet for bullet in memory.view.bullets() if not bullet.pinned]
    if policy.max_bullets is not None and policy.trigger == "proactive":
        assert memory.view.count_bullets() <= policy.max_bullets or not unpinned
    if policy.max_sheet_tokens is not None:
        assert memory.view.sheet_tokens() <= policy.max_sheet_tokens or not unpinned
    assert all(isinstance(removal, Remove) for removal in removals)
    memory.store.close()


@given(text=st.text())
def test_the_stored_estimate_is_that_of_the_text(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= len(text)
    assert estimate_tokens(text + "字") == estimate_tokens(text) + 1
    if text.strip():
        store = SqliteStore(":memory:")
        store.commit("default", Change(at=NOW, cause="user", operations=(add(text),)))
        assert store.sheet_tokens("default") == estimate_tokens(text)
        store.close()
