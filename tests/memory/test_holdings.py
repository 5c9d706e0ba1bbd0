"""How much of one wording another one holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.gate.holdings import held, loses, meaningful

texts = st.text() | st.lists(st.sampled_from(["check", "the", "k=5", "f(x)", "数据", "\n", "..."]), max_size=12).map(
    " ".join
)


def why(old: str, new: str) -> str:
    return loses(old, new, min_kept=0.5, small_change=3)


def test_words_of_style_do_not_count() -> None:
    loss = held("Please check the units of all of the terms.", "Check units, all terms!")
    assert (loss.words, loss.lost_words, loss.word_share, loss.shrinks) == (4, 0, 1.0, False)
    assert meaningful("so it is") == {}
    assert held("so it is", "it was").lost_words == 2


def test_words_are_counted_with_repetitions() -> None:
    loss = held("x = 1\nx = 1\nx = 2", "x = 1")
    assert (loss.words, loss.lost_words) == (6, 4)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("at most 5,000 or 7.5% of 3", 3),
        ("call read_rows(path) of os.path", 2),
        ("the NPV and the CamelCase", 2),
        ("nothing of the kind", 0),
    ],
)
def test_numbers_names_and_code_are_facts(text: str, facts: int) -> None:
    assert held(text, "").facts == facts


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("one two three four five six", "one two three four five six seven", ""),
        ("one two three four five six", "one two three ten eleven twelve", ""),
        ("one two three four five six", "one two seven eight nine ten", "the new words hold 2 of the 6 words"),
        ("one two three four five six", "one two", "the new words hold 2 of the 6 words"),
        ("one two", "three", ""),
        ("one two three four", "one two three\n...", "the new words have dots in the place of others"),
        ("def f():\n    ...\nx", "def f():\n    ...\ny", ""),
        ("a1 b2 c3 d4 and more of them " * 2, "b2 and more of them, all of them alpha beta gamma delta", "3|numbers"),
    ],
)
def test_reasons(old: str, new: str, reason: str) -> None:
    assert why(old, new) == reason if "|" not in reason else why(old, new) != ""


@given(texts)
def test_a_text_holds_itself(text: str) -> None:
    loss = held(text, text)
    assert (loss.lost_words, loss.lost_facts, loss.shrinks) == (0, 0, False)
    assert why(text, text) == ""


@given(texts, texts)
def test_a_longer_text_holds_its_parts(one: str, two: str) -> None:
    assert held(one, f"{one}\n{two}").lost_words == 0
    assert 0 <= held(one, two).word_share <= 1
    assert 0 <= held(one, two).fact_share <= 1
