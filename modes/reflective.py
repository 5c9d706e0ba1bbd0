"""What the modes that learn have in common."""

from __future__ import annotations

from dataclasses import replace

from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Learned
from cheatsheet.roles.role import Attempt, Curator, Reflector


def worth_remembering(attempt: Attempt) -> Learned:
    """Keep the turn unless there is nothing in it: no answer, and no right answer told."""
    if attempt.answer or attempt.feedback.expected is not None:
        return Learned(remember=True)
    return Learned(skipped=("There is no answer to learn from.",))


def reflect_and_curate(
    attempt: Attempt, memory: MemoryView, reflector: Reflector, curator: Curator, *, remember: bool
) -> Learned:
    """Reflect on the attempt and turn the reflection into operations (ACE, section 3).

    Args:
        remember: whether the mode keeps experiences.
    """
    kept = worth_remembering(attempt)
    if not attempt.answer:
        return replace(
            kept, remember=kept.remember and remember, skipped=("The answer is empty: no bullet is learnt.",)
        )
    reflection = reflector.reflect(attempt)
    curation = curator.curate(reflection, attempt, memory)
    return Learned(
        operations=curation.operations,
        remember=remember,
        reflection=reflection,
        skipped=curation.skipped,
        usage=reflection.usage + curation.usage,
        notes=(*reflection.notes, *curation.notes),
    )
