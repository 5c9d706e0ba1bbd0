"""Questions that two arms answered in the same runs, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cheatsheet.evaluation.runs.rows import Row

BASELINE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A question that is not compared, because a call did not come back.

    Attributes:
        run: the place of its run among those compared, from 0.
        question: its id.
        arm: the name of the arm whose call failed.
        error: how.
    """

    run: int
    question: str
    arm: str
    error: str


class Pair(NamedTuple):
    """One question of one run under two arms."""

    run: int
    arm: Row
    baseline: Row

    @property
    def gain(self) -> int:
        """1 where the arm alone is right, -1 where the baseline alone is, else 0."""
        return int(self.arm.correct) - int(self.baseline.correct)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The pairs of two arms, and what could not be paired; see `Comparison`."""

    pairs: tuple[Pair, ...]
    failures: tuple[Failure, ...]
    cheaper: int
    unpaired: int


def pair_up(
    arm: Sequence[Sequence[Row]], baseline: Sequence[Sequence[Row]], *, names: tuple[str, str] = ("arm", BASELINE)
) -> Pairing:
    """The questions that both arms answered, run by run, and what could not be paired; see `compare_runs`."""
    met = [pair for run, rows in enumerate(zip(arm, baseline, strict=True)) for pair in _met(run, *rows)]
    failures = tuple(failure for pair in met for failure in _failures(pair, names))
    answered = [pair for pair in met if not (pair.arm.error or pair.baseline.error)]
    pairs = tuple(pair for pair in answered if not (pair.arm.mode or pair.baseline.mode))
    rows = sum(map(len, arm)) + sum(map(len, baseline))
    return Pairing(pairs, failures, cheaper=len(answered) - len(pairs), unpaired=rows - 2 * len(met))


def _met(run: int, arm: Sequence[Row], baseline: Sequence[Row]) -> Iterator[Pair]:
    others = {row.id: row for row in baseline}
    return (Pair(run, row, others[row.id]) for row in arm if row.id in others)


def _failures(pair: Pair, names: tuple[str, str]) -> Iterator[Failure]:
    for name, row in zip(names, (pair.arm, pair.baseline), strict=True):
        if row.error:
            yield Failure(run=pair.run, question=row.id, arm=name, error=row.error)


def extra_per_point(pairs: Sequence[Pair], measured: Callable[[Row], float | None]) -> float | None:
    """What one pass takes more than the baseline's, per percentage point gained over it; None as in `Comparison`."""
    points = 100 * sum(pair.gain for pair in pairs) / len(pairs) if pairs else 0.0
    more = extra(pairs, measured)
    return more / points if more is not None and points > 0 else None


def extra(pairs: Sequence[Pair], measured: Callable[[Row], float | None]) -> float | None:
    """What the arms took more than the baselines, a run; None where it is not known of a pair."""
    taken = [(measured(pair.arm), measured(pair.baseline)) for pair in pairs]
    known = [(arm, baseline) for arm, baseline in taken if arm is not None and baseline is not None]
    if not pairs or len(known) < len(pairs):
        return None
    return sum(arm - baseline for arm, baseline in known) / len({pair.run for pair in pairs})
