"""The learning curve: how right the answers are along the stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cheatsheet.evaluation.metrics.intervals import wilson
from cheatsheet.evaluation.metrics.pooled import around
from cheatsheet.evaluation.runs.rows import Row

BLOCKS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One block of the stream.

    Attributes:
        first, last: places in the stream, from 1, both included.
        n: rows in the block, of all runs. Failed calls are among them, and count as wrong.
        correct: how many of them were right.
        accuracy: correct / n, which is the mean over the runs where all got as far.
        low, high: its 95 % Wilson interval. Blocks of several orders hold mostly different questions, so that their
            rows are taken as independent.
        cumulative: accuracy from the beginning of the stream to the end of the block.
        cumulative_low, cumulative_high: its 95 % interval: Wilson's for one run; for several, the bootstrap that draws
            whole questions, since by and by all runs hold the same ones. None where all of them went alike.
    """

    first: int
    last: int
    n: int
    correct: int
    accuracy: float
    low: float
    high: float
    cumulative: float
    cumulative_low: float | None
    cumulative_high: float | None


def learning_curve(rows: Sequence[Row], *, blocks: int = BLOCKS) -> tuple[CurvePoint, ...]:
    """The curve of one run.

    Args:
        blocks: into so many parts, as equal as may be, the stream is divided; fewer where it has fewer questions.
    """
    return mean_curve([rows], blocks=blocks)


def mean_curve(runs: Sequence[Sequence[Row]], *, blocks: int = BLOCKS) -> tuple[CurvePoint, ...]:
    """The curve of several runs of the same questions in other orders, place by place.

    Args:
        runs: the rows of each.
        blocks: as in `learning_curve`.

    Raises:
        ValueError: fewer than one block.
    """
    if blocks < 1:
        raise ValueError(f"A curve of {blocks} blocks cannot be drawn; ask for 1 or more.")
    rows = [row for run in runs for row in run]
    length = max((row.position + 1 for row in rows), default=0)
    ends = _ends(length, min(blocks, length))
    return tuple(
        _point(rows, first=first, last=last, runs=len(runs))
        for first, last in zip([0, *ends], ends, strict=False)
        if any(first <= row.position < last for row in rows)
    )


def _ends(length: int, blocks: int) -> list[int]:
    """The place after each block."""
    return [length * block // blocks for block in range(1, blocks + 1)]


def _point(rows: Sequence[Row], *, first: int, last: int, runs: int) -> CurvePoint:
    block = [row for row in rows if first <= row.position < last]
    so_far = [row for row in rows if row.position < last]
    correct, all_correct = sum(row.correct for row in block), sum(row.correct for row in so_far)
    low, high = wilson(correct, len(block))
    around_all = wilson(all_correct, len(so_far)) if runs == 1 else around(so_far) or (None, None)
    return CurvePoint(
        first=first + 1,
        last=last,
        n=len(block),
        correct=correct,
        accuracy=correct / len(block),
        low=low,
        high=high,
        cumulative=all_correct / len(so_far),
        cumulative_low=around_all[0],
        cumulative_high=around_all[1],
    )
