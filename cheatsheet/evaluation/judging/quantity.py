r"""Comparing quantities: numbers with units, rounded as the task says.

Numbers are read as in `number`: the last one counts, a unit or a currency sign beside it does not, thousands may be
parted. Beyond that:

- *Magnitudes.* "1.5 billion" is 1,500,000,000; so with thousand, million and trillion, in answers and in targets.
- *Percent.* The sign does not count: "35%" is 35 and not 0.35, and "-5%" is -5. A row whose `metadata` has
  `"percent": "hundredths"` reads "35%" as 0.35, in its answer and in its target.
- *Rounding.* To as many decimals as asked for: `metadata["decimals"]`, or else what the question says last ("with 2
  decimal places", "to the nearest cent", "to the nearest whole number"), or else as many as the target has. A target
  without decimals is then compared exactly. An answer may have more decimals than asked for. It is right when it lies
  within half a unit of the last decimal, so that a five at the end may be rounded either way. One with fewer decimals
  is right only if it is that near: asked for two, "8.3" is not 8.33, but "15" is 15.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging.number import last_number, only_number

MOST_DECIMALS: Final = 12

_MAGNITUDES: Final = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_BESIDE: Final = r"(?<=\d)(?:[\s~-]|\\[,;: ]|\\(?:text|mathrm)\{)*"
_MAGNITUDE: Final = re.compile(rf"{_BESIDE}\b({'|'.join(_MAGNITUDES)})s?\b", re.IGNORECASE)
_PERCENT: Final = re.compile(r"(?<=\d)\s*\\?[%％]")

_WORDS: Final = {"zero": 0, "no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_NEAREST: Final = {"whole number": 0, "integer": 0, "dollar": 0, "tenth": 1, "cent": 2, "hundredth": 2, "thousandth": 3}
_ASKED: Final = re.compile(
    rf"\b(?P<count>\d{{1,2}}|{'|'.join(_WORDS)})[ -]decimals?(?:[ -](?:place|digit)s?)?\b"
    rf"|\bnearest (?P<nearest>{'|'.join(_NEAREST)})\b",
    re.IGNORECASE,
)
_DECIMALS: Final = re.compile(r"\d\.(\d+)")


def same_quantity(answer: str, target: str, row: Mapping[str, Any]) -> bool:
    """Whether an answer is the target's number, by the rules above.

    Raises:
        TaskError: the row's `metadata` has `decimals` or `percent` with a value that is not allowed.
    """
    hundredths = _hundredths(row)
    wanted, given = only_number(_written(target, hundredths)), last_number(_written(answer, hundredths))
    if wanted is None or given is None:
        return False
    decimals = _decimals(target, row)
    return given == wanted if decimals is None else abs(given - wanted) <= Fraction(1, 2 * 10**decimals)


def decimals_asked(question: str) -> int | None:
    """How many decimals a question asks for, or None where it does not say."""
    *_, last = [None, *_ASKED.finditer(question)]
    if last is None:
        return None
    if last["nearest"]:
        return _NEAREST[last["nearest"].lower()]
    return min(MOST_DECIMALS, _WORDS[last["count"].lower()] if last["count"].isalpha() else int(last["count"]))


def _decimals(target: str, row: Mapping[str, Any]) -> int | None:
    told = row["metadata"].get("decimals")
    if told is not None:
        return _checked(told, row)
    asked = decimals_asked(row["input"])
    if asked is not None:
        return asked
    written = _DECIMALS.search(target)
    return min(MOST_DECIMALS, len(written[1])) if written else None


def _checked(decimals: object, row: Mapping[str, Any]) -> int:
    if not isinstance(decimals, int) or isinstance(decimals, bool) or not 0 <= decimals <= MOST_DECIMALS:
        raise TaskError(
            f"Question {row['id']!r}: metadata has 'decimals': {decimals!r}; it must be a whole number from 0 to "
            f"{MOST_DECIMALS}."
        )
    return decimals


def _hundredths(row: Mapping[str, Any]) -> bool:
    told = row["metadata"].get("percent", "points")
    if told not in ("points", "hundredths"):
        raise TaskError(
            f"Question {row['id']!r}: metadata has 'percent': {told!r}; it must be 'points' (35% is 35, as without it) "
            f"or 'hundredths' (35% is 0.35)."
        )
    return bool(told == "hundredths")


def _written(text: str, hundredths: bool) -> str:
    """The text with what scales a number written as its power of ten."""
    scaled = _MAGNITUDE.sub(lambda match: f"e{_MAGNITUDES[match[1].lower()]}", text)
    return _PERCENT.sub("e-2", scaled) if hundredths else scaled
