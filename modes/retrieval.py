"""Retrieval: what is most similar to the question (Dynamic_Retrieval in Dynamic Cheatsheet, arXiv 2504.07952).

With a synthesiser, a model first writes one cheatsheet for the question out of what was found (DC-RS, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cheatsheet.context.render import MEMORY_PRIORITY, bullets_section, experience_sections
from cheatsheet.context.section import Section
from cheatsheet.errors import ModelError
from cheatsheet.memory.bullet import RESTATEMENT, Bullet
from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView, Scored
from cheatsheet.mode import Learned, LearnedBatch, Recalled
from cheatsheet.roles.role import Attempt
from modes.reflective import Learning

if TYPE_CHECKING:
    from cheatsheet.roles.synthesiser import Synthesiser


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Shows the top-k bullets and the top-k experiences, those that fit best last.

    A bullet that only restates experiences of this memory is left out: they are found by themselves, and it would cost
    tokens without saying more.

    Attributes:
        top_k: how many of each.
        min_score: the lowest cosine to the question.
        synthesiser: writes, out of what was found, the only notes that are shown; None shows what was found.
    """

    learning: Learning
    top_k: int
    min_score: float
    synthesiser: Synthesiser | None = None
    name: str = "retrieval"

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        found = self._found(query, memory)
        return found if self.synthesiser is None else _synthesised(self.synthesiser, query, found, memory)

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        return self.learning.learn(attempt, memory)

    def learn_batch(self, attempts: Sequence[Attempt], memory: MemoryView) -> LearnedBatch:
        return self.learning.learn_batch(attempts, memory)

    def _found(self, query: Query, memory: MemoryView) -> Recalled:
        experiences = memory.relevant_experiences(query.text, self.top_k, min_score=self.min_score)[::-1]
        relevant = memory.relevant_bullets(query.text, self.top_k, min_score=self.min_score)[::-1]
        bullets = [hit for hit in relevant if not restates_experiences(hit.value, memory)]
        return Recalled(
            sections=(
                bullets_section([hit.value for hit in bullets], shorten="drop-first"),
                *experience_sections([hit.value for hit in experiences]),
            ),
            bullets=tuple(bullets),
            experiences=tuple(experiences),
            searched=True,
        )


def _synthesised(synthesiser: Synthesiser, query: Query, found: Recalled, memory: MemoryView) -> Recalled:
    """What the synthesiser makes of what was found; what was found where it makes nothing."""
    try:
        synthesis = synthesiser.synthesise(query, found.experiences, found.bullets, memory)
    except ModelError as error:
        return replace(found, notes=(f"Nothing was synthesised, because the model failed: {error}",))
    if not synthesis.text:
        return replace(found, usage=synthesis.usage, notes=synthesis.notes)
    section = Section(name="synthesis", priority=MEMORY_PRIORITY, text=synthesis.text, ids=synthesis.ids, data=True)
    scores = {hit.value.id: hit.score for hit in found.bullets}
    named = [bullet for id in synthesis.ids if (bullet := memory.bullet(id)) is not None]
    return replace(
        found,
        sections=(section,),
        bullets=tuple(Scored(bullet, scores.get(bullet.id, 0.0)) for bullet in named),
        experiences=(),
        operations=synthesis.operations,
        usage=synthesis.usage,
        notes=synthesis.notes,
    )


def restates_experiences(bullet: Bullet, memory: MemoryView) -> bool:
    """Whether a bullet says no more than the experiences that it was learnt from, and these are still served."""
    kept = (memory.experience(source) is not None for source in bullet.sources)
    return RESTATEMENT in bullet.tags and bool(bullet.sources) and all(kept)
