"""What was found of `grow_threshold`, as tables that people read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, get_args

import numpy as np

from benchmarks.calibration.advice import Advice, advise_growing
from benchmarks.calibration.grouping import grouped
from benchmarks.calibration.labelled import SAYS_SAME, Label
from benchmarks.calibration.merging import BETA, Judged, Rule, count
from benchmarks.calibration.share import Share
from cheatsheet.evaluation.reports.figures import rounded
from cheatsheet.evaluation.table import Table

PRINTED: Final = (0.50, 0.55, 0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90, 0.92, 0.95, 0.97, 0.99)

_RULES: Final[dict[Rule, str]] = {"cosine": "by their cosine alone", "grow": "by grow, as the product decides"}


def merging_tables(judged: Sequence[Judged]) -> Iterator[tuple[str, Table]]:
    """Each table with its title."""
    advice = advise_growing(judged)
    yield "Cosines by label", _cosines(judged)
    yield f"What differs, and how many become one bullet at {advice.default:.2f}", _changes(judged, advice.default)
    for group, some in grouped(judged, lambda each: each.pair.group).items():
        for rule, told in _RULES.items():
            yield f"Pairs that become one bullet, {group}, {told}", _merges(some, rule, advice.among(PRINTED))
    yield "What this says of grow_threshold", _summary(judged, advice)


def _cosines(judged: Sequence[Judged]) -> Table:
    titles = ("pairs", "n", "least", "10 %", "median", "90 %", "most")
    rows = []
    for (group, label), some in grouped(judged, lambda each: (each.pair.group, each.pair.label)).items():
        points = np.quantile([each.cosine for each in some], (0, 0.1, 0.5, 0.9, 1))
        rows.append((f"{group}, {label}", f"{len(some):,}", *(rounded(float(point)) for point in points)))
    return Table((titles, *rows))


def _changes(judged: Sequence[Judged], threshold: float) -> Table:
    labelled = [each for each in judged if each.pair.is_ours]
    by_change = grouped(labelled, lambda each: (each.pair.group, each.pair.label, each.pair.change))
    titles = ("pairs", "n", "median cosine", "by cosine", "by grow")
    rows = []
    for (group, label, change), some in by_change.items():
        median = rounded(float(np.median([each.cosine for each in some])))
        merged = (str(sum(each.merged(threshold, rule) for each in some)) for rule in _RULES)
        rows.append((f"{group}, {label}: {change}", str(len(some)), median, *merged))
    return Table((titles, *rows), footnotes=tuple(_wrong(labelled)))


def _wrong(labelled: Sequence[Judged]) -> Iterator[str]:
    """Each by its name: what grow merges, at a threshold that is low enough, and should not."""
    wrong = [each for each in labelled if each.says_same and each.pair.label not in SAYS_SAME]
    yield f"Pairs that should stay two and become one where the threshold is no higher than this: {len(wrong)}."
    for each in sorted(wrong, key=lambda each: -each.cosine):
        yield f"- {each.cosine:.2f} {each.pair.id}: “{each.pair.first}” “{each.pair.second}”"


def _merges(some: Sequence[Judged], rule: Rule, thresholds: Sequence[float]) -> Table:
    counts = {at: count(some, rule=rule, threshold=at) for at in thresholds}
    labels = tuple(counts[thresholds[0]].merged)
    rows = [
        (
            f"{at:.2f}",
            *(str(merges.merged[label]) for label in labels),
            merges.precision.told(),
            merges.recall.told(),
            rounded(merges.f()),
            rounded(merges.f(BETA)),
        )
        for at, merges in counts.items()
    ]
    return Table((("threshold", *labels, "precision (95 %)", "recall (95 %)", "F1", f"F{BETA}"), *rows))


def _summary(judged: Sequence[Judged], advice: Advice) -> Table:
    labels: tuple[Label, ...] = get_args(Label)
    labelled = [each for each in judged if each.pair.is_ours]
    rows = []
    for at in advice.compared:
        merged = count(judged, rule="grow", threshold=at).merged
        ours = count(labelled, rule="grow", threshold=at)
        shares = (str(merged.get(label, Share(0, 0))) for label in labels)
        rows.append((f"{at:.2f}", *shares, ours.precision.told(), ours.recall.told(), rounded(ours.f(BETA))))
    titles = ("threshold", *labels, "precision, labelled", "recall, labelled", f"F{BETA}")
    return Table((titles, *rows), footnotes=advice.footnotes)
