"""Cutting a text: within the budget, between graphemes, with closed fences, and told."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.context.shorten import boundary, cut_text, marker, open_fence
from cheatsheet.tokens import TokenCounter
from tests.context.worlds import counters, texts


@given(text=texts, budget=st.integers(0, 120), counter=counters)
def test_a_cut_is_a_beginning_within_the_budget(text: str, budget: int, counter: TokenCounter) -> None:
    cut = cut_text(text, budget=budget, measure=counter.count)
    if cut is None:
        return
    assert counter.count(cut.text) <= budget
    assert 0 < cut.shown_chars <= len(text)
    body, rest = cut.text[: cut.shown_chars], cut.text[cut.shown_chars :]
    assert text.startswith(body)
    fence = open_fence(body)
    closing = f"\n{fence}" if fence else ""
    assert rest == closing + (marker(len(body), len(text)) if cut.marked else "")
    assert open_fence(cut.text) == ""


@given(text=texts)
def test_graphemes_stay_whole_and_longer_cuts_hold_shorter_ones(text: str) -> None:
    """Families, flags and accents; two surrogates that belong together."""
    starts = {match.start() for match in regex.finditer(r"\X", text)} | {0, len(text)}
    places = [boundary(text, at) for at in range(len(text))]
    assert set(places) <= starts
    assert places == sorted(places)
    assert all(place <= at for at, place in enumerate(places))
    halves = {at for at in range(1, len(text)) if text[at - 1] == "\ud83d" and text[at] == "\ude00"}
    assert not halves & set(places)


def test_a_long_run_of_flags_is_never_cut_in_half() -> None:
    text = "🇩🇪" * 1_000
    assert [boundary(text, at) for at in range(1_200, 1_500)] == [at - at % 2 for at in range(1_200, 1_500)]


def test_a_cut_prefers_the_end_of_a_line_then_of_a_word() -> None:
    text = "first line\nsecond line of words " + "x" * 100
    assert text[: boundary(text, 14)] == "first line"
    assert text[: boundary(text, 31)] == "first line"
    assert text[: boundary("words and " + "x" * 100, 30)] == text[:9]
    assert boundary("x" * 100, 30) == 30
    assert boundary("\n\nwords", 4) == 4


def test_a_cut_uses_the_whole_budget() -> None:
    text = "x" * 1_000
    for budget in range(60, 900, 7):
        cut = cut_text(text, budget=budget, measure=len)
        assert cut is not None
        assert budget - 1 <= len(cut.text) <= budget  # one more x may need one more digit in the marker


def test_the_marker_counts_and_is_dropped_where_it_does_not_fit() -> None:
    """Case T08: within every budget from 0 to 50."""
    text = "a long text " * 40
    for budget in range(51):
        cut = cut_text(text, budget=budget, measure=len)
        if budget == 0:
            assert cut is None
            continue
        assert cut is not None
        assert len(cut.text) <= budget
        assert cut.marked == (budget > len(marker(1, len(text))))


def test_a_cut_says_how_much_is_shown() -> None:
    cut = cut_text("word " * 1_000, budget=1_000, measure=len)
    assert cut is not None
    assert cut.text.endswith(f"word\n[… shortened: {cut.shown_chars} of 5,000 characters shown]")


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("```py\nx = 1", "```"),
        ("```py\nx = 1\n```", ""),
        ("```py\nx = 1\n```\n", ""),
        ("~~~\n```py\n", "~~~"),
        ("````md\n```py\nx\n```\n", "````"),
        ("````md\n```py\nx\n`````", ""),
        ("```py\n```js\n", "```"),
        ("inline ```code``` and more", ""),
        ("a ``` in the middle", ""),
        ("```one line``` only", ""),
        ("   ```\nx", "```"),
        ("    ```\nindented code", ""),
        ("``\nx", ""),
        ("~~~ ```\n", "~~~"),
        ("```\r\nx\r\n```\r\n", ""),
    ],
)
def test_open_fences(text: str, fence: str) -> None:
    assert open_fence(text) == fence


def test_a_cut_code_block_is_closed() -> None:
    """Case T09: a fence left open swallows the rest of the prompt."""
    text = "```py\n" + "x=1\n" * 90 + "```"
    for budget in range(1, len(text)):
        cut = cut_text(text, budget=budget, measure=len)
        assert cut is not None
        assert len(cut.text) <= budget
        assert cut.text.count("```") % 2 == 0


def test_a_huge_text_is_cut_without_being_counted_whole() -> None:
    counted: list[int] = []

    def measure(text: str) -> int:
        counted.append(len(text))
        return -(-len(text) // 4)

    cut = cut_text("word and word " * 1_000_000, budget=2_000, measure=measure)
    assert cut is not None
    assert measure(cut.text) >= 1_990
    assert max(counted) < 20_000
    assert len(counted) < 30
