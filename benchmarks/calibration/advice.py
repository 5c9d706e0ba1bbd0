"""Which thresholds the sweeps speak for, each by a stated rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.calibration import merging, showing
from benchmarks.calibration.merging import BETA, Judged
from benchmarks.calibration.showing import Asked
from cheatsheet.settings import Settings

GROW_RULE = (
    "Of the thresholds at which grow merges no pair labelled opposite, that with the best F0.5 on the labelled pairs, "
    "the highest of equals. Precision counts for more than recall: a wrong merge loses a lesson, a missed one costs "
    "some tokens."
)
SHOW_RULE = (
    "The highest threshold at which every question, of whatever group, that top_k alone would show an answer is still "
    "shown one."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A setting, and what its sweep says of it.

    Attributes:
        default: as it is in `Settings`.
        found: by the rule; None where no threshold of the sweep keeps it.
    """

    setting: str
    default: float
    found: float | None
    rule: str

    @property
    def compared(self) -> list[float]:
        """The default and what was found, in order, each once."""
        return self.among(())

    def among(self, thresholds: Sequence[float]) -> list[float]:
        """The thresholds with the default and with what was found, in order, each once."""
        return sorted({*thresholds, self.default, *(() if self.found is None else (self.found,))})

    @property
    def footnotes(self) -> tuple[str, ...]:
        """What a table must say of it."""
        found = "no threshold keeps it" if self.found is None else f"{self.found:.2f}"
        return (f"Default {self.default:.2f}; by the rule: {found}.", f"The rule: {self.rule}")


def default_top_k() -> int:
    """The default of `top_k` in `Settings`."""
    return int(Settings.model_fields["top_k"].default)


def advise_growing(judged: Sequence[Judged]) -> Advice:
    """What the labelled pairs say of `grow_threshold`."""
    labelled = [each for each in judged if each.pair.is_ours]
    counts = {at: merging.count(labelled, rule="grow", threshold=at) for at in merging.THRESHOLDS}
    allowed = [at for at, merges in counts.items() if merges.precision.part and not merges.merged["opposite"].part]
    found = max(allowed, key=lambda at: (counts[at].f(BETA), at), default=None)
    return Advice(setting="grow_threshold", default=_default("grow_threshold"), found=found, rule=GROW_RULE)


def advise_showing(asked: Sequence[Asked]) -> Advice:
    """What all questions say of `similarity_threshold`, at the default of `top_k`."""
    kept = (at for at in reversed(showing.THRESHOLDS) if all(_keeps_hits(each, at) for each in asked))
    name = "similarity_threshold"
    return Advice(setting=name, default=_default(name), found=next(kept, None), rule=SHOW_RULE)


def _keeps_hits(asked: Asked, threshold: float) -> bool:
    """A threshold only takes away, so that as many questions with an answer are the same questions."""
    top_k = default_top_k()
    with_it, without = (showing.count([asked], top_k=top_k, threshold=at) for at in (threshold, showing.NO_THRESHOLD))
    return with_it.hits == without.hits


def _default(setting: str) -> float:
    return float(Settings.model_fields[setting].default)
