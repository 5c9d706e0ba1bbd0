"""The compiler, case by case; its laws are in test_laws."""

from __future__ import annotations

import math

import pytest

from cheatsheet.context.compiler import Overflow, compile_context
from cheatsheet.context.layout import TOKENS_PER_MESSAGE
from cheatsheet.context.section import ChatTurn, Item, Section, Shorten
from cheatsheet.errors import BudgetError, UnknownNameError
from cheatsheet.tokens import CharCounter, TiktokenCounter

CHARS = CharCounter(1)


def text_section(name: str, chars: int, *, priority: int = 0, shorten: Shorten = "cut") -> Section:
    return Section(name=name, priority=priority, text=name[0] * chars, shorten=shorten)


def item_section(*sizes: tuple[str, int], shorten: Shorten = "drop-last", text: str = "") -> Section:
    items = tuple(Item(id=id, text=id[0] * size) for id, size in sizes)
    return Section(name="list", priority=7, text=text, items=items, shorten=shorten)


# Order and overflow


def test_sections_stand_by_priority_and_ties_in_the_order_given() -> None:
    """Case T11."""
    sections = [text_section(name, 2, priority=p) for name, p in [("b", 1), ("a", 1), ("z", 9), ("c", 1)]]
    context = compile_context(sections, budget_tokens=100, counter=CHARS, separator="|")
    assert context.text == "zz|bb|aa|cc"


def test_of_items_of_equal_worth_the_first_given_are_kept() -> None:
    """Case T11: the same two, in the same order, in every process."""
    section = item_section(("b", 3), ("a", 3), ("c", 3))
    context = compile_context([section], budget_tokens=7, counter=CHARS)
    assert context.text == "bbb\naaa"
    assert context.shown_ids == ("b", "a")
    assert context.ledger[0].dropped == ("c",)


def test_stop_leaves_out_the_section_that_does_not_fit_and_all_below() -> None:
    sections = [text_section("a", 5, priority=3), text_section("b", 9, priority=2), text_section("c", 1, priority=1)]
    context = compile_context(sections, budget_tokens=10, counter=CHARS, separator="", overflow="stop")
    assert context.text == "aaaaa"
    assert [entry.reason for entry in context.ledger] == [
        "It fits whole.",
        "It does not fit whole into the 5 tokens left.",
        "It stands below 'b', which did not fit whole.",
    ]


def test_skip_tries_the_smaller_ones_below() -> None:
    sections = [text_section("a", 5, priority=3), text_section("b", 9, priority=2), text_section("c", 1, priority=1)]
    context = compile_context(sections, budget_tokens=10, counter=CHARS, separator="", overflow="skip")
    assert context.text == "aaaaac"


def test_truncate_shortens_only_what_may_be_shortened() -> None:
    sections = [text_section("a", 5, priority=3), text_section("b", 9, priority=2, shorten="never")]
    context = compile_context(sections, budget_tokens=10, counter=CHARS, separator="")
    assert context.text == "aaaaa"
    assert context.ledger[1].reason == "It does not fit into the 5 tokens left and may not be shortened."


def test_one_giant_section_is_cut_and_says_so() -> None:
    section = Section(name="log", priority=3, text="Something happened. " * 200_000)
    context = compile_context([section], budget_tokens=500, counter=TiktokenCounter())
    entry = context.ledger[0]
    assert "[… shortened: " in context.text
    assert 450 < context.tokens == entry.got_tokens <= 500
    assert entry.action == "cut"
    assert not entry.wanted_exact
    assert 500_000 < entry.wanted_tokens < 900_000


def test_separators_count() -> None:
    """Case T09: nothing between the sections is free."""
    sections = [text_section(name, 10) for name in "ab"]
    whole = compile_context(sections, budget_tokens=27, counter=CHARS)
    short = compile_context(sections, budget_tokens=26, counter=CHARS)
    assert whole.tokens == 27
    assert [entry.got_tokens for entry in whole.ledger] == [10, 17]
    assert [entry.action for entry in short.ledger] == ["whole", "cut"]


def test_words_are_no_measure_of_japanese() -> None:
    """Case T02: text without spaces is cut all the same."""
    text = "設定を保存する前に必ず確認してください。" * 20
    section = Section(name="rules", priority=1, text=text)
    context = compile_context([section], budget_tokens=50, counter=TiktokenCounter())
    assert 30 < TiktokenCounter().count(context.text) <= 50
    assert context.text[:4] == "設定を保"


