"""Reasoning that leaks into a reply, and how it is left out."""

from __future__ import annotations

import re
from bisect import bisect_right

from cheatsheet.roles.replies.scan import Span, embedded

# The damaged forms that occur: blanks inside the tag, attributes, and a `>` that is missing at the end of a line.
_TAG = re.compile(
    r"<[ \t]{0,3}(?P<close>/?)[ \t]{0,3}(?:think|thinking|thought|reasoning)\b[^<>\n]{0,80}(?:>|$)",
    re.IGNORECASE | re.MULTILINE,
)


def strip_thinking(text: str) -> str:
    """The reply without what stands between `<think>` (or `<thinking>`, `<thought>`, `<reasoning>`) and its end.

    - A closing tag without an opening one ends thinking that began with the reply, as chat templates that write the
      opening tag themselves leave it; when nothing follows it, it is only a stray tag.
    - An opening tag at the start of a line that is never closed takes the rest with it: the reply was cut while
      thinking. In the middle of a line it is a word about tags.
    - A tag inside a string of valid JSON is text.
    """
    tags = _tags(text)
    last_close = max((tag.start() for tag in tags if tag["close"]), default=-1)
    end_of_content = len(text.rstrip())
    kept: list[str] = []
    position, thinking = 0, False
    for tag in tags:
        if tag["close"]:
            if not thinking:
                kept = [] if tag.end() < end_of_content else [*kept, text[position : tag.start()]]
            position, thinking = tag.end(), False
        elif not thinking and _opens(text, tag, last_close):
            kept.append(text[position : tag.start()])
            position, thinking = tag.end(), True
    return "".join(kept) if thinking else "".join([*kept, text[position:]])


def _tags(text: str) -> list[re.Match[str]]:
    tags = [tag for tag in _TAG.finditer(text) if not tag[0].endswith("/>")]
    if not tags or ('"' not in text):
        return tags
    places = [place for place, _ in embedded(text)]
    starts = [start for start, _ in places]
    return [tag for tag in tags if not _inside(tag.start(), places, starts)]


def _inside(position: int, places: list[Span], starts: list[int]) -> bool:
    before = bisect_right(starts, position) - 1
    return before >= 0 and position < places[before][1]


def _opens(text: str, tag: re.Match[str], last_close: int) -> bool:
    if tag.start() < last_close:
        return True
    line_start = text.rfind("\n", 0, tag.start()) + 1
    return not text[line_start : tag.start()].strip()
