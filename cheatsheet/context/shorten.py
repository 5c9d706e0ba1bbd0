"""Shortening a text: cut at its end, between words, with open code fences closed and a marker that says so."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

# How far back from the last character that fits a better place to cut is looked for.
_LINE_CHARS: Final = 80
_WORD_CHARS: Final = 40
# No grapheme that means anything is longer; what a longer one is cut from is noise.
_GRAPHEME_CHARS: Final = 256
_FLAG_LETTERS: Final = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # regional indicators, two of which make a flag

# CommonMark 0.31 §4.5: three or more backticks or tildes, indented by three spaces at most.
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutText:
    """A shortened text.

    Attributes:
        text: what is shown, with closed fences and marker.
        shown_chars: how many of the original's characters that is.
        marked: whether there was room for the marker.
    """

    text: str
    shown_chars: int
    marked: bool


def cut_text(text: str, *, budget: int, measure: Callable[[str], int]) -> CutText | None:
    """The longest beginning of a text with which `measure` stays within `budget`; None when not even a character fits.

    Args:
        measure: tokens of the context with this text in it; every result was measured in full.

    The marker is part of what is measured, and is left out where it leaves no room for the text itself.
    """
    for marked in (True, False):
        cut = _Cutter(text, marked=marked).longest(budget, measure)
        if cut is not None:
            return cut
    return None


def marker(shown_chars: int, all_chars: int) -> str:
    """The line that says that a text is shortened."""
    return f"\n[… shortened: {shown_chars:,} of {all_chars:,} characters shown]"


def open_fence(text: str) -> str:
    """The fence of the code block that a text ends in, or an empty string."""
    fence = ""
    for mark, rest in _FENCE.findall(text):
        if not fence:
            fence = mark if mark[0] == "~" or "`" not in rest else ""
        elif mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip():
            fence = ""
    return fence


def boundary(text: str, at: int) -> int:
    """The best place to cut at or before `at`: a line's end nearby, or a word's, else between two graphemes.

    Never decreases when `at` grows.
    """
    first = len(text) - len(text.lstrip())  # before it there is nothing to show
    line = text.rfind("\n", max(first, at - _LINE_CHARS), at + 1)
    if line > first:
        return _grapheme_start(text, line)
    for place in range(at, max(first, at - _WORD_CHARS), -1):
        if text[place : place + 1].isspace():
            return _grapheme_start(text, place)
    return _grapheme_start(text, at)


class _Cutter:
    """Beginnings of one text, by the number of characters that they may have."""

    def __init__(self, text: str, *, marked: bool) -> None:
        self._text = text
        self._marked = marked

    def longest(self, budget: int, measure: Callable[[str], int]) -> CutText | None:
        """Bisection between a length that fits and one that does not, guided by the tokens measured at both."""

        def tokens(chars: int) -> int:
            return measure(self._cut(chars).text)

        low, low_tokens = 0, tokens(0)
        if low_tokens > budget:
            return None
        low, low_tokens, high, high_tokens = self._bracket(low_tokens, budget, tokens)
        by_tokens = True
        while boundary(self._text, high - 1) > boundary(self._text, low):
            middle = (low + high) // 2
            if by_tokens and high_tokens > low_tokens:
                middle = low + (high - low) * (budget - low_tokens) // (high_tokens - low_tokens)
                middle = min(max(middle, low + 1), high - 1)
            by_tokens = not by_tokens
            middle_tokens = tokens(middle)
            if middle_tokens <= budget:
                low, low_tokens = middle, middle_tokens
            else:
                high, high_tokens = middle, middle_tokens
        cut = self._cut(low)
        return cut if cut.shown_chars else None

    def _bracket(self, low_tokens: int, budget: int, tokens: Callable[[int], int]) -> tuple[int, int, int, int]:
        """A length that fits and one that does not, with their tokens, at a cost in proportion to the budget."""
        low = 0
        high = 4 * (budget - low_tokens) + 1
        while high < len(self._text):
            high_tokens = tokens(high)
            if high_tokens > budget:
                return low, low_tokens, high, high_tokens
            low, low_tokens, high = high, high_tokens, 2 * high
        return low, low_tokens, len(self._text), low_tokens

    def _cut(self, chars: int) -> CutText:
        body = self._text[: boundary(self._text, chars)].rstrip() if chars else ""
        fence = open_fence(body)
        note = marker(len(body), len(self._text)) if self._marked else ""
        return CutText(text=body + (f"\n{fence}" if fence else "") + note, shown_chars=len(body), marked=self._marked)


def _grapheme_start(text: str, at: int) -> int:
    """The last place at or before `at` that does not split what a reader sees as one character."""
    if not 0 < at < len(text):
        return at
    before, after = text[at - 1], text[at]
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return at - 1  # two halves of a character, as some JSON readers leave them
    if before.isascii() and after.isascii():
        return at - 1 if before + after == "\r\n" else at
    if before in _FLAG_LETTERS and after in _FLAG_LETTERS:
        return _flag_start(text, at)
    import regex  # 40 ms

    start = max(text.rfind("\n", 0, at) + 1, at - _GRAPHEME_CHARS, 0)
    *_, last = regex.finditer(r"\X", text, pos=start, endpos=at + 1)
    return _flag_start(text, int(last.start()))


def _flag_start(text: str, at: int) -> int:
    """`at`, or the place before it where `at` is within a flag: flags are pairs, told apart from their run's start."""
    if text[at : at + 1] not in _FLAG_LETTERS:
        return at
    before = text[:at]
    return at - (at - len(before.rstrip(_FLAG_LETTERS))) % 2
