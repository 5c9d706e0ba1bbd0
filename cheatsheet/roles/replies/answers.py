"""The answer out of a reply."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from cheatsheet.roles.replies.reading import Reading, well_formed
from cheatsheet.roles.replies.structured import read_json
from cheatsheet.roles.replies.thinking import strip_thinking

ANSWER_KEYS = ("final_answer", "answer")

_ANSWER_TAG = re.compile(r"<\s{0,3}(?P<close>/?)\s{0,3}answer\s{0,3}>", re.IGNORECASE)
_MARKER = re.compile(r"final[ \t]{1,3}answer[*_ \t]{0,4}[:：]", re.IGNORECASE)
_FENCED = re.compile(r"\s*(?P<mark>`{3,}|~{3,})[^\n`]*\n(?P<body>[^`~]*)(?P=mark)")
_MATH = re.compile(r"\s*(?:\\\[|\$\$)(?P<body>.*?)(?:\\\]|\$\$)", re.DOTALL)
_BRACE = re.compile(r"(?P<box>\\boxed\s{0,3}\{)|\\.|[{}]", re.DOTALL)


def read_answer(text: str, choices: Sequence[str] = ()) -> Reading[str]:
    """What counts as the answer of a reply, without its wrapping; thinking is left out first.

    In this order: a reply that is a JSON object with `final_answer` or `answer`; the last complete
    `<answer>…</answer>`; `FINAL ANSWER: …`; such an object inside other text; the whole text. Where `\\boxed{…}` stands
    in what was found, the last box is the answer. (The published scores of Dynamic Cheatsheet take the first
    `<answer>`; whoever reproduces them reads that.)

    Args:
        text: a model's reply.
        choices: the only answers allowed. The one that was found is returned as it is written here: the whole answer,
            whatever its case and punctuation, or else the last choice that stands in it as a word of its own. An answer
            that names none is returned as it is.
    """
    found = _unwrapped(strip_thinking(well_formed(text)).strip())
    boxed = _boxed(found.value)
    if boxed is not None:
        found = Reading(boxed, "box" if found.how == "text" else found.how)
    choice = _choice(found.value, choices)
    if choice is not None:
        found = Reading(choice, "choice" if found.how == "text" else found.how)
    return found


def _unwrapped(body: str) -> Reading[str]:
    if body.startswith(("{", "```")):
        found = _enveloped(body) or _tagged(body) or _marked(body)
    else:
        found = _tagged(body) or _marked(body) or _enveloped(body)
    return found or Reading(body, "text")


def _enveloped(body: str) -> Reading[str] | None:
    """The answer inside an object that the model put around it; inside prose only where nothing must be guessed."""
    if "{" not in body or not any(key in body for key in ANSWER_KEYS):
        return None
    reading = read_json(body, wants=ANSWER_KEYS)
    if not isinstance(reading.value, dict) or (reading.how == "repaired" and not body.startswith("{")):
        return None
    values = [reading.value[key] for key in ANSWER_KEYS if reading.value.get(key) is not None]
    return Reading(_as_text(values[0]), "envelope") if values else None


def _as_text(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    tagged = _tagged(value)
    return tagged.value if tagged else value.strip()


def _tagged(body: str) -> Reading[str] | None:
    """The last complete block; a block that is open at the end counts when there is no complete one."""
    complete: str | None = None
    opened: int | None = None
    for tag in _ANSWER_TAG.finditer(body):
        if not tag["close"]:
            opened = tag.end()
        elif opened is not None:
            complete, opened = body[opened : tag.start()], None
    if complete is not None:
        return Reading(complete.strip(), "tag")
    return None if opened is None else Reading(body[opened:].strip(), "open-tag")


def _marked(body: str) -> Reading[str] | None:
    """What follows the last `FINAL ANSWER:`: a fenced block, a formula set apart, or else the first line with text."""
    markers = list(_MARKER.finditer(body))
    if not markers:
        return None
    rest = body[markers[-1].end() :].lstrip(" \t*_")
    block = _FENCED.match(rest) or _MATH.match(rest)
    line = block["body"] if block else _undecorated(rest.lstrip("\n *_").partition("\n")[0])
    return Reading(line.strip(), "marker")


def _undecorated(line: str) -> str:
    """The line without Markdown's bold and code marks around it."""
    return line.strip().strip("*`").strip()


def _boxed(text: str) -> str | None:
    """What stands in the last `\\boxed{…}` that is closed, however deep its braces; of nested boxes, the innermost."""
    opened: list[tuple[bool, int]] = []
    found: tuple[int, int] | None = None
    for mark in _BRACE.finditer(text):
        if mark[0] == "}":
            is_box, start = opened.pop() if opened else (False, 0)
            if is_box and (found is None or start > found[0]):
                found = start, mark.start()
        elif mark["box"] or mark[0] == "{":
            opened.append((bool(mark["box"]), mark.end()))
    return None if found is None else text[found[0] : found[1]].strip()


def _choice(text: str, choices: Sequence[str]) -> str | None:
    allowed = [choice for choice in choices if choice.strip()]
    for form in (str.strip, _bare):
        by_form = {form(choice).casefold(): choice for choice in reversed(allowed)}
        whole = form(text).casefold()
        if whole and whole in by_form:
            return by_form[whole]
    return _last_mention(text, allowed)


def _bare(text: str) -> str:
    """The text without spaces and punctuation around it."""
    start, end = 0, len(text)
    while start < end and not _carries_meaning(text[start]):
        start += 1
    while end > start and not _carries_meaning(text[end - 1]):
        end -= 1
    return text[start:end]


def _carries_meaning(character: str) -> bool:
    return unicodedata.category(character)[0] not in "PZC"


def _last_mention(text: str, choices: Sequence[str]) -> str | None:
    """The choice that stands last in the text as a word of its own, unless `not` stands right before it."""
    if not choices:
        return None
    ordered = sorted(choices, key=len, reverse=True)
    mentions = list(re.finditer("|".join(f"({_standalone(choice.strip())})" for choice in ordered), text))
    if not mentions or mentions[-1].lastindex is None:
        return None
    written = mentions[-1][0]
    return next((choice for choice in choices if choice.strip() == written), ordered[mentions[-1].lastindex - 1])


def _standalone(choice: str) -> str:
    before = r"(?<!\w)" if _has_case_or_is_digit(choice[0]) else ""
    after = r"(?!\w)" if _has_case_or_is_digit(choice[-1]) else ""
    # A single letter is matched in its own case only: an `a` in a sentence is not choice A.
    word = re.escape(choice) if len(choice) == 1 else f"(?i:{re.escape(choice)})"
    return rf"(?<!\bnot ){before}{word}{after}"


def _has_case_or_is_digit(character: str) -> bool:
    """True where words are written with spaces between them, so that a word's edge can be seen."""
    return character.isdigit() or character.lower() != character.upper()
