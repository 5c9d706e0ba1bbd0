"""What the guard is told, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cheatsheet.memory.operations import Operation

LEFT_OUT = "left out of a rewrite"
"""How the reason of a `Remove` begins that nobody asked for: a whole new cheatsheet does not hold the bullet."""

UNSAID = "removed without a reason"
"""The reason of a `Remove` that gives none."""

EARLIER_WORDING_OF = "earlier_wording_of"
PROPOSED_FOR = "proposed_for"
"""Metadata of archived drafts: the id of the bullet whose words they were, or were to become."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardPolicy:
    """What a proposal may do to the memory.

    Attributes:
        left_out: what becomes of bullets that a rewrite leaves out: `keep` leaves them active, `archive` archives them
            within the limits that follow.
        max_loss: the largest share of the active bullets that may be removed in one step; beyond it, none is.
        loss_allowance: so many bullets may always be removed in one step.
        max_erosion: the largest share of all bullets that rewrites may have left out over time, archived ones counted.
        min_kept: the smallest share of the words, and of the facts (numbers, names, code), of an old wording that a
            new one must hold; also of the fullest wording that the bullet ever had.
        small_change: losses of at most so many words and facts are a correction, where others came in their place.
        window: how many of the latest archived bullets are looked at for what happened over time.
    """

    left_out: Literal["keep", "archive"] = "keep"
    max_loss: float = 0.2
    loss_allowance: int = 1
    max_erosion: float = 0.3
    min_kept: float = 0.5
    small_change: int = 8
    window: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What the guard did not let through as it was proposed.

    Attributes:
        operations: as they were proposed.
        text: one sentence: what, why, and what became of it.
    """

    operations: tuple[Operation, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Guarded:
    """What may be applied, and what was refused."""

    operations: tuple[Operation, ...]
    refused: tuple[Refused, ...] = ()
