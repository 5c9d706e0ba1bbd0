"""Evict: of too many experiences, the least recently used are archived."""

from __future__ import annotations

from dataclasses import dataclass

from cheatsheet.memory.operations import Remove
from cheatsheet.memory.view import MemoryView


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictPolicy:
    """How many experiences are served.

    Attributes:
        max_experiences: the most active ones; None for no limit.
    """

    max_experiences: int | None = None


def evict(memory: MemoryView, policy: EvictPolicy) -> list[Remove]:
    """What is to be archived now: the least recently used beyond the limit, ties by the lowest number.

    An experience is used when it stands in the prompt of a turn that is learnt, and when it is learnt itself. Nothing
    is destroyed, and evicting twice is evicting once. Work grows with what is over the limit only.
    """
    if policy.max_experiences is None:
        return []
    excess = memory.count_experiences() - policy.max_experiences
    if excess <= 0:
        return []
    oldest = memory.experiences(order="least-recent", limit=excess)
    # In a file of the first schema a bullet may have an id of this form, and would be archived in its place.
    return [
        Remove(id=experience.id, reason="least recently used")
        for experience in oldest
        if memory.bullet(experience.id) is None
    ]
