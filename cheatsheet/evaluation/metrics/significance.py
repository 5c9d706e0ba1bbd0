"""Tests of a difference, and p values that know of each other. SciPy does the work where it can."""

from __future__ import annotations

from collections.abc import Sequence

_SEED = 0
_FLIPS = 9_999


def mcnemar(gains: Sequence[int]) -> float:
    """The exact two-sided p of as many 1 and -1 among the gains; 0 says nothing and is left out."""
    from scipy.stats import binomtest

    better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    return float(binomtest(better, better + worse).pvalue) if better + worse else 1.0


def sign_flip(gains: Sequence[int]) -> float:
    """The two-sided p of the sum of the questions' gains, when the sign of each is as likely as its opposite.

    Exact for up to 13 questions that differ; else by 9,999 seeded draws, so that it is never below 0.0001.
    """
    import numpy as np
    from scipy.stats import permutation_test

    differing = np.array([gain for gain in gains if gain])
    if differing.size < 2:  # either sign is as far from 0
        return 1.0
    found = permutation_test(
        (differing,),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=_FLIPS,
        rng=np.random.default_rng(_SEED),
    )
    return float(found.pvalue)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p values of one family, corrected so that a false find among all of them is no likelier than in one test.

    Holm (1979): the k-th smallest of m is multiplied by m - k + 1, and none is smaller than one before it. SciPy has
    corrections of the false discovery rate only, which promises less.
    """
    corrected = list(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = highest
    return tuple(corrected)
