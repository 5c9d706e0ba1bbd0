"""What was found of `similarity_threshold`, as tables that people read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.calibration.advice import Advice, advise_showing, default_top_k
from benchmarks.calibration.grouping import grouped
from benchmarks.calibration.showing import TOP_K, Asked, Shown, count
from cheatsheet.evaluation.reports.figures import rounded
from cheatsheet.evaluation.table import Table

PRINTED: Final = (0.0, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50, 0.60)


def showing_tables(asked: Sequence[Asked]) -> Iterator[tuple[str, Table]]:
    """Each table with its title."""
    advice, groups = advise_showing(asked), grouped(asked, lambda each: each.group)
    for group, some in groups.items():
        yield f"What is shown with top_k = {default_top_k()}: {group}", _shown(some, advice.among(PRINTED))
    for at in advice.compared:
        yield f"Questions that are shown an answer at {at:.2f}, by top_k", _hits(groups, at)
    yield "What this says of similarity_threshold", _summary(groups, advice)


def _shown(some: Sequence[Asked], thresholds: Sequence[float]) -> Table:
    counts = {at: count(some, top_k=default_top_k(), threshold=at) for at in thresholds}
    rows = [
        (f"{at:.2f}", shown.hits.told(), rounded(shown.precision.value), rounded(shown.recall.value), *_amounts(shown))
        for at, shown in counts.items()
    ]
    titles = ("threshold", "shown an answer (95 %)", "precision", "recall", "texts shown", "shown in vain")
    able, vain = counts[thresholds[0]].hits.whole, sum(int((each.answers == 0).sum()) for each in some)
    return Table((titles, *rows), footnotes=(f"Questions: {able} that the memory can answer, {vain} that it cannot.",))


def _amounts(shown: Shown) -> tuple[str, str]:
    """Texts for each question, of those that can be answered and of those that cannot."""
    return rounded(shown.shown), rounded(shown.in_vain)


def _hits(groups: dict[str, list[Asked]], threshold: float) -> Table:
    rows = [
        (group, *(str(count(some, top_k=top_k, threshold=threshold).hits) for top_k in TOP_K))
        for group, some in groups.items()
    ]
    return Table((("questions", *map(str, TOP_K)), *rows))


def _summary(groups: dict[str, list[Asked]], advice: Advice) -> Table:
    what = ("shown an answer", "texts", "in vain")
    titles = ("questions", *(f"{title} at {at:.2f}" for at in advice.compared for title in what))
    rows = [(group, *_cells(some, advice.compared)) for group, some in groups.items()]
    return Table((titles, *rows), footnotes=advice.footnotes)


def _cells(some: Sequence[Asked], thresholds: Sequence[float]) -> Iterator[str]:
    for at in thresholds:
        shown = count(some, top_k=default_top_k(), threshold=at)
        yield from (str(shown.hits), *_amounts(shown))
