"""Full history: all earlier questions and answers (FullHistoryAppending in Dynamic Cheatsheet, arXiv 2504.07952)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cheatsheet.context.render import experience_sections
from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView, Scored
from cheatsheet.mode import Learned, LearnedBatch, Recalled
from cheatsheet.roles.role import Attempt
from modes.reflective import remembered


@dataclass(frozen=True, slots=True)
class FullHistory:
    """Shows experiences oldest first; the oldest are dropped first when the budget is full.

    Attributes:
        limit: the most experiences that can fit any budget in use; older ones are not even read.
    """

    limit: int
    name: str = "full-history"

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        experiences = memory.experiences(limit=self.limit)
        return Recalled(
            sections=experience_sections(experiences),
            experiences=tuple(Scored(experience, 0.0) for experience in experiences),
        )

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        return self.learn_batch([attempt], memory).single()

    def learn_batch(self, attempts: Sequence[Attempt], memory: MemoryView) -> LearnedBatch:
        return remembered(attempts)
