"""Default: the question only; nothing is shown and nothing is learnt.

With a generator that has the scaffold of the notes around the question (`scaffold=True`), this is the empty cheatsheet
of Dynamic Cheatsheet (DC-∅, arXiv 2504.07952, section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Learned, LearnedBatch, Recalled
from cheatsheet.roles.role import Attempt
from modes.reflective import NO_ANSWER

LEARNS_NOTHING = "The default mode learns nothing."


@dataclass(frozen=True, slots=True)
class Default:
    """No memory: what every other mode is compared with."""

    name: str = "default"

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        return Recalled()

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        return self.learn_batch([attempt], memory).single()

    def learn_batch(self, attempts: Sequence[Attempt], memory: MemoryView) -> LearnedBatch:
        said = tuple(LEARNS_NOTHING if attempt.answer else NO_ANSWER for attempt in attempts)
        return LearnedBatch(remember=(False,) * len(attempts), skipped=said)
