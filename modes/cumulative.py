"""Cumulative: one growing cheatsheet, its best bullets first.

Dynamic Cheatsheet's cumulative variant (arXiv 2504.07952, section 3), learnt by ACE's small operations
(arXiv 2510.04618, section 3) instead of being rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass

from cheatsheet.context.render import bullets_section
from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView, Scored
from cheatsheet.mode import Learned, Recalled
from cheatsheet.roles.role import Attempt, Curator, Reflector
from modes.reflective import reflect_and_curate


@dataclass(frozen=True, slots=True)
class Cumulative:
    """Shows the bullets of the whole memory by utility; keeps no experiences.

    Attributes:
        limit: the most bullets that can fit any budget in use; worse ones are not even read.
    """

    reflector: Reflector
    curator: Curator
    limit: int
    name: str = "cumulative"

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        bullets = memory.bullets(order="utility", limit=self.limit)
        return Recalled(
            sections=(bullets_section(bullets, shorten="drop-last"),),
            bullets=tuple(Scored(bullet, 0.0) for bullet in bullets),
        )

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        return reflect_and_curate(attempt, memory, self.reflector, self.curator, remember=False)
