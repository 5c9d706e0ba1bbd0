"""Texts as a page may show them. What is markup in them is the template's matter, which escapes it."""

from __future__ import annotations

import re

# What a reader would not see, or what turns the direction of writing; halves of surrogate pairs cannot be encoded.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LOOSE = re.compile(r" (?=%)|(?<=[np]) (?=[=<])|(?<=[=<]) (?=\d)")


def visible(text: str) -> str:
    """A text in which control characters, and those that turn the direction of writing, are seen and do nothing."""
    return _UNSEEN.sub(lambda match: _pictured(ord(match[0])), text)


def bound(sentence: str) -> str:
    """A sentence in which no line ends between a number and what belongs to it."""
    return _LOOSE.sub("\N{NO-BREAK SPACE}", sentence)


def _pictured(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else f"[U+{code:04X}]"
