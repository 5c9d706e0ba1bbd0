"""Retrieval: what is most similar to the question (Dynamic_Retrieval in Dynamic Cheatsheet, arXiv 2504.07952)."""

from __future__ import annotations

from dataclasses import dataclass

from cheatsheet.context.render import bullets_section, experience_sections
from cheatsheet.memory.bullet import RESTATEMENT, Bullet
from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Learned, Recalled
from cheatsheet.roles.role import Attempt, Curator, Reflector
from modes.reflective import reflect_and_curate


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Shows the top-k bullets and the top-k experiences, the most similar last.

    A bullet that only restates experiences of this memory is left out: they are found by themselves, and it would cost
    tokens without saying more.

    Attributes:
        top_k: how many of each.
        min_score: the lowest cosine to the question.
    """

    reflector: Reflector
    curator: Curator
    top_k: int
    min_score: float
    name: str = "retrieval"

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        experiences = memory.nearest_experiences(query.text, self.top_k, min_score=self.min_score)[::-1]
        found = memory.nearest_bullets(query.text, self.top_k, min_score=self.min_score)[::-1]
        bullets = [hit for hit in found if not _restates_experiences(hit.value, memory)]
        return Recalled(
            sections=(
                bullets_section([hit.value for hit in bullets], shorten="drop-first"),
                *experience_sections([hit.value for hit in experiences]),
            ),
            bullets=tuple(bullets),
            experiences=tuple(experiences),
        )

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        return reflect_and_curate(attempt, memory, self.reflector, self.curator, remember=True)


def _restates_experiences(bullet: Bullet, memory: MemoryView) -> bool:
    kept = (memory.experience(source) is not None for source in bullet.sources)
    return RESTATEMENT in bullet.tags and bool(bullet.sources) and all(kept)
