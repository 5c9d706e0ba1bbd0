"""Which words of a question are looked for as they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.search.telling import telling_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What does ORA-00942 want from me? The table is there.", ["ORA-00942"]),
        ("the update fails with 0x80070005 again", ["0x80070005"]),
        ("why is foo.bar_baz() so slow here", ["foo.bar_baz"]),
        ("std::vector::at throws in our tests", ["std::vector::at"]),
        ("we go from openssl 3.0.7 to 3.0.8 next week", ["3.0.7", "3.0.8"]),
        ("how does the parser call camelCase functions", ["camelCase"]),
        ("truck reports SPN 4364 since Monday, what now", ["SPN", "4364", "Monday"]),
        ("when may Okonkwo Freight send its pallets", ["Okonkwo", "Freight"]),
        ("遇到ORA-00942时应该怎么办", ["ORA-00942"]),
        ("E0502 and E0502 are the same to me", ["E0502"]),
    ],
)
def test_codes_identifiers_versions_and_names(text: str, expected: list[str]) -> None:
    assert telling_words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "How do I add quantities in different units?",
        "It failed. Then it worked: why is that? Nobody knows it here.",
        "wait 2 hours or take 12 of them with you",
        "HOW DO I STOP THIS FROM HAPPENING AGAIN",
        "How To Keep All Of The Plants In A Garden Alive",
        "the read-only mode of a well-known printer is on",
        "",
        " \n ",
        "?!",
    ],
)
def test_ordinary_sentences_have_none(text: str) -> None:
    assert telling_words(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [("somaxconn", ["somaxconn"]), ("thalassa manifest", ["thalassa", "manifest"]), ("what is this", [])],
)
def test_of_a_few_keywords_all_that_say_something_tell(text: str, expected: list[str]) -> None:
    assert telling_words(text) == expected


@given(st.text())
def test_any_text_can_be_asked_and_only_its_words_tell(text: str) -> None:
    found = telling_words(text)
    assert len(found) == len(set(found))
    assert all(word and not word.isspace() and word in text for word in found)


@pytest.mark.parametrize("text", ["a" * 200_000 + "!", "a" + "-" * 300_000 + "a", "a" + "!" * 300_000 + "a"])
def test_a_long_row_of_anything_is_read_once(text: str) -> None:
    """Read again from every sign of it, it would take hours."""
    assert len(telling_words(text)) <= 1
