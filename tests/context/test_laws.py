"""The promises B1 to B5 of `compile_context`, for any sections and any counter."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.context import layout
from cheatsheet.context.compiler import CompiledContext, LedgerEntry, Order, Overflow, compile_context
from cheatsheet.context.layout import DATA_LABEL, TOKENS_PER_MESSAGE
from cheatsheet.context.section import Section
from cheatsheet.tokens import TokenCounter
from tests.context.worlds import counters, sections

budgets = st.integers(0, 60) | st.integers(0, 600)
overflows: st.SearchStrategy[Overflow] = st.sampled_from(["truncate", "stop", "skip"])
closing: st.SearchStrategy[Overflow] = st.sampled_from(["truncate", "stop"])
orders: st.SearchStrategy[Order] = st.sampled_from(["priority", "cache"])
separators = st.sampled_from(["\n\n---\n\n", "", "\n", " • "])


def text_tokens(context: CompiledContext, counter: TokenCounter) -> int:
    return counter.count(context.text)


def message_tokens(context: CompiledContext, counter: TokenCounter) -> int:
    return sum(counter.count(message["content"]) + TOKENS_PER_MESSAGE for message in context.messages)


def whole_names(ledger: tuple[LedgerEntry, ...]) -> set[str]:
    return {entry.section for entry in ledger if entry.action == "whole"}


@given(given_sections=sections(), budget=budgets, counter=counters, overflow=overflows, separator=separators)
def test_b1_neither_presentation_is_over_the_budget(
    given_sections: tuple[Section, ...], budget: int, counter: TokenCounter, overflow: Overflow, separator: str
) -> None:
    context = compile_context(
        given_sections, budget_tokens=budget, counter=counter, overflow=overflow, separator=separator
    )
    sizes = [text_tokens(context, counter)]
    if context.examples or context.notes:
        sizes.append(message_tokens(context, counter))
    assert max(sizes) == context.tokens <= budget


@given(given_sections=sections(), counter=counters, overflow=overflows, window=budgets, reserved=budgets)
def test_b1_nor_over_what_the_window_leaves(
    given_sections: tuple[Section, ...], counter: TokenCounter, overflow: Overflow, window: int, reserved: int
) -> None:
    context = compile_context(
        given_sections,
        budget_tokens=300,
        counter=counter,
        overflow=overflow,
        window_tokens=window,
        reserved_tokens=reserved,
    )
    assert context.tokens <= context.budget.tokens == min(300, max(0, window - reserved))


@given(given_sections=sections(), budget=budgets, counter=counters, overflow=closing)
def test_b2_nothing_stands_below_what_was_shortened(
    given_sections: tuple[Section, ...], budget: int, counter: TokenCounter, overflow: Overflow
) -> None:
    context = compile_context(given_sections, budget_tokens=budget, counter=counter, overflow=overflow)
    actions = [entry.action for entry in context.ledger if entry.action != "empty"]
    shown = [action for action in actions if action in ("whole", "cut")]
    assert actions == shown + ["left-out"] * (len(actions) - len(shown))
    assert "cut" not in shown[:-1]
    assert overflow == "truncate" or "cut" not in shown


@given(given_sections=sections(), budget=budgets, more=budgets, counter=counters, overflow=closing)
def test_b3_more_budget_never_loses_a_whole_section(
    given_sections: tuple[Section, ...], budget: int, more: int, counter: TokenCounter, overflow: Overflow
) -> None:
    less_room = compile_context(given_sections, budget_tokens=budget, counter=counter, overflow=overflow)
    more_room = compile_context(given_sections, budget_tokens=budget + more, counter=counter, overflow=overflow)
    assert whole_names(less_room.ledger) <= whole_names(more_room.ledger)


@given(given_sections=sections(), budget=budgets, counter=counters, overflow=overflows)
def test_b4_the_ledger_adds_up(
    given_sections: tuple[Section, ...], budget: int, counter: TokenCounter, overflow: Overflow
) -> None:
    context = compile_context(given_sections, budget_tokens=budget, counter=counter, overflow=overflow)
    assert sum(entry.got_tokens for entry in context.ledger) == context.tokens
    assert sorted(entry.section for entry in context.ledger) == sorted(section.name for section in given_sections)
    for entry in context.ledger:
        if entry.action == "whole":
            assert entry.got_tokens == entry.wanted_tokens
        if entry.action in ("left-out", "empty"):
            assert entry.got_tokens == 0
            assert not entry.kept
    assert sorted(context.shown_ids) == sorted(id for entry in context.ledger for id in entry.kept)


@given(given_sections=sections(), budget=budgets, counter=counters, overflow=overflows, order=orders)
def test_b5_the_same_input_gives_the_same_bytes(
    given_sections: tuple[Section, ...], budget: int, counter: TokenCounter, overflow: Overflow, order: Order
) -> None:
    first, second = (
        compile_context(
            [replace(section) for section in given_sections],
            budget_tokens=budget,
            counter=counter,
            overflow=overflow,
            order=order,
        )
        for _ in range(2)
    )
    assert first == second
    assert first.messages == second.messages


@given(given_sections=sections(), budget=budgets, counter=counters)
def test_skip_leaves_out_only_what_does_not_fit(
    given_sections: tuple[Section, ...], budget: int, counter: TokenCounter
) -> None:
    context = compile_context(given_sections, budget_tokens=budget, counter=counter, overflow="skip")
    used = 0
    for entry in context.ledger:
        assert entry.action != "cut"
        if entry.action == "left-out" and budget and entry.wanted_exact:
            assert used + entry.wanted_tokens > budget
        used += entry.got_tokens


@given(given_sections=sections(), budget=budgets, counter=counters, overflow=overflows)
def test_what_is_shown_is_what_was_given(
    given_sections: tuple[Section, ...], budget: int, counter: TokenCounter, overflow: Overflow
) -> None:
    """By priority, ties in the order given; items and turns are whole and in their order; blank things are gone."""
    context = compile_context(given_sections, budget_tokens=budget, counter=counter, overflow=overflow)
    by_name = {section.name: section for section in given_sections}
    ordered = [section.name for section in sorted(given_sections, key=lambda section: -section.priority)]
    assert [section.name for section in context.shown] == [
        name for name in ordered if name in {section.name for section in context.shown}
    ]
    for shown in context.shown:
        given_section = by_name[shown.name]
        assert [item for item in given_section.items if item in shown.items] == list(shown.items)
        assert [turn for turn in given_section.turns if turn in shown.turns] == list(shown.turns)
        if given_section.items or given_section.turns:
            assert shown.items or shown.turns
            assert shown.text == given_section.text


@given(given_sections=sections(), counter=counters, overflow=overflows)
def test_without_a_budget_there_is_nothing(
    given_sections: tuple[Section, ...], counter: TokenCounter, overflow: Overflow
) -> None:
    """Cases T05, T06."""
    context = compile_context(given_sections, budget_tokens=0, counter=counter, overflow=overflow)
    assert (context.text, context.system, context.messages, context.tokens) == ("", "", [], 0)


@given(given_sections=sections(turns=False), counter=counters)
def test_with_room_for_all_nothing_is_lost(given_sections: tuple[Section, ...], counter: TokenCounter) -> None:
    context = compile_context(given_sections, budget_tokens=100_000_000, counter=counter)
    assert {entry.action for entry in context.ledger} <= {"whole", "empty"}
    for section in context.shown:
        assert section.text in context.text or not section.text.strip()
        assert all(item.text in context.text for item in section.items)
    assert sum(section.data for section in context.shown) == context.text.count(DATA_LABEL)
    if not any(section.data for section in context.shown):
        assert context.text == context.body == context.system


@given(given_sections=sections(), budget=budgets, more=budgets, counter=counters)
def test_the_laws_hold_where_sections_are_judged_by_their_beginnings(
    given_sections: tuple[Section, ...], budget: int, more: int, counter: TokenCounter
) -> None:
    """B1, B3 and B4 with probes so short that the sections of these tests are large."""
    with mock.patch.multiple(layout, _FIRST_PROBE_CHARS=8, _PROBE_MARGIN_TOKENS=2):
        less_room = compile_context(given_sections, budget_tokens=budget, counter=counter)
        more_room = compile_context(given_sections, budget_tokens=budget + more, counter=counter)
    assert text_tokens(less_room, counter) <= less_room.tokens <= budget
    assert whole_names(less_room.ledger) <= whole_names(more_room.ledger)
    assert sum(entry.got_tokens for entry in less_room.ledger) == less_room.tokens
