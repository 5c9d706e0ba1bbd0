r"""Judging balanced equations: `1 ? 2 ? 3 = 6` with each `?` replaced by +, -, * or /, so that it holds.

Any right equation is right. It has the numbers of the question in their order and its right-hand side; parentheses that
change nothing are let pass, and so are several equations, each on its line, when all of them are right. `×`, `÷` and
`−` are understood; what stands in a `\boxed{…}` is the answer where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging.arithmetic import ExpressionError, Verdict, read, tidy
from cheatsheet.evaluation.judging.text import unboxed

_QUESTION: Final = re.compile(r"([0-9]{1,9}(?:\s*\?\s*[0-9]{1,9})+)\s*=\s*(-?[0-9]{1,40})")
_NO_PARENTHESES: Final = str.maketrans("()", "  ")
_WHOLE: Final = re.compile(r"([-+]?)\s*([0-9]+)")


class Question(NamedTuple):
    """The numbers on the left, in order, and the number on the right."""

    numbers: tuple[int, ...]
    right: int

    def __str__(self) -> str:
        return f"{' ? '.join(str(number) for number in self.numbers)} = {self.right}"


def question_of(text: str) -> Question:
    """The parts of an `input`.

    Raises:
        TaskError: it is not of the form `1 ? 2 ? 3 = 6`.
    """
    match = _QUESTION.fullmatch(text.strip())
    if match is None:
        raise TaskError(f"{text!r} is no equation to balance. Write it like '1 ? 2 ? 3 = 6'.")
    return Question(tuple(int(number) for number in match[1].split("?")), int(match[2]))


def judge(question: str, answer: str) -> Verdict:
    """Whether `answer` is a right equation for `question`.

    Any text may be given as answer; what cannot be read is wrong, with its reason.

    Raises:
        TaskError: `question` is not of the form `1 ? 2 ? 3 = 6`.
    """
    parsed = question_of(question)
    try:
        lines = [line for line in tidy(unboxed(answer)).splitlines() if line.strip()] or [""]
        verdicts = [_verdict(parsed, line) for line in lines]
    except ExpressionError as error:
        return Verdict(False, str(error))
    return next((verdict for verdict in verdicts if not verdict.right), Verdict(True, ""))


def score(answer: str, target: str, row: Mapping[str, Any]) -> bool:
    """Whether `judge` finds `answer` right for `row["input"]`; `target` is one of many."""
    return judge(row["input"], answer).right


def _verdict(question: Question, equation: str) -> Verdict:
    left, sign, right = equation.partition("=")
    if not sign:
        return Verdict(False, "There is no '='; the whole equation is asked for.")
    expression = read(left)
    if read(left.translate(_NO_PARENTHESES)).value != expression.value:
        return Verdict(False, "Parentheses that change the value are not allowed; only operators are filled in.")
    if expression.numbers != question.numbers:
        return Verdict(False, f"The numbers must be those of {question}, in that order.")
    if _whole(right) != question.right:
        return Verdict(False, f"The right-hand side must stay {question.right}; it is {right.strip()!r}.")
    if expression.value != question.right:
        return Verdict(False, f"The left-hand side is {expression.value}, not {question.right}.")
    return Verdict(True, "")


def _whole(text: str) -> int | None:
    match = _WHOLE.fullmatch(text.strip())
    return int(match[1] + match[2]) if match else None
