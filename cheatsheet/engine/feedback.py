"""Feedback in the forms in which people give it."""

from __future__ import annotations

import re

from cheatsheet.memory.experience import Feedback
from cheatsheet.memory.likeness.sameness import fold

FeedbackLike = Feedback | str | bool | float | None

_WRONG = re.compile(r"\s*(wrong|incorrect|false|no)\b", re.IGNORECASE)
_RIGHT = re.compile(r"\s*(right|correct|true|yes|good)\b", re.IGNORECASE)


def as_feedback(given: FeedbackLike, expected: str | None = None) -> Feedback:
    """Feedback from what was given.

    A bool says right or wrong, a number from 0 to 1 is a score, a text is a comment; one that begins with a word like
    "wrong" or "right" is also a verdict.

    Raises:
        ValueError: a number outside 0 to 1.
    """
    feedback = _parse(given)
    return feedback if expected is None else feedback.model_copy(update={"expected": expected})


def compare(answer: str, expected: str) -> Feedback:
    """Right when answer and expected answer are equal but for case, white space and a full stop at the end."""
    return Feedback(correct=fold(answer) == fold(expected), expected=expected)


def _parse(given: FeedbackLike) -> Feedback:
    if given is None:
        return Feedback()
    if isinstance(given, Feedback):
        return given
    if isinstance(given, bool):
        return Feedback(correct=given)
    if isinstance(given, int | float):
        if not 0 <= given <= 1:
            raise ValueError(f"A score is a number from 0 (worst) to 1 (best), not {given}.")
        return Feedback(score=given)
    verdict = False if _WRONG.match(given) else True if _RIGHT.match(given) else None
    return Feedback(correct=verdict, comment=given)
