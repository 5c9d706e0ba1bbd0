"""A turn on its way into the memory, and the results that are made of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from cheatsheet.context.compiler import CompiledContext
from cheatsheet.engine.results import Lesson, Recall, Turn
from cheatsheet.llm.model import Usage
from cheatsheet.memory.experience import Query
from cheatsheet.memory.journal import Committed
from cheatsheet.mode import Recalled
from cheatsheet.roles.role import Attempt, Generation


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """An answered question on its way into the memory.

    Attributes:
        recall, generation: None where the question was answered without a recall, or by somebody else.
        started: `time.perf_counter()` at the beginning of the turn.
    """

    attempt: Attempt
    recall: Recall | None = None
    generation: Generation | None = None
    trajectory: tuple[dict[str, Any], ...] = ()
    started: float = 0.0


def recall_of(
    query: Query, recalled: Recalled, context: CompiledContext, mode: str, version: int, seconds: float
) -> Recall:
    """The recall of what a mode wanted to show; of bullets and experiences, those that fitted into the context."""
    shown = frozenset(context.shown_ids)
    return Recall(
        query=query,
        context=context,
        mode=mode,
        version=version,
        bullets=tuple(hit for hit in recalled.bullets if hit.value.id in shown),
        experiences=tuple(hit for hit in recalled.experiences if hit.value.id in shown),
        operations=recalled.operations,
        usage=recalled.usage,
        notes=recalled.notes,
        seconds=seconds,
    )


def turn_of(lived: Lived, lesson: Lesson, usage: Usage) -> Turn:
    """The turn with its lesson.

    Raises:
        TypeError: the question was answered elsewhere, so that there is no generation to tell of.
    """
    if lived.recall is None or lived.generation is None:
        raise TypeError("A turn needs a recall and a generation.")
    return Turn(
        recall=lived.recall,
        generation=lived.generation,
        feedback=lived.attempt.feedback,
        lesson=lesson,
        usage=usage,
        seconds=time.perf_counter() - lived.started,
    )


def stored(lesson: Lesson, committed: Committed) -> Lesson:
    """The lesson as it was stored: with ids, and without what was left out."""
    entry = committed.entry
    return replace(
        lesson,
        operations=entry.operations[: len(entry.operations) - len(committed.followed)],
        archived=committed.followed,
        experience_id=entry.experience_id,
        skipped=(*lesson.skipped, *committed.skipped),
        version=entry.version,
    )
