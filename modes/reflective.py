"""What the modes that learn have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cheatsheet.errors import ModelError
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Learned, LearnedBatch
from cheatsheet.roles.role import Attempt, Curation, Curator, Reflected, Reflection, Reflector
from cheatsheet.roles.rounds import reflect_in_rounds
from cheatsheet.roles.rule_curator import RuleCurator
from cheatsheet.roles.rule_reflector import RuleReflector

NO_ANSWER = "There is no answer to learn from."
NO_BULLET = "The answer is empty: no bullet is learnt."


def worth_remembering(attempt: Attempt) -> bool:
    """Whether there is anything in the turn: an answer, or the right answer told."""
    return bool(attempt.answer) or attempt.feedback.expected is not None


def remembered(attempts: Sequence[Attempt]) -> LearnedBatch:
    """Keep the turns in which there is anything, and learn nothing else."""
    kept = tuple(map(worth_remembering, attempts))
    return LearnedBatch(remember=kept, skipped=(NO_ANSWER,) * kept.count(False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """Reflect on attempts and turn the reflections into operations (ACE, arXiv 2510.04618, section 3).

    The answers are there and paid for: when a role's model cannot be reached, rules take its place and a note says so.

    Attributes:
        depth: rounds of reflection while an answer is wrong and somebody can be asked again; 1 asks nobody again.
        remember: whether the mode keeps experiences.
    """

    reflector: Reflector
    curator: Curator
    depth: int = 1
    remember: bool

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        """What one turn teaches."""
        return self.learn_batch([attempt], memory).single()

    def learn_batch(self, attempts: Sequence[Attempt], memory: MemoryView) -> LearnedBatch:
        """What several turns teach together."""
        reflections = [self._reflect(attempt) if attempt.answer else None for attempt in attempts]
        reflected = [
            Reflected(attempt=attempt, reflection=reflection)
            for attempt, reflection in zip(attempts, reflections, strict=True)
            if reflection is not None
        ]
        curation = self._curate(reflected, memory) if reflected else Curation()
        return LearnedBatch(
            operations=curation.operations,
            remember=tuple(self.remember and worth_remembering(attempt) for attempt in attempts),
            reflections=tuple(reflections),
            skipped=(*(NO_BULLET,) * reflections.count(None), *curation.skipped),
            usage=sum((pair.reflection.usage for pair in reflected), curation.usage),
            notes=(*(note for pair in reflected for note in pair.reflection.notes), *curation.notes),
        )

    def _reflect(self, attempt: Attempt) -> Reflection:
        try:
            return reflect_in_rounds(attempt, self.reflector, depth=self.depth)
        except ModelError as error:
            reflection = RuleReflector().reflect(attempt)
            return replace(reflection, notes=(*reflection.notes, f"Rules reflected, because the model failed: {error}"))

    def _curate(self, reflected: Sequence[Reflected], memory: MemoryView) -> Curation:
        try:
            return self.curator.curate(reflected, memory)
        except ModelError as error:
            curation = RuleCurator().curate(reflected, memory)
            return replace(curation, notes=(*curation.notes, f"Rules curated, because the model failed: {error}"))
