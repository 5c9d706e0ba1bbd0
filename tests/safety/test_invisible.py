"""Characters that a reader cannot see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.safety.invisible import unseen, visible, with_marks

FLAG = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "shown", "count"),
    [
        ("Format JSON nicely\U000e0049\U000e0067\U000e006e", "Format JSON nicely", 3),  # Y03: tags
        ("a\u202eb\u2066c\u2069", "abc", 3),  # Y03: bidirectional controls
        ("a\u200bb\u2060c\u00add", "abcd", 3),  # Y03: no width
        ("ig\u200dno\u200cre", "ignore", 2),  # Y03: joiners have no place between Latin letters
        ("\ufefftext", "text", 0),  # Y03: a leading byte order mark is no alarm
        ("te\ufeffxt", "text", 1),
        ("a\ufe01\ufe02\U000e0141b", "ab", 3),  # bytes behind a letter, as variation selectors
        ("😀\ufe0f\ufe01\U000e0141", "😀\ufe0f", 2),
        ("🏴\U000e0069\U000e0067\U000e007f", "🏴", 3),  # a flag that nobody knows
        ("\x00bell\x07\x1b[31m\ud800", "bell[31m", 4),
        ("ㅤ\u3164x", "x", 2),
    ],
)
def test_what_cannot_be_seen_goes(text: str, shown: str, count: int) -> None:
    assert visible(text) == shown
    assert len(unseen(text)) == count


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧 ❤️‍🔥 👍🏽 1️⃣ 🇩🇪 🏳️‍🌈 🧑‍💻",  # Y03: joiners within emoji survive
        FLAG,
        "مرحبا \u200fبالعالم \u200e(2)",  # Y03: and normal right-to-left text
        "שלום עולם",
        "می\u200cخواهم",  # Persian is written with the non-joiner
        "क्\u200dष",
        "葛\U000e0100城",  # a variant of an ideograph
        "tab\tand\nline\r\n",
        "naïve café ½ → ≠",
    ],
)
def test_what_belongs_to_a_text_stays(text: str) -> None:
    assert visible(text) == text
    assert unseen(text) == ()


_PARTS = (
    "\u200d \ufe0f 😀 a ی \u200c 🏴 \U000e0067 \U000e0062 \U000e0065\U000e006e \U000e0067\U000e007f \u202e \n".split(
        " "
    )
)


@given(st.text() | st.lists(st.sampled_from(_PARTS)).map("".join))
def test_visible_text_stays_visible(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert not unseen(shown)
    assert len(shown) <= len(text)


def test_a_person_is_shown_where_they_stood() -> None:
    assert with_marks(f"a\u200bb {FLAG}") == f"a<U+200B>b {FLAG}"