@pytest.mark.parametrize("overflow", ["truncate", "stop", "skip"])
def test_a_budget_of_nothing_gives_nothing(overflow: Overflow) -> None:
    """Cases T05, T06."""
    section = text_section("a", 2_000)
    context = compile_context([section], budget_tokens=0, counter=CHARS, overflow=overflow)
    assert context.text == ""
    assert context.ledger[0].reason == "The budget is 0."
    with pytest.raises(BudgetError, match="budget_tokens is -5"):
        compile_context([section], budget_tokens=-5, counter=CHARS)


def test_a_full_window_leaves_nothing() -> None:
    context = compile_context(
        [text_section("a", 5)], budget_tokens=100, counter=CHARS, window_tokens=50, reserved_tokens=60
    )
    assert context.tokens == 0
    assert context.budget.cap == "window"


def test_wrong_calls_are_told() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown overflow 'trunc'. Did you mean 'truncate'\?"):
        compile_context([], budget_tokens=1, counter=CHARS, overflow="trunc")  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ValueError, match="Two sections are named 'a'"):
        compile_context([text_section("a", 1), text_section("a", 2)], budget_tokens=1, counter=CHARS)
    with pytest.raises(ValueError, match="items and turns"):
        Section(name="a", priority=1, items=(Item(text="x"),), turns=(ChatTurn(user="x", assistant="y"),))


# What is empty


def test_empty_sections_cost_no_separator() -> None:
    sections = [
        Section(name="none", priority=9),
        Section(name="blank", priority=8, text=" \n\t "),
        Section(name="heading of blanks", priority=8, text="## Bullets", items=(Item(text=" "), Item(text=""))),
        Section(name="heading of nothing", priority=8, text="## Bullets", shorten="drop-last"),
        Section(name="blank turns", priority=8, text="Examples", turns=(ChatTurn(user=" ", assistant=""),)),
        text_section("a", 3),
    ]
    context = compile_context(sections, budget_tokens=100, counter=CHARS)
    assert context.text == "aaa"
    assert [entry.action for entry in context.ledger] == ["empty"] * 5 + ["whole"]


def test_an_empty_section_is_none_that_did_not_fit() -> None:
    sections = [Section(name="none", priority=9), text_section("a", 3, priority=1)]
    assert compile_context(sections, budget_tokens=3, counter=CHARS, overflow="stop").text == "aaa"


def test_nothing_compiles_to_nothing() -> None:
    context = compile_context([], budget_tokens=10, counter=CHARS)
    assert (context.text, context.system, context.examples, context.messages) == ("", "", (), [])
    assert (context.tokens, context.ledger, context.shown_ids) == (0, (), ())


# Items


def test_a_huge_item_is_passed_over_for_a_small_one() -> None:
    """Case T12."""
    context = compile_context([item_section(("huge", 500), ("small", 10))], budget_tokens=50, counter=CHARS)
    assert context.text == "s" * 10
    entry = context.ledger[0]
    assert (entry.action, entry.kept, entry.dropped) == ("cut", ("small",), ("huge",))
    assert entry.reason == "50 tokens were left; 1 of 2 items are shown."


@pytest.mark.parametrize(
    ("shorten", "kept"),
    [("drop-last", ("a", "b")), ("cut", ("a", "b")), ("drop-first", ("b", "c")), ("never", ())],
)
def test_items_are_dropped_from_the_end_named(shorten: Shorten, kept: tuple[str, ...]) -> None:
    section = item_section(("a", 3), ("b", 3), ("c", 3), shorten=shorten)
    assert compile_context([section], budget_tokens=8, counter=CHARS).shown_ids == kept


def test_a_heading_counts_and_stays_only_with_an_item() -> None:
    section = item_section(("long", 30), ("b", 4), text="Lessons:")
    assert compile_context([section], budget_tokens=13, counter=CHARS).text == "Lessons:\nbbbb"
    assert compile_context([section], budget_tokens=12, counter=CHARS).text == ""
    assert compile_context([section], budget_tokens=100, counter=CHARS).text.startswith("Lessons:\nllll")


def test_an_item_with_a_code_block_is_whole_or_not_there() -> None:
    """Case T09: the fences stay even."""
    code = "```py\n" + "x=1\n" * 90 + "```"
    section = Section(
        name="bullets", priority=7, items=(Item(text="short", id="s"), Item(text=code, id="c")), shorten="drop-last"
    )
    context = compile_context([section], budget_tokens=60, counter=TiktokenCounter())
    assert context.text == "short"
    assert context.ledger[0].dropped == ("c",)


