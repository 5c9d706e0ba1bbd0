"""The Reflector by rules: a comparison and a classification, without a model and without cost."""

from __future__ import annotations

from cheatsheet.roles.difference import classify, describe, judged
from cheatsheet.roles.role import Attempt, ErrorKind, Reflection, TagName

_MAX_QUESTION_CHARS = 160
_MAX_ANSWER_CHARS = 300

_ROOT_CAUSE = {
    ErrorKind.NONE: "",
    ErrorKind.CALCULATION: "The number is wrong.",
    ErrorKind.CONCEPT: "The answer rests on something that is not so.",
    ErrorKind.FORMAT: "The answer says the right thing in a form that was not accepted.",
    ErrorKind.OMISSION: "The answer leaves out what was asked for.",
    ErrorKind.UNIT: "The number is right up to its unit or its scale.",
    ErrorKind.WRONG_CHOICE: "Another of the allowed answers was chosen.",
    ErrorKind.OTHER: "The answer was judged wrong; the right one was not told.",
}
_INSIGHT = {
    ErrorKind.CALCULATION: "For questions like {question} the right result is {expected}, not {answer}.",
    ErrorKind.CONCEPT: "For questions like {question} the right answer is {expected}, not {answer}.",
    ErrorKind.FORMAT: "Answer questions like {question} in this form: {expected}, not {answer}.",
    ErrorKind.OMISSION: "For questions like {question} the complete answer is {expected}.",
    ErrorKind.UNIT: "For questions like {question} mind the unit and the scale: {expected}, not {answer}.",
    ErrorKind.WRONG_CHOICE: "For questions like {question} the right answer is {expected}, not {answer}.",
    ErrorKind.OTHER: "For questions like {question} the answer {answer} is wrong.",
}


class RuleReflector:
    """Compares the answer with what is known (ACE's Reflector, arXiv 2510.04618, section 3, reduced to rules).

    - What the feedback says of right and wrong stands; without it, the expected answer decides.
    - After a wrong answer the lesson names the question and the right answer, or the comment; bullets that were named
      as used count as harmful, others that were shown as neutral.
    - After a right answer, bullets that were named as used count as helpful; a lesson is drawn from a comment only.
    - Without any feedback nothing is learnt.
    """

    def reflect(self, attempt: Attempt) -> Reflection:
        if not attempt.feedback.given:
            return Reflection(correct=None, notes=("There is no feedback: the attempt teaches nothing.",))
        correct = judged(attempt)
        if correct is False:
            return _failure(attempt)
        return Reflection(correct=correct, key_insight=_from_comment(attempt), tags=_tags(attempt, correct))


def error_of(attempt: Attempt) -> ErrorKind:
    """The kind of error; `none` unless the answer is known to be wrong."""
    if judged(attempt) is not False:
        return ErrorKind.NONE
    if attempt.feedback.expected is None:
        return ErrorKind.OTHER if attempt.answer.strip() else ErrorKind.OMISSION
    return classify(attempt.answer, attempt.feedback.expected, attempt.query.choices)


def _failure(attempt: Attempt) -> Reflection:
    error, expected = error_of(attempt), attempt.feedback.expected
    contradiction = expected is not None and expected.strip() == attempt.answer.strip()
    return Reflection(
        correct=False,
        difference="" if expected is None else describe(attempt.answer, expected),
        error=error,
        root_cause=_ROOT_CAUSE[error],
        correct_approach=_approach(attempt),
        key_insight=_from_comment(attempt) if contradiction else _insight(attempt, error),
        restates=expected is not None and not contradiction and not attempt.feedback.comment.strip(),
        tags=_tags(attempt, False),
        notes=("The feedback calls the answer wrong, and expects just this answer.",) if contradiction else (),
    )


def _approach(attempt: Attempt) -> str:
    expected, comment = attempt.feedback.expected, attempt.feedback.comment.strip()
    answer = "" if expected is None else f"The right answer is {_short(expected, _MAX_ANSWER_CHARS)}."
    return " ".join(part for part in (answer, comment) if part)


def _insight(attempt: Attempt, error: ErrorKind) -> str:
    """A lesson that can be understood without the attempt; empty where nothing better than the error is known."""
    expected, comment = attempt.feedback.expected, attempt.feedback.comment.strip()
    if expected is None and (comment or not attempt.answer.strip()):
        return _from_comment(attempt)
    lesson = _INSIGHT[error].format(
        question=_quoted_question(attempt),
        expected=_short(expected or "", _MAX_ANSWER_CHARS),
        answer=_short(attempt.answer, _MAX_ANSWER_CHARS),
    )
    return f"{lesson} {comment}".strip()


def _from_comment(attempt: Attempt) -> str:
    """What was said about the answer, with the question it was said of; empty when a bullet shown says so already."""
    comment = attempt.feedback.comment.strip()
    if not comment or any(comment.casefold() in bullet.content.casefold() for bullet in attempt.bullets):
        return ""
    return f"For questions like {_quoted_question(attempt)}: {comment}"


def _tags(attempt: Attempt, correct: bool | None) -> dict[str, TagName]:
    shown = [bullet.id for bullet in attempt.bullets]
    if correct is None:
        return {}
    if correct:
        return {id: "helpful" for id in shown if id in attempt.used}
    return {id: "harmful" if id in attempt.used else "neutral" for id in shown}


def _quoted_question(attempt: Attempt) -> str:
    return '"' + _short(attempt.query.text, _MAX_QUESTION_CHARS).replace('"', "'") + '"'


def _short(text: str, max_chars: int) -> str:
    """The text on one line, cut between words."""
    line = " ".join(text.split())
    if len(line) <= max_chars:
        return line
    head = line[:max_chars]
    return (head.rpartition(" ")[0] or head) + "…"
