"""Hooks: what a domain does to every piece of advice before it is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import BulletError
from cheatsheet.memory.incoming.hooks import DraftHook, Hooked, Refusal, apply_hooks, expires, mentions, note_on, refuse
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Tag, Update
from cheatsheet.memory.refine import RefinePolicy, refine
from tests.memory.strategies import drafts
from tests.memory.worlds import NOW, Memory, add

EARNINGS = {"acme": datetime(2026, 4, 28, tzinfo=UTC), "globex": datetime(2026, 2, 3, tzinfo=UTC)}
NOTE = "Not investment advice."


def next_earnings(draft: Draft) -> datetime | None:
    return next((day for name, day in EARNINGS.items() if name in draft.content.casefold()), None)


FINANCE: tuple[DraftHook, ...] = (
    refuse(mentions("insider"), "inside information may not be kept"),
    expires(when=mentions("revenue", "earnings", "margin"), at=next_earnings),
    note_on(mentions("shares", "buy", "sell"), NOTE),
)


def hooked(*operations: Operation, memory: Memory | None = None) -> Hooked:
    return apply_hooks(operations, FINANCE, memory.view if memory else None)


def test_the_finance_example(memory: Memory) -> None:
    """A figure expires at the next earnings date, risky content gets a note, and some is not kept at all."""
    outcome = hooked(
        add("Acme's revenue was 4.1 bn in the last quarter"),
        add("Buy shares only after the margin of Globex is known"),
        add("An insider says that Acme grows"),
        add("Compare figures of the same quarter"),
    )
    memory.commit(*outcome.operations)
    assert [(bullet.content, bullet.expires_at) for bullet in memory.view.bullets()] == [
        ("Acme's revenue was 4.1 bn in the last quarter", EARNINGS["acme"]),
        (f"Buy shares only after the margin of Globex is known {NOTE}", EARNINGS["globex"]),
        ("Compare figures of the same quarter", None),
    ]
    assert outcome.refused == (
        "'An insider says that Acme grows' was refused by the hook refuse_hook: inside information may not be kept.",
    )
    assert len(outcome.notes) == 3
    day = EARNINGS["globex"] + timedelta(days=1)
    memory.commit(*refine(memory.view, RefinePolicy(), now=day))
    assert [bullet.content for bullet in memory.view.bullets()] == [
        "Acme's revenue was 4.1 bn in the last quarter",
        "Compare figures of the same quarter",
    ]


def test_new_words_for_old_bullets_are_seen_where_the_memory_is_given(memory: Memory) -> None:
    memory.commit(add("Compare figures", section="figures"), add("Look twice"))
    update = Update(id="misc-00002", content="Sell when the margin of Acme falls")
    merge = Merge(into="figu-00001", absorbed=("misc-00002",), content="Compare Acme's revenue of two years")
    outcome = hooked(update, merge, Update(id="misc-00002", tags=("a",)), memory=memory)
    assert outcome.operations == (
        Update(id="misc-00002", content=f"Sell when the margin of Acme falls {NOTE}", expires_at=EARNINGS["acme"]),
        merge,
        Update(id="figu-00001", expires_at=EARNINGS["acme"]),
        Update(id="misc-00002", tags=("a",)),
    )
    refused = hooked(Update(id="misc-00002", content="Ask an insider"), memory=memory)
    assert refused.operations == ()
    assert "inside information" in refused.refused[0]
    assert hooked(update, merge).operations == (update, merge)
    assert hooked(Update(id="misc-00009", content="Buy"), memory=memory).operations == (
        Update(id="misc-00009", content="Buy"),
    )


def test_the_draft_of_a_merge_is_seen() -> None:
    outcome = hooked(Merge(into="misc-00001", draft=Draft(content="Buy now")))
    assert outcome.operations == (Merge(into="misc-00001", draft=Draft(content=f"Buy now {NOTE}")),)


@pytest.mark.parametrize(
    ("hook", "reason"),
    [
        (lambda draft: None, "it gave no reason"),
        (lambda draft: Refusal("because."), "because"),
        (lambda draft: (_ for _ in ()).throw(BulletError("It is too short.")), "It is too short"),
    ],
)
def test_the_ways_to_refuse(hook: DraftHook, reason: str) -> None:
    outcome = apply_hooks([add("Check the units"), Tag(id="x")], [hook])
    assert outcome.operations == (Tag(id="x"),)
    assert outcome.refused == (f"'Check the units' was refused by the hook <lambda>: {reason}.",)


def test_other_errors_of_a_hook_are_not_hidden() -> None:
    def broken(draft: Draft) -> Draft:
        raise KeyError(draft.content)

    with pytest.raises(KeyError):
        apply_hooks([add("x")], [broken])


def test_hooks_run_in_their_order_and_each_change_is_told() -> None:
    first: DraftHook = lambda draft: draft.model_copy(update={"section": "one"})  # noqa: E731 - hooks are functions
    second: DraftHook = lambda draft: draft.model_copy(update={"tags": (draft.section,)})  # noqa: E731 - as above
    outcome = apply_hooks([add("x")], [first, second])
    assert outcome.operations == (add("x", section="one", tags=("one",)),)
    assert outcome.notes == (
        "'x' was changed by the hook <lambda>: its section.",
        "'x' was changed by the hook <lambda>: its tags.",
    )


def test_the_earlier_end_holds_and_a_time_without_a_zone_is_utc() -> None:
    hook = expires(when=lambda draft: True, at=lambda draft: datetime(2026, 1, 5))  # noqa: DTZ001 - what is tested
    early, late = NOW - timedelta(days=1), NOW + timedelta(days=1)
    moments = [apply_hooks([add("x", expires_at=moment)], [hook]) for moment in (None, early, late)]
    assert [outcome.operations[0] for outcome in moments] == [
        add("x", expires_at=NOW),
        add("x", expires_at=early),
        add("x", expires_at=NOW),
    ]
    never = expires(when=lambda draft: True, at=lambda draft: None)
    assert apply_hooks([add("x")], [never]).operations == (add("x"),)


def test_whole_words_are_mentioned() -> None:
    speaks = mentions("tax", "interest rate", "C++")
    assert speaks(Draft(content="The TAX is due"))
    assert speaks(Draft(content="Mind the interest rate."))
    assert speaks(Draft(content="Write C++ here"))
    assert not speaks(Draft(content="Take a taxi"))
    assert not mentions()(Draft(content="anything"))


@settings(max_examples=40)
@given(draft=drafts, note=st.sampled_from(["Not advice.", "(internal)"]))
def test_a_note_is_added_once(draft: Draft, note: str) -> None:
    hook = note_on(lambda draft: True, note)
    once = apply_hooks([Add(draft=draft)], [hook]).operations
    assert apply_hooks(once, [hook]).operations == once
    assert isinstance(once[0], Add)
    assert once[0].draft.content.endswith(note)


def test_without_hooks_everything_passes_as_it_is() -> None:
    operations = (add("x"), Remove(id="y"))
    assert apply_hooks(operations, []) == Hooked(operations)


def test_a_noted_lesson_is_known_when_it_is_learnt_again(memory: Memory) -> None:
    memory.commit(*hooked(add("Buy shares early")).operations)
    again = memory.grow(*hooked(add("Buy shares early")).operations)
    assert isinstance(again.operations[0], Merge)
