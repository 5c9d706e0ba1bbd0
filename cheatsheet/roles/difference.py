"""How an answer differs from the right one, told by rules."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from cheatsheet.roles.forms import form_slip, items_of
from cheatsheet.roles.quantities import SEPARATOR, calculation_slip, precision_slip, quantity, unit_slip
from cheatsheet.roles.role import Attempt, ErrorKind

# What carries meaning: words, numbers with their points, and signs; not brackets, quotes and other punctuation.
_TOKEN = re.compile(
    r"\d+(?:\.\d+)*|[^\W\d_]+|-(?=[\d.])|(?<=\w)\*(?=\w)|[^\w\s\-\"'`*:;!?()\[\]{}.,“”„‘’«»]",
)
_MAX_WORDS = 400  # difflib takes time with the product of the lengths
_MAX_PARTS = 5


@dataclass(frozen=True, slots=True)
class Slip:
    """What is wrong with an answer.

    Attributes:
        kind: of error.
        hint: what can be seen of it in a few words that hold for other questions too; empty where nothing can.
    """

    kind: ErrorKind
    hint: str = ""


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


def slip(answer: str, expected: str, choices: Sequence[str] = ()) -> Slip:
    """What kind of error lies between a wrong answer and the right one.

    Nothing said is an omission; the same said otherwise, less exactly or with words around it is a matter of format;
    one choice for another is a wrong choice. Of two numbers, the same number with another unit, or off by 10, 100,
    1,000 or a million, is a matter of unit, any other a calculation. An answer that is a part of the expected one, or
    far shorter, leaves something out. The rest is a matter of concept.
    """
    if not answer.strip():
        return Slip(ErrorKind.OMISSION)
    if same(answer, expected):
        return Slip(ErrorKind.FORMAT, _spelling(answer, expected))
    if hint := form_slip(answer, expected, choices):
        return Slip(ErrorKind.FORMAT, hint)
    if choices:
        return Slip(ErrorKind.WRONG_CHOICE)
    return _number_slip(answer, expected) or _list_slip(answer, expected) or _text_slip(answer, expected)


def describe(answer: str, expected: str) -> str:
    """The difference in words: what is missing, what is too much, what stands in place of what.

    Lists are compared item by item, other texts word by word.
    """
    got, right = _parts(answer, expected)
    between = ", " if _is_list(answer, expected) else " "
    parts = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, got, right, autojunk=False).get_opcodes():
        was, should = between.join(got[i1:i2]), between.join(right[j1:j2])
        if tag == "replace":
            parts.append(f'"{was}" instead of "{should}"')
        elif tag == "delete":
            parts.append(f'"{was}" is too much')
        elif tag == "insert":
            parts.append(f'"{should}" is missing')
    more = [f"and {len(parts) - _MAX_PARTS} more"] if len(parts) > _MAX_PARTS else []
    return "; ".join(parts[:_MAX_PARTS] + more)


def _parts(answer: str, expected: str) -> tuple[list[str], list[str]]:
    if _is_list(answer, expected):
        return items_of(answer)[:_MAX_WORDS], items_of(expected)[:_MAX_WORDS]
    return answer.split()[:_MAX_WORDS], expected.split()[:_MAX_WORDS]


def _is_list(answer: str, expected: str) -> bool:
    """Two lists whose items differ; where only the blanks between them do, words tell more."""
    got, right = items_of(answer), items_of(expected)
    return bool(got and right) and got != right and quantity(answer) is None and quantity(expected) is None


def _spelling(answer: str, expected: str) -> str:
    given, wanted = answer.strip(), expected.strip()
    if given.casefold() == wanted.casefold() and given != wanted:
        return "capital and small letters count"
    if SEPARATOR.sub("", given) == wanted:
        return "write numbers without separators"
    return "write numbers with separators" if SEPARATOR.sub("", wanted) == given else ""


def _number_slip(answer: str, expected: str) -> Slip | None:
    left, right = quantity(answer), quantity(expected)
    if left is None or right is None:
        return None
    if hint := unit_slip(left, right):
        return Slip(ErrorKind.UNIT, hint)
    if hint := precision_slip(left, right):
        return Slip(ErrorKind.FORMAT, hint)
    return Slip(ErrorKind.CALCULATION, calculation_slip(left, right) if left.unit == right.unit else "")


def _list_slip(answer: str, expected: str) -> Slip | None:
    if not _is_list(answer, expected):
        return None
    got, right = items_of(answer), items_of(expected)
    missing, extra = Counter(right) - Counter(got), Counter(got) - Counter(right)
    if missing and not extra:
        return Slip(ErrorKind.OMISSION, f"name all {len(right)}")
    if extra and not missing:
        return Slip(ErrorKind.CONCEPT, f"there are {len(right)}, not {len(got)}")
    numbers = all(quantity(item) for item in (*missing, *extra))
    return Slip(ErrorKind.CALCULATION if numbers else ErrorKind.CONCEPT, _wrong_items(got, right))


def _wrong_items(got: Sequence[str], right: Sequence[str]) -> str:
    """The items that differ, where the others are right and there are few."""
    if len(got) != len(right):
        return f"there are {len(right)}, not {len(got)}"
    pairs = [pair for pair in zip(got, right, strict=True) if pair[0] != pair[1]]
    if len(pairs) == len(right) or len(pairs) > _MAX_PARTS:
        return ""
    return "; ".join(f"{wanted}, not {given}" for given, wanted in pairs)


def _text_slip(answer: str, expected: str) -> Slip:
    return Slip(ErrorKind.OMISSION if _leaves_out(answer, expected) else ErrorKind.CONCEPT)


def _normal(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _TOKEN.findall(SEPARATOR.sub("", folded))


def _leaves_out(answer: str, expected: str) -> bool:
    got, right = Counter(_words(answer)), Counter(_words(expected))
    return bool(got) and (got < right or (right.total() >= 8 and 3 * got.total() < right.total()))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
