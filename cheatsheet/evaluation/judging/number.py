r"""Reading numbers out of answers, exactly: as fractions, never as floats.

The rules, which hold for answers and for targets alike:

- The last number counts; where there is a `\boxed{…}`, the last one in the last box. What looks like a number and
  cannot be read as one ("3,5", "12:30", "1.2.3", a root) is not skipped: the answer is then no number.
- The decimal mark is the full stop. Thousands may be parted by a comma (also in the Indian way), `{,}`, LaTeX's thin
  spaces, an apostrophe or a narrow or no-break space.
- A currency sign, a unit or any other word beside the number, a percent sign and a full stop at the end do not count:
  "35%" is 35, and not 0.35. The sign does: "-5%" is -5.
- "007" is 7, "41.00" is 41, "1e3", "1.5 × 10^3" and "2^5" are what they say, "1/2", `\frac{1}{2}` and "½" are 0.5,
  "1 1/2" is 1.5. Nothing is rounded: "0.333" is not 1/3.
- Digits that belong to a name ("x1", "GPT4") or to an exponent ("5 m^2") are no numbers.
- An *integer* is a number that is written out in digits: "007", "1,234", "-5" and "41.00", but not "3.5", and neither
  "2^5" nor "64/2", which are sums that are left to the reader. A target may allow several: "080 or 081 (both were
  accepted)", as AIME does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from cheatsheet.evaluation.judging.text import unboxed

LONGEST = 100
"""Characters; what is longer is no answer but a runaway, and costs time to compute with."""

_HIGHEST_POWER = 400  # beyond the largest float; keeps "1e999999999" from filling the memory

_LOOKALIKES = str.maketrans(
    {"−": "-", "–": "-", "﹣": "-", "－": "-", "＋": "+", "⁄": "/", "．": ".", "，": ",", "：": ":"}
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_CURRENCY = r"\\?[$€£¥₹₩]"

_REWRITES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\{,\}|,\\!", ","),
        (r"(?<=\d)(?:\\[,!;:]|[\u00a0\u202f\u2009'’])(?=\d{3}(?!\d))", ","),
        (r"([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)", r"^\1"),
        (r"\\[dtc]?frac\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}", r"⟨\1/\2"),
        (r"\\[dtc]?frac\s*(\d)\s*(\d)", r"⟨\1/\2"),
        (r"(?<=\d)⟨", " "),
        (r"⟨", ""),
        (r"\\times|\\cdot|·", "×"),
        (r"\\(?!sqrt)[A-Za-z]+", " "),
        (r"\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|US(?=\$))\s?", " "),
        (rf"(?<=[-+]){_CURRENCY}\s?(?=[\d.])", ""),
        (_CURRENCY, " "),
    )
)

_TOKEN = re.compile(
    r"""
      (?P<root> (?: \\sqrt | √ ) \s* (?: \[ [^]]* \] )? \s* (?: \{ [^{}]* \} | [\d.]+ )? )
    | (?P<name> (?<! [A-Za-z_] ) [A-Za-z_]++ \d [\w.]* )
    | (?P<exponent> \^ \s* \{? \s* [-+]? \d[\d.,/]* )
    | (?P<number>
        (?: (?<! [\w)\]}] ) [-+] )?
        (?: \d+ [ ] \d+ [ ]?/[ ]? \d+ | \d+ (?: (?: [.,:] | [ ]?/[ ]? ) \d+ )* | (?<! [\w.] ) \. \d+ )
        (?: [eE] [-+]? \d+ (?!\w) )?
        (?: \s* [×*x] \s* 10 (?= \s* (?: \^ | \*\* ) ) )?
        (?: \s* (?: \^ | \*\* ) \s* \{? \s* [-+]? \d+ \s* \}? )?
        (?: \s* \^ )?  # a power that cannot be read
      )
    """,
    re.VERBOSE,
)

_DECIMAL = r"(?: (?: \d{1,3} (?:,\d{2,3})* ,\d{3} | \d+ ) (?: \.\d+ )? | \.\d+ )"
_NUMBER = re.compile(
    rf"""
    (?P<sign> [-+] )?
    (?: (?: (?P<whole> \d+ ) [ ] )? (?P<top> \d+ ) [ ]? / [ ]? (?P<bottom> \d+ )
      | (?P<decimal> {_DECIMAL} )
        (?: [eE] (?P<ten> [-+]? \d+ ) )?
        (?P<times> \s* [×*x] \s* 10 )?
        (?: \s* (?: \^ | \*\* ) \s* (?P<brace> \{{ )? \s* (?P<power> [-+]? \d+ ) (?(brace) \s* \}} | ) )?
    )
    """,
    re.VERBOSE,
)

_WRITTEN_OUT = re.compile(r"[-+]?[\d,]+(?:\.0+)?")
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_REMARK = re.compile(r"\([^()\d]*\)\s*\Z")


def last_number(text: str) -> Fraction | None:
    """The number that an answer ends in, or None."""
    tokens = _tokens(text)
    return _value(tokens[-1]) if tokens else None


def only_number(text: str) -> Fraction | None:
    """The number of a text that holds exactly one, such as a target; None for any other text."""
    tokens = _tokens(text)
    return _value(tokens[0]) if len(tokens) == 1 else None


def last_integer(text: str) -> int | None:
    """The integer that an answer ends in, or None where the last number is none."""
    return _integer(_tokens(text)[-1:])


def allowed_integers(target: str) -> frozenset[int]:
    """The integers that a target allows; none where it is anything but integers with "or" between them."""
    found = [_integer(_tokens(part)) for part in _OR.split(_REMARK.sub("", target))]
    return frozenset(value for value in found if value is not None) if None not in found else frozenset()


def _integer(tokens: Sequence[str]) -> int | None:
    if len(tokens) != 1 or not _WRITTEN_OUT.fullmatch(tokens[0]):
        return None
    value = _value(tokens[0])
    return None if value is None else int(value)


def _tokens(text: str) -> list[str]:
    plain = _plain(unboxed(text))
    return [match.group() for match in _TOKEN.finditer(plain) if match.lastgroup in ("number", "root")]


def _plain(text: str) -> str:
    text = "".join(map(_spelled_fraction, text)).translate(_LOOKALIKES)
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return text.translate(_SUPERSCRIPTS)


def _spelled_fraction(char: str) -> str:
    if not unicodedata.decomposition(char).startswith("<fraction>"):
        return char
    return "⟨" + unicodedata.normalize("NFKC", char)


def _value(token: str) -> Fraction | None:
    match = _NUMBER.fullmatch(token)
    if match is None or len(token) > LONGEST:
        return None
    try:
        size = _fraction(match) if match["bottom"] else _decimal(match)
    except (ZeroDivisionError, OverflowError):
        return None
    return -size if match["sign"] == "-" else size


def _fraction(match: re.Match[str]) -> Fraction:
    return int(match["whole"] or 0) + Fraction(int(match["top"]), int(match["bottom"]))


def _decimal(match: re.Match[str]) -> Fraction:
    power = int(match["power"]) if match["power"] else 1
    ten = int(match["ten"] or 0)
    if max(abs(power), abs(ten)) > _HIGHEST_POWER:
        raise OverflowError
    base = Fraction(Decimal(match["decimal"].replace(",", ""))) * Fraction(10) ** ten
    return base * Fraction(10) ** power if match["times"] else base**power
