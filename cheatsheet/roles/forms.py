"""The same answer in another form: with words around it, as a date, in words, as a fraction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from cheatsheet.roles.replies import read_answer

_AROUND = frozenset(
    "the a an answer is final result it so thus therefore hence of correct right value total equals option choice "
    "approximately about around i think would be and we get solution output".split()
)
_WORD = re.compile(r"[^\W_]+(?:[.,'’-][^\W_]+)*")
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%m/%d/%Y")
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty".split()
)
_YES, _NO = frozenset({"yes", "true", "correct"}), frozenset({"no", "false", "incorrect"})
_FRACTION = re.compile(r"(?:\\d?frac\{(-?\d{1,12})\}\{(\d{1,12})\})|(-?\d{1,12})\s?/\s?(\d{1,12})")
_MAX_CHARS = 400
_MAX_ITEM_WORDS = 6


def form_slip(answer: str, expected: str, choices: Sequence[str] = ()) -> str:
    """Which form is wanted where the answer is right in another one; empty when it is another answer."""
    if max(len(answer), len(expected)) > _MAX_CHARS:
        return ""
    checks: tuple[Callable[[str, str], str], ...] = (_words_around, _date, _small_number, _yes_or_no, _fraction, _order)
    if choices and read_answer(answer, choices).value == expected and expected in choices:
        return "give the name of the choice alone"
    return next((slip for check in checks if (slip := check(answer.strip(), expected.strip()))), "")


def items_of(text: str) -> list[str]:
    """The items of a list between commas, semicolons or line breaks; empty when the text is no list.

    A sentence with commas is none: its parts are long.
    """
    parts = [" ".join(part.split()) for part in re.split(r"[,;\n]", text)]
    if len(parts) < 2 or not all(parts) or any(len(part.split()) > _MAX_ITEM_WORDS for part in parts):
        return []
    return parts


def _words_around(answer: str, expected: str) -> str:
    got, wanted = _words(answer), _words(expected)
    if not wanted or len(got) <= len(wanted):
        return ""
    for start in range(len(got) - len(wanted) + 1):
        if got[start : start + len(wanted)] == wanted:
            around = {*got[:start], *got[start + len(wanted) :]}
            if around <= _AROUND:
                return "give the answer alone, without words around it"
    return ""


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _date(answer: str, expected: str) -> str:
    given, wanted = _as_date(answer), _as_date(expected)
    return f"write dates like {expected}" if given and given == wanted and answer != expected else ""


def _as_date(text: str) -> date | None:
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", text.strip(" ."))
    for pattern in _DATES:
        try:
            return datetime.strptime(plain, pattern).date()  # noqa: DTZ007  # a day, in no time zone
        except ValueError:
            continue
    return None


def _small_number(answer: str, expected: str) -> str:
    given, wanted = answer.casefold().strip("."), expected.casefold().strip(".")
    if given in _SMALL and wanted == str(_SMALL.index(given)):
        return "write numbers in digits"
    return "write numbers in words" if wanted in _SMALL and given == str(_SMALL.index(wanted)) else ""


def _yes_or_no(answer: str, expected: str) -> str:
    given, wanted = answer.casefold().strip("."), expected.casefold().strip(".")
    same = any(given in words and wanted in words for words in (_YES, _NO))
    return f"say {expected}" if same and given != wanted else ""


def _fraction(answer: str, expected: str) -> str:
    given, wanted = _as_number(answer), _as_number(expected)
    if given is None or given != wanted or not (_FRACTION.fullmatch(answer) or _FRACTION.fullmatch(expected)):
        return ""
    return "write it as a fraction" if _FRACTION.fullmatch(expected) else "write it as a decimal number"


def _as_number(text: str) -> Decimal | None:
    found = _FRACTION.fullmatch(text)
    try:
        if found is None:
            return Decimal(text) if text[:1].isdecimal() or text[:1] in "-." else None
        above, below = (found[1], found[2]) if found[1] else (found[3], found[4])
        return Decimal(above) / Decimal(below)
    except (InvalidOperation, ZeroDivisionError):
        return None


def _order(answer: str, expected: str) -> str:
    given, wanted = items_of(answer.casefold()), items_of(expected.casefold())
    return "the order of the items counts" if given != wanted and Counter(given) == Counter(wanted) else ""
