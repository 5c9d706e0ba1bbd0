"""Which pairs become one bullet at which `grow_threshold`: by their cosine alone, and as `grow` decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from benchmarks.calibration.grouping import grouped
from benchmarks.calibration.labelled import SAYS_SAME, Label, Pair
from benchmarks.calibration.share import Share
from cheatsheet.memory.likeness.grow import grow
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.search.exact import exact_retriever
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store import DEFAULT_NAMESPACE
from cheatsheet.memory.store_view import StoreView
from cheatsheet.memory.view import MemoryView
from indexes.embedder import Embedder

Rule = Literal["cosine", "grow"]
"""`cosine`: every pair at or above the threshold is one; `grow`: what the product does with it."""

THRESHOLDS: Final = tuple(round(0.50 + step / 100, 2) for step in range(50))
"""0.50, 0.51, … 0.99."""

NO_THRESHOLD: Final = -1.0
BETA: Final = 0.5
"""Of F-beta: precision counts twice as much as recall. A wrong merge loses a lesson, a missed one costs some tokens."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair, with all that decides whether it becomes one bullet.

    Attributes:
        cosine: of the two vectors.
        says_same: whether `grow` makes them one where no cosine is too low.
    """

    pair: Pair
    cosine: float
    says_same: bool

    def merged(self, threshold: float, rule: Rule) -> bool:
        """Whether the pair becomes one bullet. Right for texts that are not equal: these are one at any threshold."""
        return self.cosine >= threshold and (self.says_same or rule == "cosine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Merges:
    """What becomes of pairs at one threshold.

    Attributes:
        merged: for each label, how many of its pairs became one bullet.
    """

    merged: dict[Label, Share]

    @property
    def precision(self) -> Share:
        """Of the merges, those that are right."""
        return Share(self._right, sum(share.part for share in self.merged.values()))

    @property
    def recall(self) -> Share:
        """Of the pairs that say the same, those that were merged."""
        return Share(self._right, sum(share.whole for label, share in self.merged.items() if label in SAYS_SAME))

    def f(self, beta: float = 1.0) -> float:
        """F-beta (van Rijsbergen 1979), from 0 to 1: the harmonic mean of both for 1, nearer to precision below 1."""
        precision, recall = self.precision.value or 0.0, self.recall.value or 0.0
        weighted = beta**2 * precision + recall
        return (1 + beta**2) * precision * recall / weighted if weighted else 0.0

    @property
    def _right(self) -> int:
        return sum(share.part for label, share in self.merged.items() if label in SAYS_SAME)

    def as_dict(self) -> dict[str, object]:
        """All of it as plain values, for JSON."""
        return {
            "merged": {label: share.as_dict() for label, share in self.merged.items()},
            "precision": self.precision.as_dict(),
            "recall": self.recall.as_dict(),
            "f1": self.f(),
            f"f{BETA}": self.f(BETA),
        }


def judge(pairs: Sequence[Pair], embedder: Embedder) -> list[Judged]:
    """Find the cosine of each pair, and let `grow` say whether its texts say the same.

    Args:
        embedder: asked for every text several times; one that remembers takes less time.
    """
    if not pairs:
        return []
    firsts, seconds = (embedder.embed([getattr(pair, side) for pair in pairs]) for side in ("first", "second"))
    cosines = [float(first @ second) for first, second in zip(firsts, seconds, strict=True)]
    store = SqliteStore(":memory:")
    try:
        retriever = exact_retriever(store, embedder, namespace=DEFAULT_NAMESPACE)
        empty = StoreView(store, retriever, namespace=DEFAULT_NAMESPACE)
        return [Judged(pair, at, becomes_one(pair, empty, embedder)) for pair, at in zip(pairs, cosines, strict=True)]
    finally:
        store.close()


def becomes_one(pair: Pair, memory: MemoryView, embedder: Embedder, *, threshold: float = NO_THRESHOLD) -> bool:
    """Whether `grow` makes one bullet of two that are proposed to an empty memory."""
    proposed = [Add(draft=Draft(content=text)) for text in (pair.first, pair.second)]
    return len(grow(proposed, memory, embedder, threshold=threshold).operations) == 1


def sweep(judged: Sequence[Judged]) -> list[dict[str, object]]:
    """Every group, rule and threshold, as plain values for JSON."""
    return [
        {"group": group, "rule": rule, "threshold": at} | count(some, rule=rule, threshold=at).as_dict()
        for group, some in grouped(judged, lambda each: each.pair.group).items()
        for rule in get_args(Rule)
        for at in THRESHOLDS
    ]


def count(judged: Sequence[Judged], *, rule: Rule, threshold: float) -> Merges:
    """How many pairs of each label become one bullet."""
    made = {
        label: [each.merged(threshold, rule) for each in some]
        for label, some in grouped(judged, lambda each: each.pair.label).items()
    }
    return Merges(merged={label: Share(sum(merged), len(merged)) for label, merged in made.items()})
