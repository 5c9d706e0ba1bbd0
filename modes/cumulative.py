"""Cumulative: one growing cheatsheet, its best bullets first.

Dynamic Cheatsheet's cumulative variant (arXiv 2504.07952, section 3). How it learns is the curator's matter: by ACE's
small operations (arXiv 2510.04618, section 3), or by writing the whole cheatsheet anew, as the paper does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cheatsheet.context.render import bullets_section
from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView, Scored
from cheatsheet.mode import Learned, LearnedBatch, Recalled
from cheatsheet.roles.role import Attempt
from modes.reflective import Learning


@dataclass(frozen=True, slots=True)
class Cumulative:
    """Shows the bullets of the whole memory by utility.

    Attributes:
        limit: the most bullets that can fit any budget in use; worse ones are not even read.
    """

    learning: Learning
    limit: int
    name: str = "cumulative"

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        bullets = memory.bullets(order="utility", limit=self.limit)
        return Recalled(
            sections=(bullets_section(bullets, shorten="drop-last"),),
            bullets=tuple(Scored(bullet, 0.0) for bullet in bullets),
        )

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        return self.learning.learn(attempt, memory)

    def learn_batch(self, attempts: Sequence[Attempt], memory: MemoryView) -> LearnedBatch:
        return self.learning.learn_batch(attempts, memory)
