"""Choosing the items or chat turns of a section that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from cheatsheet.context.section import Section

# Each round fills what the estimates of the round before have left; a third one hardly ever finds anything.
_ROUNDS: Final = 3
# After so many parts in a row that do not fit, the room counts as used: ten thousand small misses would cost seconds.
_MISSES: Final = 64


def fit_parts(
    whole: Section, *, budget: int, measure: Callable[[Section], int], cost: Callable[[int], int], joint: int
) -> Section | None:
    """The section with as many of its parts as fit, each whole, in their order; None when none fits.

    Parts are tried from the more important end on (the back for `drop-first`). One that does not fit is passed over
    and the smaller ones behind it are tried.

    Args:
        measure: tokens of the context with this section in it. The result was measured in full.
        cost: about how many tokens a part adds, by its number, with the joint before it.
        joint: tokens of a joint, which the first part below no heading does not need.
    """
    numbers = range(len(whole.items or whole.turns))
    order = numbers[::-1] if whole.shorten == "drop-first" else numbers

    def excess(parts: Sequence[int]) -> int:
        return measure(_showing(whole, parts)) - budget

    kept: list[int] = []
    refused: set[int] = set()
    for _ in range(_ROUNDS):
        open_parts = (part for part in order if part not in refused and part not in kept)
        spared = 0 if kept or whole.text.strip() else joint
        tried = _affordable(open_parts, cost, room=spared - excess(kept))
        fitting = _within(kept, tried, excess, cost)
        refused.update(tried[len(fitting) - len(kept) :])
        kept = fitting
        if not tried:
            break
    return _showing(whole, kept) if kept else None


def _showing(whole: Section, parts: Sequence[int]) -> Section:
    """The section with these parts; its heading stays, so that it is measured also where no part is kept yet."""
    numbers = sorted(parts)
    return replace(
        whole,
        items=tuple(whole.items[number] for number in numbers) if whole.items else (),
        turns=tuple(whole.turns[number] for number in numbers) if whole.turns else (),
    )


def _affordable(parts: Iterable[int], cost: Callable[[int], int], *, room: int) -> list[int]:
    """Parts whose costs fit into the room, tried in the given order."""
    chosen: list[int] = []
    misses = 0
    for part in parts:
        if cost(part) <= room:
            chosen.append(part)
            room -= cost(part)
            misses = 0
        else:
            misses += 1
        if misses == _MISSES:
            break
    return chosen


def _within(
    kept: list[int], tried: list[int], excess: Callable[[Sequence[int]], int], cost: Callable[[int], int]
) -> list[int]:
    """What is kept, and as many of the first parts tried as are measured to fit beside it."""
    while tried and (over := excess([*kept, *tried])) > 0:
        freed, end = 0, len(tried)
        while freed < over and end > len(tried) // 2:  # no more than half at once: costs are estimates
            end -= 1
            freed += max(1, cost(tried[end]))
        tried = tried[:end]
    return [*kept, *tried]
