"""A part of a whole: what the figures of the sweeps are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from cheatsheet.evaluation.metrics import wilson
from cheatsheet.evaluation.reports.figures import UNKNOWN, percent, span


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many.

    Attributes:
        part: from 0 to `whole`.
    """

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """From 0 to 1; None of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval; None of nothing."""
        return _interval(self.part, self.whole) if self.whole else None

    def __str__(self) -> str:
        """As in `12/13`."""
        return f"{self.part}/{self.whole}" if self.whole else UNKNOWN

    def told(self) -> str:
        """As in `92.3 % (66.7–98.6)`."""
        interval = self.interval
        return f"{percent(self.value)} ({span(*interval)})" if interval else UNKNOWN

    def as_dict(self) -> dict[str, object]:
        """All of it as plain values, for JSON."""
        return {"part": self.part, "whole": self.whole, "share": self.value, "interval": self.interval}


@lru_cache(maxsize=4096)  # from one threshold to the next most shares stay what they were
def _interval(part: int, whole: int) -> tuple[float, float]:
    return wilson(part, whole)
