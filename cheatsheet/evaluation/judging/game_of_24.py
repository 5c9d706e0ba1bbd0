r"""Judging Games of 24: an expression of value 24 from the numbers of a question, each used once.

The answer is read by the grammar of `arithmetic` and computed exactly. `×`, `÷`, `−` and a closing `= 24` are
understood; what stands in a `\boxed{…}` is the answer where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging.arithmetic import ExpressionError, Verdict, read, tidy
from cheatsheet.evaluation.judging.text import unboxed

GOAL: Final = 24


def judge(numbers: Sequence[int], answer: str) -> Verdict:
    """Whether `answer` makes 24 from `numbers`, each used once.

    Any text may be given; what cannot be read is wrong, with its reason.
    """
    try:
        left, sign, right = tidy(unboxed(answer)).partition("=")
        expression = read(left)
    except ExpressionError as error:
        return Verdict(False, str(error))
    if sign and right.strip() != str(GOAL):
        return Verdict(False, f"After '=' stands {right.strip()!r}, not {GOAL}.")
    if sorted(expression.numbers) != sorted(numbers):
        return Verdict(False, f"Each of {spaced(numbers)} must be used once; it uses {spaced(expression.numbers)}.")
    if expression.value != GOAL:
        return Verdict(False, f"Its value is {expression.value}, not {GOAL}.")
    return Verdict(True, "")


def score(answer: str, target: str, row: Mapping[str, Any]) -> bool:
    """Whether `judge` finds `answer` right for the numbers in `row["input"]`; `target` is one of many."""
    return judge(numbers_of(row["input"]), answer).right


def numbers_of(question: str) -> tuple[int, ...]:
    """The numbers of an `input`, e.g. `"4 7 8 8"`.

    Raises:
        TaskError: it is not whole numbers separated by spaces.
    """
    words = question.split()
    if not words or not all(re.fullmatch(r"[0-9]{1,9}", word) for word in words):
        raise TaskError(f"{question!r} is no Game of 24. Write whole numbers separated by spaces, e.g. '4 7 8 8'.")
    return tuple(int(word) for word in words)


def spaced(numbers: Iterable[int]) -> str:
    """The numbers as an `input` has them."""
    return " ".join(str(number) for number in numbers)
