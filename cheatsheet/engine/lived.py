"""Turns on their way into the memory, and the results that are made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cheatsheet.context.compiler import CompiledContext
from cheatsheet.engine.feedback import FeedbackLike, as_feedback, compare
from cheatsheet.engine.options import Record, Timer
from cheatsheet.engine.results import Lesson, Recall, Turn
from cheatsheet.errors import OperationError
from cheatsheet.llm.model import Usage
from cheatsheet.memory.experience import Experience, Feedback, Query
from cheatsheet.memory.history.journal import Committed
from cheatsheet.memory.operations import Tag
from cheatsheet.mode import Recalled
from cheatsheet.roles.role import Attempt, Generation
from cheatsheet.roles.trajectory import Trajectory, read_trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question that somebody answered, to be learnt from.

    Attributes:
        recall: what `recall` returned for the question, or the question itself where nothing was recalled; None where
            the trajectory begins with it.
        answer: None where it is the last thing said in the trajectory.
        feedback: right or wrong (bool), a score from 0 to 1, a comment, or a `Feedback`.
        expected: the right answer, where it is known.
        used: ids of the bullets that the answerer says it used.
        trajectory: the whole exchange as chat messages in OpenAI's form, with tool calls and their results.
        turn_id: a name for the turn; it can be learnt once.
    """

    recall: Recall | Query | str | None = None
    answer: str | None = None
    feedback: FeedbackLike = None
    expected: str | None = None
    used: Sequence[str] = ()
    reasoning: str = ""
    trajectory: Sequence[Mapping[str, Any]] = ()
    turn_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """An answered question on its way into the memory.

    Attributes:
        recall, generation: None where the question was answered without a recall, or by somebody else.
        elapsed: says how many seconds the turn has taken; 0 where it was lived elsewhere.
    """

    attempt: Attempt
    recall: Recall | None = None
    generation: Generation | None = None
    turn_id: str = ""
    record: Record | None = None
    elapsed: Callable[[], float] = float

    @property
    def usage(self) -> Usage:
        """Of the calls before anything was learnt."""
        parts = [part.usage for part in (self.recall, self.generation) if part is not None]
        return sum(parts, Usage())


def stopwatch(timer: Timer) -> Callable[[], float]:
    """Says how many seconds have passed since this call."""
    started = timer()
    return lambda: timer() - started


def as_query(query: str | Query) -> Query:
    """The query; a text asks freely."""
    return query if isinstance(query, Query) else Query(text=query)


def lived_elsewhere(given: Answered) -> Lived:
    """A turn that was answered by somebody else.

    Raises:
        OperationError: there is no question or no answer, neither given nor in the trajectory.
    """
    told = read_trajectory(given.trajectory) if given.trajectory else None
    recall = given.recall if isinstance(given.recall, Recall) else None
    asked = recall.query if recall else _asked(given.recall, told)
    answer = given.answer if given.answer is not None else told.answer if told else ""
    if given.answer is None and not answer:
        raise OperationError("There is no answer to learn from. Give answer=..., or a trajectory that ends with one.")
    attempt = Attempt(
        query=as_query(asked),
        answer=answer.strip(),
        feedback=_feedback(given, answer),
        reasoning=given.reasoning or (told.text if told else ""),
        bullets=tuple(hit.value for hit in recall.bullets) if recall else (),
        used=tuple(given.used),
        trajectory=tuple(dict(message) for message in given.trajectory),
    )
    return Lived(attempt=attempt, recall=recall, turn_id=given.turn_id)


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
        searched=recalled.searched,
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
        seconds=lived.elapsed(),
    )


def experience_of(lived: Lived, *, mode: str, model: str, usage: Usage, at: datetime) -> Experience:
    """The turn as it is kept."""
    attempt, generated = lived.attempt, lived.generation is not None
    return Experience(
        query=attempt.query.text,
        answer=attempt.answer,
        choices=attempt.query.choices,
        reasoning=attempt.reasoning,
        trajectory=attempt.trajectory,
        feedback=attempt.feedback,
        bullets=tuple(bullet.id for bullet in attempt.bullets),
        used=attempt.used,
        mode=mode,
        model=model if generated else "",
        prompt_tokens=usage.prompt_tokens if generated else None,
        completion_tokens=usage.completion_tokens if generated else None,
        cost_usd=usage.cost_usd,
        created_at=at,
        metadata=dict(attempt.query.metadata),
    )


def uses(lived: Iterable[Lived], *, experiences: bool) -> tuple[Tag, ...]:
    """How often each bullet stood in a prompt.

    Args:
        experiences: whether the uses of experiences that were found by their similarity are counted as well.
    """
    shown: Counter[str] = Counter()
    for one in lived:
        shown.update(bullet.id for bullet in one.attempt.bullets)
        if experiences and one.recall and one.recall.searched:
            shown.update(hit.value.id for hit in one.recall.experiences)
    return tuple(Tag(id=id, uses=count) for id, count in shown.items())


def stored(lesson: Lesson, committed: Committed, experience_id: str) -> Lesson:
    """The lesson as it was stored: with ids, and without what was left out."""
    entry = committed.entry
    return replace(
        lesson,
        operations=entry.operations[: len(entry.operations) - len(committed.followed)],
        archived=committed.followed,
        experience_id=experience_id,
        skipped=(*lesson.skipped, *committed.skipped),
        version=entry.version,
    )


def _asked(given: Query | str | Recall | None, told: Trajectory | None) -> Query | str:
    if isinstance(given, Query | str):
        return given
    if told is None or not told.question:
        raise OperationError("There is no question to learn about. Give it, or a trajectory that begins with one.")
    return told.question


def _feedback(given: Answered, answer: str) -> Feedback:
    feedback = as_feedback(given.feedback, given.expected)
    if feedback.verdict is None and given.expected is not None:
        return feedback.model_copy(update={"correct": compare(answer, given.expected).correct})
    return feedback
