"""Default: the question only; nothing is shown and nothing is learnt."""

from __future__ import annotations

from dataclasses import dataclass

from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Learned, Recalled
from cheatsheet.roles.role import Attempt


@dataclass(frozen=True, slots=True)
class Default:
    """No memory: what every other mode is compared with."""

    name: str = "default"

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        return Recalled()

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        if not attempt.answer:
            return Learned(skipped=("There is no answer to learn from.",))
        return Learned(skipped=("The default mode learns nothing.",))
