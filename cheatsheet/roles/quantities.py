"""Numbers with units, and in which way a wrong one differs from the right one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

SEPARATOR = re.compile(r"(?<=\d)[,'’ _\u00a0\u202f](?=\d{3}(?!\d))")

_QUANTITY = re.compile(
    r"(?P<before>[$€£¥]?)\s{0,3}"
    r"(?P<number>[-+]?(?:[1-9]\d{0,2}(?:[,'’ _]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?)"
    r"\s{0,3}(?P<unit>(?:(?:[^\W\d_]|[%°$€£¥])\S{0,20}(?:\s(?:[^\W\d_]|[%°])\S{0,20})?)?)"
)
_MAX_QUANTITY_CHARS = 60
_NEAR = Decimal("0.01")  # relative; a slip in rounding on the way is smaller
_TIGHT = Decimal("0.002")  # relative; results with three digits that are meant to be equal
_SCALES = {
    Decimal(10): "mind the decimal point",
    Decimal(100): "mind percent and fraction",
    Decimal(1_000): "mind thousands and their units",
    Decimal(1_000_000): "mind millions and single units",
}
_FACTORS = {
    Decimal(2): "mind what is counted twice, or halved",
    Decimal(4): "mind quarters and years",
    Decimal(7): "mind days and weeks",
    Decimal(12): "mind months and years",
    Decimal(24): "mind hours and days",
    Decimal(52): "mind weeks and years",
    Decimal(60): "mind minutes, hours and seconds",
    Decimal(365): "mind days and years",
    Decimal(1024): "mind the steps of 1,024",
    Decimal(3600): "mind seconds and hours",
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and the unit written with it (empty when there is none)."""

    number: Decimal
    unit: str

    @property
    def places(self) -> int:
        """Decimal places as written."""
        exponent = self.number.as_tuple().exponent
        return max(0, -exponent) if isinstance(exponent, int) else 0


def quantity(text: str) -> Quantity | None:
    """The number that a text is, with its unit; None when the text is anything more."""
    plain = unicodedata.normalize("NFKC", text[: _MAX_QUANTITY_CHARS + 1]).strip().strip(".*").replace("−", "-")
    found = _QUANTITY.fullmatch(plain) if len(text) <= _MAX_QUANTITY_CHARS else None
    if found is None:
        return None
    digits = SEPARATOR.sub("", found["number"]).replace(",", ".")
    return Quantity(Decimal(digits), (found["before"] + found["unit"]).casefold())


def unit_slip(answer: Quantity, right: Quantity) -> str:
    """What is wrong with the unit or the scale, in words; empty when neither is the matter."""
    if answer.number == right.number:
        return _other_unit(answer.unit, right.unit)
    for scale, advice in _SCALES.items():
        if answer.number and right.number and answer.number == right.number * scale:
            return f"{scale:,} times too large: {advice}"
        if answer.number and right.number and answer.number * scale == right.number:
            return f"{scale:,} times too small: {advice}"
    return ""


def precision_slip(answer: Quantity, right: Quantity) -> str:
    """How the right number was written less, or more, exactly than wanted; empty when it is another number."""
    if answer.unit != right.unit or answer.places == right.places:
        return ""
    places = min(answer.places, right.places)
    if _rounded(answer.number, places) != _rounded(right.number, places):
        return ""
    wanted = f"{right.places} decimal place{'s' * (right.places != 1)}" if right.places else "a whole number"
    return f"{wanted} {'is' if right.places < 2 else 'are'} wanted"


def calculation_slip(answer: Quantity, right: Quantity) -> str:
    """In which way the number is wrong, where that can be seen; otherwise empty."""
    checks: tuple[Callable[[Decimal, Decimal], str], ...] = (_sign, _last_digit, _inverse, _rest, _factor, _nearly)
    if not right.number or not answer.number:
        return ""
    found = (check(answer.number, right.number) for check in checks)
    return next((slip for slip in found if slip), "")


def _other_unit(given: str, wanted: str) -> str:
    if given and wanted:
        return f"the unit is {wanted}, not {given}"
    return f"give the number without {given}" if given else f"name the unit {wanted}"


def _rounded(number: Decimal, places: int, how: str = ROUND_HALF_UP) -> Decimal:
    return number.scaleb(places).to_integral_value(how)


def _sign(answer: Decimal, right: Decimal) -> str:
    return "the sign was reversed" if answer == -right else ""


def _last_digit(answer: Decimal, right: Decimal) -> str:
    places = max(Quantity(answer, "").places, Quantity(right, "").places)
    if abs(answer - right).scaleb(places) == 1 and places:
        return "the last digit is wrong: round at the end only"
    if abs(answer - right) == 1 and min(abs(answer), abs(right)) >= 1:
        return "off by one: look at both ends"
    least = min(Quantity(answer, "").places, Quantity(right, "").places)
    cut = _rounded(right, least, ROUND_DOWN) == _rounded(answer, least) and places != least
    return "it was cut off instead of rounded" if cut else ""


def _inverse(answer: Decimal, right: Decimal) -> str:
    for whole in (1, 10_000):  # of percentages, the product is 10,000
        if abs(answer * right / whole - 1) < _TIGHT and answer != right:
            return "numerator and denominator were swapped"
    return ""


def _rest(answer: Decimal, right: Decimal) -> str:
    whole = answer + right
    return f"it is the other part of {whole:f}" if min(answer, right) > 0 and whole in (1, 100) else ""


def _factor(answer: Decimal, right: Decimal) -> str:
    """Only of numbers with two digits at least: 24 and 2 say nothing about days."""
    if min(len(number.as_tuple().digits) for number in (answer, right)) < 2:
        return ""
    for factor, advice in _FACTORS.items():
        if abs(answer / right / factor - 1) < _TIGHT:
            return f"{factor:,} times too large: {advice}"
        if abs(right / answer / factor - 1) < _TIGHT:
            return f"{factor:,} times too small: {advice}"
    return ""


def _nearly(answer: Decimal, right: Decimal) -> str:
    return "nearly right: do not round on the way" if abs(answer / right - 1) < _NEAR else ""
