"""What `benchmarks.perf.peers` found, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.perf import figures
from benchmarks.perf.costs import Cost, Found


def as_text(found: Found) -> str:
    """Two tables, and below them what must be known to read them."""
    return "\n\n".join((costs_table(found), ours_table(found), "\n".join(_sentences(found))))


def costs_table(found: Found) -> str:
    """A side a line: milliseconds of a step at each size, how they grow, and how many times ours that is."""
    most = max(found.sizes)
    titles = ("ms for one step, median", *(f"{size:,}" for size in found.sizes), "grows as", f"times ours at {most:,}")
    rows = [
        (side, *(_ms(found.at(side, size)) for size in found.sizes), _growth(found, side), _times(found.at(side, most)))
        for side in found.sides
    ]
    blank = ("",) * (len(titles) - 1)
    return figures.table(titles, [*rows, *((missing, *blank) for missing in found.missing)])


def ours_table(found: Found) -> str:
    """The parts of our step."""
    parts = found.ours(found.sizes[0]).parts
    rows = [(name, *(figures.number(found.ours(size).parts[name]) for size in found.sizes)) for name in parts]
    return figures.table(("of our step, ms", *(f"{size:,}" for size in found.sizes)), rows)


def _sentences(found: Found) -> Iterator[str]:
    yield found.headline()
    yield from dict.fromkeys(f"{cost.side}: {cost.what}." for cost in found.costs)
    yield found.texts
    yield f"Embedder: {found.embedder}. Rounds: {found.costs[0].ms.n}."
    if any(cost.estimated for cost in found.costs):
        yield "≈: measured in part, and reckoned from that."


def _ms(cost: Cost | None) -> str:
    return "–" if cost is None else f"{'≈ ' if cost.estimated else ''}{figures.number(cost.ms.p50)}"


def _growth(found: Found, side: str) -> str:
    power = found.growth[side]
    return "–" if power is None else f"n^{power:.2f}"


def _times(cost: Cost | None) -> str:
    return "–" if cost is None or cost.times_ours is None else str(cost.times_ours)
