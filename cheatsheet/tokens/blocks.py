"""Guarding tokenizers from texts that would stop them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

BLOCK_CHARS = 8_192

_SPACE = re.compile(r"\s")


def blocks(text: str) -> Iterator[str]:
    """The text in pieces that a tokenizer can count one by one, in linear time and without overflowing its stack.

    A tokenizer's expressions and merges take a run of whitespace, or of anything but whitespace, as one word: a
    million spaces make tiktoken 0.14 panic with a stack overflow, and older versions merge a long word in quadratic
    time. So every window of `BLOCK_CHARS` characters (counted from the start of the text) that lies within one such run
    is a piece of its own, and what is between those windows stays together. A text without such a run is one piece
    and its count is exact; at the edge of a window the count may be off by one or two tokens.
    """
    if len(text) <= BLOCK_CHARS:
        yield text
        return
    windows = (text[start : start + BLOCK_CHARS] for start in range(0, len(text), BLOCK_CHARS))
    for one_run, group in groupby(windows, key=_is_one_run):
        if one_run:
            yield from group
        else:
            yield "".join(group)


def _is_one_run(window: str) -> bool:
    return len(window) == BLOCK_CHARS and (window.isspace() or _SPACE.search(window) is None)


def without_surrogates(text: str) -> str:
    """The text with each lone surrogate, which UTF-8 cannot hold, as U+FFFD; what a provider's client would send."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