def test_no_dropped_item_would_have_fitted() -> None:
    sizes = [("abcdefghij"[n % 10] + str(n), 3 + 7 * n % 23) for n in range(40)]
    for budget in range(1, 300):
        context = compile_context([item_section(*sizes)], budget_tokens=budget, counter=CHARS)
        dropped = [size for id, size in sizes if id in context.ledger[0].dropped]
        assert all(context.tokens + 1 + size > budget for size in dropped) or context.tokens == 0
        assert context.tokens > 0 or min(size for _, size in sizes) > budget


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_what_is_kept_is_measured_and_not_added_up(power: float) -> None:
    """With a counter whose tokens are more, or fewer, than the sum of the parts'."""

    class Power:
        name = "power"

        def count(self, text: str) -> int:
            return math.ceil(math.pow(len(text), power))

    section = item_section(*((f"a{n}", 3 + n % 5) for n in range(40)))
    for budget in range(1, 400):
        context = compile_context([section], budget_tokens=budget, counter=Power())
        assert Power().count(context.text) == context.tokens <= budget
        assert context.tokens > 0 or budget < Power().count("\naaa")


def test_ten_thousand_items_are_not_all_counted() -> None:
    counted: list[int] = []

    class Counting:
        name = "counting"

        def count(self, text: str) -> int:
            counted.append(len(text))
            return -(-len(text) // 4)

    items = tuple(Item(id=f"b-{n}", text=f"- lesson {n}: " + "word " * 25) for n in range(10_000))
    section = Section(name="bullets", priority=7, items=items, shorten="drop-last")
    context = compile_context([section], budget_tokens=2_000, counter=Counting())
    assert context.tokens > 1_950
    assert len(context.ledger[0].dropped) == 10_000 - len(context.shown_ids)
    assert sum(counted) < 200_000  # of 1.4 million characters


# Chat turns


def turns(*names: str, size: int = 4) -> tuple[ChatTurn, ...]:
    return tuple(ChatTurn(user=name * size, assistant=name.upper() * size, id=name) for name in names)


def test_turns_are_text_and_messages() -> None:
    sections = [
        Section(name="examples", priority=7, text="Earlier questions:", turns=turns("a", "b"), shorten="drop-first"),
        Section(name="identity", priority=10, text="You sort tickets."),
    ]
    context = compile_context(sections, budget_tokens=200, counter=CHARS, separator="\n--\n")
    assert context.text == (
        "You sort tickets.\n--\nEarlier questions:\n\nQuestion: aaaa\nAnswer: AAAA\n\nQuestion: bbbb\nAnswer: BBBB"
    )
    assert context.system == "You sort tickets."
    assert context.examples == turns("a", "b")
    assert context.messages == [
        {"role": "system", "content": "You sort tickets."},
        {"role": "user", "content": "aaaa"},
        {"role": "assistant", "content": "AAAA"},
        {"role": "user", "content": "bbbb"},
        {"role": "assistant", "content": "BBBB"},
    ]


def test_the_most_important_turns_are_kept_in_their_order() -> None:
    section = Section(name="history", priority=7, turns=turns("a", "b", "c"), shorten="drop-first")
    context = compile_context([section], budget_tokens=60, counter=CHARS)
    assert [turn.id for turn in context.examples] == ["b", "c"]
    assert context.ledger[0].reason == "60 tokens were left; 2 of 3 examples are shown."


def test_the_larger_presentation_is_the_one_that_counts() -> None:
    """With a word counter the markup of the messages is more than the words 'Question:' and 'Answer:'."""

    class Words:
        name = "words"

        def count(self, text: str) -> int:
            return len(text.split())

    section = Section(name="history", priority=7, turns=turns("a", "b"))
    context = compile_context([section], budget_tokens=100, counter=Words())
    assert context.tokens == 4 + 4 * TOKENS_PER_MESSAGE
    assert compile_context([section], budget_tokens=23, counter=Words()).shown_ids == ("a",)


def test_a_text_after_turns_pays_for_its_message() -> None:
    sections = [
        Section(name="history", priority=7, turns=turns("a", size=40)),
        Section(name="log", priority=3, text="x" * 10, shorten="never"),
    ]
    enough = 80 + 2 * TOKENS_PER_MESSAGE + 10 + TOKENS_PER_MESSAGE
    text = len("Question: \nAnswer: ") + 80 + 7 + 10
    assert compile_context(sections, budget_tokens=max(enough, text), counter=CHARS).ledger[1].action == "whole"
    assert compile_context(sections, budget_tokens=max(enough, text) - 1, counter=CHARS).ledger[1].action == "left-out"


# Stable first


def test_stable_sections_may_stand_first_without_being_kept_first() -> None:
    sections = [
        Section(name="time", priority=10, text="It is noon."),
        Section(name="identity", priority=9, text="You sort tickets.", stable=True),
        Section(name="log", priority=3, text="x" * 500, stable=True, shorten="never"),
    ]
    context = compile_context(sections, budget_tokens=60, counter=CHARS, separator="|", order="cache")
    assert context.text == "You sort tickets.|It is noon."
    assert [entry.section for entry in context.ledger] == ["time", "identity", "log"]
