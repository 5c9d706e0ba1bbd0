"""How an answer differs from the right one, told by rules."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher

from cheatsheet.roles.role import Attempt, ErrorKind

_SEPARATOR = re.compile(r"(?<=\d)[,'’ _\u00a0\u202f](?=\d{3}(?!\d))")
# What carries meaning: words, numbers with their points, and signs; not brackets, quotes and other punctuation.
_TOKEN = re.compile(
    r"\d+(?:\.\d+)*|[^\W\d_]+|-(?=[\d.])|(?<=\w)\*(?=\w)|[^\w\s\-\"'`*:;!?()\[\]{}.,“”„‘’«»]",
)
_QUANTITY = re.compile(
    r"(?P<before>[$€£¥]?)\s{0,3}"
    r"(?P<number>[-+]?(?:[1-9]\d{0,2}(?:[,'’ _]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?)"
    r"\s{0,3}(?P<unit>(?:(?:[^\W\d_]|[%°$€£¥])\S{0,20}(?:\s(?:[^\W\d_]|[%°])\S{0,20})?)?)"
)
_MAX_QUANTITY_CHARS = 60
_SCALES = {Decimal(10) ** power for power in (-3, -2, -1, 1, 2, 3)}
_MAX_WORDS = 400  # difflib takes time with the product of the lengths
_MAX_PARTS = 5


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and the unit written with it (empty when there is none)."""

    number: Decimal
    unit: str


def judged(attempt: Attempt) -> bool | None:
    """Whether the answer was right: as the feedback says, else by comparison with the expected one, else unknown."""
    feedback = attempt.feedback
    if feedback.verdict is not None or feedback.expected is None:
        return feedback.verdict
    return bool(attempt.answer.strip()) and same(attempt.answer, feedback.expected)


def same(answer: str, expected: str) -> bool:
    """Equal but for case, white space, punctuation, thousands separators and the way a number is written."""
    left, right = quantity(answer), quantity(expected)
    if left and right:
        return left == right
    normal = _normal(answer)
    return normal == _normal(expected) if normal else answer.strip() == expected.strip()


def classify(answer: str, expected: str, choices: Sequence[str] = ()) -> ErrorKind:
    """What kind of error lies between a wrong answer and the right one.

    Nothing said is an omission; the same said otherwise is a matter of format; one choice for another is a wrong
    choice. Of two numbers, the same number with another unit, or off by 10, 100 or 1,000, is a matter of unit, any
    other a calculation. An answer that is a part of the expected one, or far shorter, leaves something out. The rest
    is a matter of concept.
    """
    if not answer.strip():
        return ErrorKind.OMISSION
    if same(answer, expected):
        return ErrorKind.FORMAT
    if choices:
        return ErrorKind.WRONG_CHOICE
    left, right = quantity(answer), quantity(expected)
    if left and right:
        return ErrorKind.UNIT if _scaled(left, right) else ErrorKind.CALCULATION
    return ErrorKind.OMISSION if _leaves_out(answer, expected) else ErrorKind.CONCEPT


def quantity(text: str) -> Quantity | None:
    """The number that a text is, with its unit; None when the text is anything more."""
    plain = unicodedata.normalize("NFKC", text[: _MAX_QUANTITY_CHARS + 1]).strip().strip(".*").replace("−", "-")
    found = _QUANTITY.fullmatch(plain) if len(text) <= _MAX_QUANTITY_CHARS else None
    if found is None:
        return None
    digits = _SEPARATOR.sub("", found["number"]).replace(",", ".")
    return Quantity(Decimal(digits), (found["before"] + found["unit"]).casefold())


def describe(answer: str, expected: str) -> str:
    """The difference in words: what is missing, what is too much, what stands in place of what."""
    got, right = answer.split()[:_MAX_WORDS], expected.split()[:_MAX_WORDS]
    parts = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, got, right, autojunk=False).get_opcodes():
        was, should = " ".join(got[i1:i2]), " ".join(right[j1:j2])
        if tag == "replace":
            parts.append(f'"{was}" instead of "{should}"')
        elif tag == "delete":
            parts.append(f'"{was}" is too much')
        elif tag == "insert":
            parts.append(f'"{should}" is missing')
    more = [f"and {len(parts) - _MAX_PARTS} more"] if len(parts) > _MAX_PARTS else []
    return "; ".join(parts[:_MAX_PARTS] + more)


def _normal(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _TOKEN.findall(_SEPARATOR.sub("", folded))


def _scaled(left: Quantity, right: Quantity) -> bool:
    if left.number == right.number:
        return True
    return any(left.number == right.number * scale for scale in _SCALES)


def _leaves_out(answer: str, expected: str) -> bool:
    got, right = Counter(_words(answer)), Counter(_words(expected))
    return bool(got) and (got < right or (right.total() >= 8 and 3 * got.total() < right.total()))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
