r"""The rules by which the published runs were read and scored, written anew from what they do.

They reproduce Table 1 and are looser than they should be in some places, stricter in others: see `strict`.

Reading: the text of the reply's first `<answer>` block, or the whole reply where there is none.

- *AIME*: what is in a `\boxed{…}`, without `, ; : .` and quotes, is the target. So 3.5 passes as 35, and a target
  "1,234" can never be met.
- *Multiple choice*, without backquotes, parentheses and differences of case: the answer is the target's letter, perhaps
  with a full stop; or it ends in the letter as a word; or the text of the target's option stands anywhere in it.
- *Math Equation Balancer*: left of the first `=`, the digits without `+ - * /` and blanks between them are those of the
  target, and the value is the target's. So numbers may be cut in other places, and what stands on the right does not
  count. Other signs, such as × or parentheses, make it wrong.
- *Game of 24*: left of the first `=`, with x, × and ÷ as signs, the value is 24 and each number stands there once.

The published program computes with Python's `eval`; here `arithmetic` does, which knows no `**`, `//`, decimals or
signs before a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple

from cheatsheet.evaluation.judging import game_of_24
from cheatsheet.evaluation.judging.arithmetic import ExpressionError, read
from cheatsheet.evaluation.judging.choice import listed_options
from cheatsheet.evaluation.judging.text import unboxed

_FIRST: Final = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL)
_PUNCTUATION: Final = str.maketrans("", "", ',;:."')
_UNSEEN: Final = str.maketrans("", "", "`()")
_FILLED_IN: Final = str.maketrans("", "", "+-*/ ")
_SIGNS: Final = str.maketrans("x×÷", "**/")


class Judged(NamedTuple):
    """Whether an answer is right, and why, as the end of a sentence."""

    right: bool
    reason: str


Rule = Callable[[str, str, str], Judged]
"""Question, target and answer are judged."""


def first_answer(reply: str) -> str:
    """What the published program takes for the answer of a reply."""
    block = _FIRST.search(reply)
    return (block[1] if block else reply).strip()


def integer(question: str, target: str, answer: str) -> Judged:
    """AIME."""
    bare = " ".join(unboxed(answer).translate(_PUNCTUATION).split())
    if bare.lower() == target.lower():
        return Judged(True, "without , ; : . and quotes it is the target")
    return Judged(False, f"without , ; : . and quotes it is {shown(bare)}, not {shown(target)}")


def choice(question: str, target: str, answer: str) -> Judged:
    """Multiple choice, with the options listed in the question."""
    letter = target.translate(_UNSEEN).strip().lower()
    bare = answer.lower().strip().translate(_UNSEEN)
    text = listed_options(question).get(letter.upper(), "")
    if bare in (letter, f"{letter}."):
        return Judged(True, "it is the letter")
    if bare.endswith((f" {letter}", f" {letter}.")):
        return Judged(True, "it ends in the letter")
    if text and text.lower() in bare:
        return Judged(True, f"the option's text {shown(text)} stands in it")
    return Judged(
        False, f"it is not the letter {letter.upper()}, and without parentheses it has not the text {shown(text)} in it"
    )


def equation(question: str, target: str, answer: str) -> Judged:
    """Math Equation Balancer; the question does not count."""
    (left, _, _), (wanted, _, right) = answer.partition("="), target.partition("=")
    digits, wanted_digits = (re.sub(r"\s", "", side.translate(_FILLED_IN)) for side in (left, wanted))
    if digits != wanted_digits:
        return Judged(False, f"without + - * / its left side is {shown(digits)}, not {shown(wanted_digits)}")
    return _of_value(left, Fraction(right.strip()))


def game(question: str, target: str, answer: str) -> Judged:
    """Game of 24; the target does not count."""
    left = answer.partition("=")[0].translate(_SIGNS).strip()
    numbers = sorted(re.findall(r"\d+", left))
    if numbers != sorted(question.split()):
        return Judged(False, f"its numbers are {' '.join(numbers) or 'none'}")
    return _of_value(left, Fraction(game_of_24.GOAL))


def _of_value(expression: str, wanted: Fraction) -> Judged:
    try:
        value = read(expression).value
    except ExpressionError as error:
        return Judged(False, f"its left side cannot be computed ({str(error).rstrip('.')})")
    return Judged(value == wanted, f"its left side is {value}")


def shown(text: str, *, most: int = 60) -> str:
    """A text in quotes, cut to its beginning where it is long."""
    return repr(text if len(text) <= most else f"{text[: most - 1]}…")
