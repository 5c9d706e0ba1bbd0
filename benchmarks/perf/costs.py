"""What the steps of all sides cost at all sizes: the values that `benchmarks.perf.peers` finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from benchmarks.perf import figures
from benchmarks.perf.figures import Ratio, Times
from benchmarks.perf.rivals.ours import RECALL, Ours
from benchmarks.perf.rivals.reembedding import ReEmbedding
from benchmarks.perf.rivals.rival import Rival, Took

WANTED: Final = 100
"""So many times faster than a re-embedding pass `recall` is to be."""

WANTED_AT: Final = 10_000
"""With so many bullets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A step of one side at one size.

    Attributes:
        what: what a step is.
        ms: of a step, over the rounds.
        parts: median milliseconds of what a step is made of.
        estimated: whether a part was measured, and the whole reckoned from that.
        times_ours: how many times as long as our step it takes; None for ours.
        times_our_recall: how many times as long as our `recall`.
    """

    side: str
    what: str
    bullets: int
    ms: Times
    parts: Mapping[str, float]
    estimated: bool
    times_ours: Ratio | None
    times_our_recall: Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """All of it.

    Attributes:
        texts: what the bullets are, as a sentence.
        growth: of each side, the exponent of its cost's growth with the bullets; None with a single size.
        missing: a side that is not installed, or that failed at a size, each in a few words.
    """

    embedder: str
    texts: str
    costs: tuple[Cost, ...]
    growth: Mapping[str, float | None]
    missing: tuple[str, ...]

    @property
    def sizes(self) -> list[int]:
        return list(dict.fromkeys(cost.bullets for cost in self.costs))

    @property
    def sides(self) -> list[str]:
        return list(dict.fromkeys(cost.side for cost in self.costs))

    def at(self, side: str, bullets: int) -> Cost | None:
        """The cost of a side at a size; None where it failed."""
        return next((cost for cost in self.costs if (cost.side, cost.bullets) == (side, bullets)), None)

    def ours(self, bullets: int) -> Cost:
        """Our own cost at a size."""
        return next(cost for cost in self.costs if (cost.side, cost.bullets) == (Ours.name, bullets))

    def headline(self) -> str:
        """How much faster `recall` is than a pass: with `WANTED_AT` bullets, or else with the most there were."""
        passes = {cost.bullets: cost for cost in self.costs if cost.side == ReEmbedding.name}
        if not passes:
            return f"There is no {ReEmbedding.name} to compare with."
        one = passes.get(WANTED_AT, passes[max(passes)])
        wanted = f" At least {WANTED} is wanted." if one.bullets == WANTED_AT else ""
        return f"With {one.bullets:,} bullets, recall is {one.times_our_recall} times as fast as a {one.side}.{wanted}"


def middle(taken: Sequence[Took]) -> Took:
    """Several steps as one: the median of each number."""
    parts = {name: median(took.parts[name] for took in taken) for name in taken[0].parts}
    return Took(median(took.ms for took in taken), estimated=any(took.estimated for took in taken), parts=parts)


def costs_at(bullets: int, sides: Sequence[Rival], rounds: Mapping[str, Sequence[Took]]) -> list[Cost]:
    """The costs at one size, from what every side took in every round."""
    ours = rounds[Ours.name]
    return [_cost(bullets, side, rounds[side.name], ours) for side in sides]


def growth_of(costs: Sequence[Cost]) -> dict[str, float | None]:
    """The exponent of every side."""
    sides = dict.fromkeys(cost.side for cost in costs)
    own = {side: [cost for cost in costs if cost.side == side] for side in sides}
    return {side: figures.growth([c.bullets for c in each], [c.ms.p50 for c in each]) for side, each in own.items()}


def _cost(bullets: int, side: Rival, taken: Sequence[Took], ours: Sequence[Took]) -> Cost:
    ms, whole = [took.ms for took in taken], middle(taken)
    return Cost(
        side=side.name,
        what=side.what,
        bullets=bullets,
        ms=figures.summary(ms),
        parts={name: figures.rounded(value) for name, value in whole.parts.items()},
        estimated=whole.estimated,
        times_ours=None if side.name == Ours.name else figures.ratio(ms, [took.ms for took in ours]),
        times_our_recall=figures.ratio(ms, [took.parts[RECALL] for took in ours]),
    )
