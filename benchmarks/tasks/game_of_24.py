"""Game of 24: make 24 from four numbers, each used once, with + - * / and parentheses.

The numbers lie between 1 and 13, as on cards; 1,362 of the 1,820 hands have a solution. The scorer is
`game-of-24`: any expression of value 24 is right, computed exactly.

    python -m benchmarks.tasks.game_of_24 --n 100 --seed 0 --out game_of_24.jsonl
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, islice
from typing import Final, NamedTuple

from benchmarks.tasks.rows import TaskRow, argument_parser, check_count, run_generator, shuffled
from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging.game_of_24 import GOAL, spaced

CARDS: Final = range(1, 14)
HAND: Final = 4

INSTRUCTION: Final = (
    "Use each of the four numbers exactly once, with + - * / and parentheses, to make 24. "
    "Answer with the expression alone, e.g. (7 - 8 / 8) * 4."
)


class _Term(NamedTuple):
    value: Fraction
    text: str
    binding: int  # 1 a sum or difference, 2 a product or quotient, 3 a number


def generate(n: int, seed: int) -> list[TaskRow]:
    """`n` different hands that have a solution, in an order drawn with `seed`.

    A smaller `n` gives the beginning of the same list. `target` is one solution of many.

    Raises:
        TaskError: `n` is negative or larger than the number of such hands.
    """
    check_count(n)
    solved = list(islice(_solvable(random.Random(seed)), n))
    if len(solved) < n:
        raise TaskError(f"Only {len(solved)} hands have a solution; {n} were asked for. Ask for fewer.")
    return [_row(number, hand, solution) for number, (hand, solution) in enumerate(solved, 1)]


def solve(numbers: Sequence[int], goal: int = GOAL) -> str | None:
    """An expression of value `goal` that uses each number once, or None where there is none.

    Joins two terms into one, in all ways, until one is left: that covers all orders and all parentheses.
    The cost grows as n!·(n-1)!·6^n/2^n; for four numbers at most 3,888 last steps.
    """
    terms = tuple(_Term(Fraction(number), str(number), 3) for number in numbers)
    return next((term.text for term in _outcomes(terms) if term.value == goal), None)


def _solvable(rng: random.Random) -> Iterator[tuple[tuple[int, ...], str]]:
    for hand in shuffled(combinations_with_replacement(CARDS, HAND), rng):
        solution = solve(hand)
        if solution is not None:
            yield hand, solution


def _row(number: int, hand: Sequence[int], solution: str) -> TaskRow:
    return TaskRow(
        id=f"game24-{number:04}",
        input=spaced(hand),
        target=solution,
        metadata={"numbers": list(hand), "goal": GOAL},
    )


def _outcomes(terms: tuple[_Term, ...]) -> Iterator[_Term]:
    if len(terms) == 1:
        yield terms[0]
    for first, second in combinations(range(len(terms)), 2):
        others = tuple(term for place, term in enumerate(terms) if place not in (first, second))
        for joined in _joined(terms[first], terms[second]):
            yield from _outcomes((*others, joined))


def _joined(one: _Term, two: _Term) -> Iterator[_Term]:
    yield _Term(one.value + two.value, _text(one, "+", two, 1), 1)
    yield _Term(one.value * two.value, _text(one, "*", two, 2), 2)
    for left, right in ((one, two), (two, one)):
        yield _Term(left.value - right.value, _text(left, "-", right, 1), 1)
        if right.value != 0:
            yield _Term(left.value / right.value, _text(left, "/", right, 2), 2)


def _text(left: _Term, sign: str, right: _Term, binding: int) -> str:
    """The join as text, with no more parentheses than it needs."""
    tight = binding + (sign in "-/")  # a - (b - c) and a / (b / c) need theirs
    return f"{_closed(left, binding)} {sign} {_closed(right, tight)}"


def _closed(term: _Term, binding: int) -> str:
    return term.text if term.binding >= binding else f"({term.text})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a task file; see `--help`."""
    return run_generator(
        generate, argument_parser("benchmarks.tasks.game_of_24", "Write solvable Games of 24."), arguments
    )


if __name__ == "__main__":
    sys.exit(main())
