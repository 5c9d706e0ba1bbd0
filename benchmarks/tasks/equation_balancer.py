"""Equation balancer: put + - * / between given numbers so that the equation holds.

`1 ? 2 ? 3 = 6` is answered by `1 + 2 + 3 = 6`, or by any other right equation: the scorer is `equation`. The shape
(three to five numbers from 1 to 29, a whole number on the right, the usual precedence) is that of Math Equation
Balancer in Dynamic Cheatsheet (arXiv 2504.07952); the rows are our own.

    python -m benchmarks.tasks.equation_balancer --n 100 --seed 0 --out equation_balancer.jsonl
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Final

from benchmarks.tasks.rows import TaskRow, argument_parser, check_count, pick, run_generator
from cheatsheet.evaluation.judging.arithmetic import APPLY, OPERATORS
from cheatsheet.evaluation.judging.equation import Question, question_of

NUMBERS: Final = range(1, 30)
LENGTHS: Final = (3, 3, 4, 4, 5)
"""Two in five have three numbers, two four and one five: near the published 108, 94 and 48 of 250."""

INSTRUCTION: Final = (
    "Replace each ? by +, -, * or / so that the equation holds; * and / bind tighter than + and -. "
    "Keep the numbers and their order. Answer with the whole equation, e.g. 1 + 2 + 3 = 6."
)


def generate(n: int, seed: int) -> list[TaskRow]:
    """`n` different questions that have an answer, drawn with `seed`; a smaller `n` gives the beginning of the list.

    Numbers and operators are drawn evenly and kept where the result is whole, so that division is rare, as in the
    published task. `target` is one answer; `metadata["answers"]` says how many there are.

    Raises:
        TaskError: `n` is negative.
    """
    check_count(n)
    rng = random.Random(seed)
    targets: dict[Question, str] = {}
    while len(targets) < n:
        question, operators = _drawn(rng)
        targets.setdefault(question, _equation(question, operators))
    return [_row(number, question, target) for number, (question, target) in enumerate(targets.items(), 1)]


def solve(question: str) -> str | None:
    """A right equation for `question`, or None where there is none; tries all 4^(numbers-1) fillings.

    Raises:
        TaskError: `question` is not of the form `1 ? 2 ? 3 = 6`.
    """
    parsed = question_of(question)
    return next((_equation(parsed, operators) for operators in _fillings(parsed)), None)


def _value(numbers: Sequence[int], operators: Iterable[str]) -> Fraction:
    """The exact value by the usual precedence; the numbers are not zero where they are divided by."""
    total, term = Fraction(0), Fraction(numbers[0])
    for sign, number in zip(operators, numbers[1:], strict=True):
        if sign in "*/":
            term = APPLY[sign](term, Fraction(number))
        else:
            total, term = total + term, Fraction(number if sign == "+" else -number)
    return total + term


def _fillings(question: Question) -> Iterator[tuple[str, ...]]:
    for operators in product(OPERATORS, repeat=len(question.numbers) - 1):
        divisors = (number for sign, number in zip(operators, question.numbers[1:], strict=True) if sign == "/")
        if 0 not in divisors and _value(question.numbers, operators) == question.right:
            yield operators


def _drawn(rng: random.Random) -> tuple[Question, tuple[str, ...]]:
    """A filling with a whole result; the length is drawn once, since long ones are whole less often."""
    length = pick(LENGTHS, rng)
    while True:
        numbers = tuple(pick(NUMBERS, rng) for _ in range(length))
        operators = tuple(pick(OPERATORS, rng) for _ in numbers[1:])
        value = _value(numbers, operators)
        if value.denominator == 1:
            return Question(numbers, int(value)), operators


def _equation(question: Question, operators: Iterable[str]) -> str:
    signs = iter(operators)
    return re.sub(r"\?", lambda _: next(signs), str(question))


def _row(number: int, question: Question, target: str) -> TaskRow:
    answers = sum(1 for _ in _fillings(question))
    return TaskRow(
        id=f"balance-{number:04}",
        input=str(question),
        target=target,
        metadata={"numbers": len(question.numbers), "answers": answers},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a task file; see `--help`."""
    return run_generator(
        generate, argument_parser("benchmarks.tasks.equation_balancer", "Write balancer equations."), arguments
    )


if __name__ == "__main__":
    sys.exit(main())
