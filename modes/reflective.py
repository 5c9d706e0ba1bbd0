"""What the modes that learn have in common."""

from __future__ import annotations

from dataclasses import replace

from cheatsheet.errors import ModelError
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Learned
from cheatsheet.roles.role import Attempt, Curation, Curator, Reflection, Reflector
from cheatsheet.roles.rule_curator import RuleCurator
from cheatsheet.roles.rule_reflector import RuleReflector


def worth_remembering(attempt: Attempt) -> Learned:
    """Keep the turn unless there is nothing in it: no answer, and no right answer told."""
    if attempt.answer or attempt.feedback.expected is not None:
        return Learned(remember=True)
    return Learned(skipped=("There is no answer to learn from.",))


def reflect_and_curate(
    attempt: Attempt, memory: MemoryView, reflector: Reflector, curator: Curator, *, remember: bool
) -> Learned:
    """Reflect on the attempt and turn the reflection into operations (ACE, section 3).

    The answer is there and paid for: when a role's model cannot be reached, rules take its place and a note says so.

    Args:
        remember: whether the mode keeps experiences.
    """
    kept = worth_remembering(attempt)
    if not attempt.answer:
        said = ("The answer is empty: no bullet is learnt.",)
        return replace(kept, remember=kept.remember and remember, skipped=said)
    reflection = _reflect(attempt, reflector)
    curation = _curate(reflection, attempt, memory, curator)
    return Learned(
        operations=curation.operations,
        remember=remember,
        reflection=reflection,
        skipped=curation.skipped,
        usage=reflection.usage + curation.usage,
        notes=(*reflection.notes, *curation.notes),
    )


def _reflect(attempt: Attempt, reflector: Reflector) -> Reflection:
    try:
        return reflector.reflect(attempt)
    except ModelError as error:
        reflection = RuleReflector().reflect(attempt)
        return replace(reflection, notes=(*reflection.notes, f"Rules reflected, because the model failed: {error}"))


def _curate(reflection: Reflection, attempt: Attempt, memory: MemoryView, curator: Curator) -> Curation:
    try:
        return curator.curate(reflection, attempt, memory)
    except ModelError as error:
        curation = RuleCurator().curate(reflection, attempt, memory)
        return replace(curation, notes=(*curation.notes, f"Rules curated, because the model failed: {error}"))
