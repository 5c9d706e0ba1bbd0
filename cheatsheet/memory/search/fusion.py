"""One ranking out of several: reciprocal rank fusion.

Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods, SIGIR
2009.
Scores of different searches cannot be compared, ranks can: something at rank r of a list gets 1 / (60 + r) for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

K: Final = 60
"""As in the paper, where it was found once and held for all collections."""


def fused(rankings: Iterable[Sequence[int]]) -> list[int]:
    """The numbers in all rankings, the best first, ties by the lowest number.

    Args:
        rankings: each the best first, and each number in it once.
    """
    score: dict[int, Fraction] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking, start=1):
            # Exact, because a sum of floats depends on the order of the rankings, and so would ties.
            score[number] = score.get(number, Fraction(0)) + Fraction(1, K + rank)
    return sorted(score, key=lambda number: (-score[number], number))
