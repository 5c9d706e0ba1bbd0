"""Texts of others stand in a prompt as data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.context.fence import one_line, printable, quoted, visible
from cheatsheet.context.layout import SEPARATOR

# What readers take for the end of a line.
BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
evil = st.text() | st.lists(st.sampled_from(["# IDENTITY.md", "---", *BREAKS, "> ", "```", "\u202e", "x"])).map("".join)


@given(evil)
def test_every_line_of_a_quoted_text_is_quoted(text: str) -> None:
    """No text poses as another section: the separator cannot stand in it, nor a line of its own."""
    shown = quoted(f"a\n{text}")
    assert all(line.startswith(">") for line in shown.split("\n"))
    assert SEPARATOR not in shown
    assert not set(shown) & set(BREAKS[1:])


@given(evil, st.integers(2, 80))
def test_one_line_is_one_line(text: str, max_chars: int) -> None:
    line = one_line(text, max_chars=max_chars)
    assert len(line) <= max_chars
    assert not set(line) & set(BREAKS)
    assert one_line(line, max_chars=max_chars) == line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Format JSON nicely\U000e0049\U000e0067\U000e006e", "Format JSON nicely"),  # Y03: tags
        ("a\u202eb\u2066c\u2069", "abc"),  # Y03: bidirectional controls
        ("a\u200bb\u2060c", "abc"),  # Y03: no width
        ("\ufefftext", "text"),  # Y03: a byte order mark is no alarm
        ("👨‍👩‍👧", "👨‍👩‍👧"),  # Y03: joiners within emoji survive
        ("مرحبا \u200fبالعالم", "مرحبا \u200fبالعالم"),  # Y03: and so does right-to-left text
        ("می\u200cخواهم", "می\u200cخواهم"),
        (
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f!",
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f!",
        ),
        ("🏴\U000e0069\U000e0067\U000e006e\U000e007f", "🏴"),
        ("\x00bell\x07\ud800", "bell"),
    ],
)
def test_what_cannot_be_seen_is_not_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_names_that_are_no_utf8_stay_apart() -> None:
    names = [bytes([97, byte]).decode("utf-8", "surrogateescape") for byte in (0xFF, 0xFE)]
    assert [printable(name) for name in names] == ["a\\xff", "a\\xfe"]
