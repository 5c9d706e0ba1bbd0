"""The Reflector by rules: a comparison and a classification, without a model and without cost."""

from __future__ import annotations

import re
from dataclasses import replace

from cheatsheet.roles.difference import Slip, describe, judged, slip
from cheatsheet.roles.repetition import repeats
from cheatsheet.roles.role import Attempt, ErrorKind, Reflection, TagName
from cheatsheet.roles.trajectory import Trajectory, failed_then_worked, trajectory_of

_MAX_QUESTION_CHARS = 160
_MAX_ANSWER_CHARS = 300
_MAX_HINT_CHARS = 160

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
    ErrorKind.CALCULATION: "For questions like {question} the right result is {expected}, not {answer}{hint}.",
    ErrorKind.CONCEPT: "For questions like {question} the right answer is {expected}, not {answer}{hint}.",
    ErrorKind.FORMAT: "Answer questions like {question} in this form: {expected}, not {answer}{hint}.",
    ErrorKind.OMISSION: "For questions like {question} the complete answer is {expected}{hint}.",
    ErrorKind.UNIT: "For questions like {question} mind the unit and the scale: {expected}, not {answer}{hint}.",
    ErrorKind.WRONG_CHOICE: "For questions like {question} the right answer is {expected}, not {answer}.",
    ErrorKind.OTHER: "For questions like {question} the answer {answer} is wrong.",
}
# Only with a mark behind it, or alone, is such a word a verdict: "no key is needed" is not one.
_VERDICT = re.compile(
    r"(?:wrong|incorrect|false|no|right|correct|true|yes|good)\s{0,3}(?:[:;,.!–—-]\s*|$)", re.IGNORECASE
)

# What a comment on a wrong answer speaks of, where the right answer is not told; the first that fits.
_COMMENTS = (
    (ErrorKind.UNIT, r"\bunits?\b|\bpercent|\bcurrenc|\border of magnitude"),
    (ErrorKind.FORMAT, r"\bformat|\bjson\b|\bdecimal places?|\bround(?:ed|ing)?\b|\b(?:upper|lower) ?case|\bcapital"),
    (ErrorKind.CALCULATION, r"\bcalculat|\bmiscalc|\barithmetic|\bmiscount|\boff by\b"),
    (ErrorKind.OMISSION, r"\bmissing\b|\b(?:left|leaves) out\b|\bforg[eo]t|\bomit|\bincomplete|\blacks?\b"),
)


class RuleReflector:
    """Compares the answer with what is known (ACE's Reflector, arXiv 2510.04618, section 3, reduced to rules).

    - What the feedback says of right and wrong stands; without it, the expected answer decides.
    - After a wrong answer the lesson names the question, the right answer and in which way the given one differs, or
      the comment; bullets that were named as used count as harmful, others that were shown as neutral.
    - After a right answer, bullets that were named as used count as helpful; a lesson is drawn from a comment, and
      where other answers to the same question were wrong before.
    - A call of a tool that failed and then worked with other arguments is a lesson, whatever became of the answer.
    - Without any of these nothing is learnt.
    """

    def reflect(self, attempt: Attempt) -> Reflection:
        trajectory, notes = trajectory_of(attempt)
        reflection = _reflection(attempt)
        tools = _tool_lesson(attempt, trajectory)
        insight = f"{reflection.key_insight} {tools}".strip()
        silent = not attempt.feedback.given and not tools
        silence = ("There is no feedback: the attempt teaches nothing.",) if silent else ()
        return replace(
            reflection,
            key_insight=insight,
            restates=reflection.restates and not tools,
            notes=(*reflection.notes, *notes, *silence),
        )


def error_of(attempt: Attempt) -> ErrorKind:
    """The kind of error; `none` unless the answer is known to be wrong."""
    return _slip(attempt).kind


def _slip(attempt: Attempt) -> Slip:
    if judged(attempt) is not False:
        return Slip(ErrorKind.NONE)
    if attempt.feedback.expected is not None:
        return slip(attempt.answer, attempt.feedback.expected, attempt.query.choices)
    return Slip(_kind_by_comment(attempt.feedback.comment) if attempt.answer.strip() else ErrorKind.OMISSION)


def _kind_by_comment(comment: str) -> ErrorKind:
    found = (kind for kind, pattern in _COMMENTS if re.search(pattern, comment, re.IGNORECASE))
    return next(found, ErrorKind.OTHER)


def _reflection(attempt: Attempt) -> Reflection:
    """What the feedback teaches."""
    correct = judged(attempt)
    if correct is False:
        return _failure(attempt)
    insight = _from_comment(attempt) or (_what_worked(attempt) if correct else "")
    return Reflection(correct=correct, key_insight=insight, tags=_tags(attempt, correct))


def _failure(attempt: Attempt) -> Reflection:
    found, expected = _slip(attempt), attempt.feedback.expected
    contradiction = expected is not None and expected.strip() == attempt.answer.strip()
    hint = "" if contradiction else _hint(attempt, found)
    return Reflection(
        correct=False,
        difference="" if expected is None else describe(attempt.answer, expected),
        error=found.kind,
        root_cause=_ROOT_CAUSE[found.kind] + (f" {hint[0].upper()}{hint[1:]}." if hint else ""),
        correct_approach=_approach(attempt),
        key_insight=_from_comment(attempt) if contradiction else _insight(attempt, found.kind, hint),
        restates=expected is not None and not (contradiction or hint or _said(attempt)),
        tags=_tags(attempt, False),
        notes=("The feedback calls the answer wrong, and expects just this answer.",) if contradiction else (),
    )


def _hint(attempt: Attempt, found: Slip) -> str:
    """In which way the answer differs; of an omission, what was left out."""
    if found.hint or found.kind is not ErrorKind.OMISSION or not attempt.answer.strip():
        return found.hint
    missing = describe(attempt.answer, attempt.feedback.expected or "")
    return missing if len(missing) <= _MAX_HINT_CHARS else ""


def _approach(attempt: Attempt) -> str:
    expected, comment = attempt.feedback.expected, _said(attempt)
    answer = "" if expected is None else f"The right answer is {_short(expected, _MAX_ANSWER_CHARS)}."
    return " ".join(part for part in (answer, comment) if part)


def _insight(attempt: Attempt, kind: ErrorKind, hint: str) -> str:
    """A lesson that can be understood without the attempt; empty where nothing better than the error is known."""
    expected, comment = attempt.feedback.expected, _said(attempt)
    if expected is None and (comment or not attempt.answer.strip()):
        return _from_comment(attempt)
    lesson = _INSIGHT[kind].format(
        question=_quoted_question(attempt),
        expected=_short(expected or "", _MAX_ANSWER_CHARS),
        answer=_short(attempt.answer, _MAX_ANSWER_CHARS),
        hint=f" ({hint})" if hint else "",
    )
    return f"{lesson} {comment}".strip()


def _said(attempt: Attempt) -> str:
    """The comment without a verdict in front of it, which is no part of a lesson: "wrong: ask twice", "right"."""
    comment = attempt.feedback.comment.strip()
    verdict = _VERDICT.match(comment)
    return comment[verdict.end() :].lstrip() if verdict else comment


def _from_comment(attempt: Attempt) -> str:
    """What was said about the answer, with the question it was said of; empty when a bullet shown says so already."""
    comment = _said(attempt)
    if not comment or any(repeats(comment, bullet.content) for bullet in attempt.bullets):
        return ""
    return f"For questions like {_quoted_question(attempt)}: {comment}"


def _what_worked(attempt: Attempt) -> str:
    """The answer that was right at last, where nobody had told it; empty when it was right at once."""
    if not attempt.earlier or attempt.feedback.expected is not None:
        return ""
    wrong = " or ".join(dict.fromkeys(_short(each.answer, _MAX_ANSWER_CHARS) or "nothing" for each in attempt.earlier))
    answer = _short(attempt.answer, _MAX_ANSWER_CHARS)
    return f"For questions like {_quoted_question(attempt)} the answer {answer} was right, not {wrong}."


def _tool_lesson(attempt: Attempt, trajectory: Trajectory | None) -> str:
    """How a tool is called, and how not; empty when a bullet shown says so already."""
    pair = failed_then_worked(trajectory.steps) if trajectory else None
    if pair is None:
        return ""
    failed, worked = pair
    bad, good = (_short(step.arguments or "no arguments", _MAX_ANSWER_CHARS) for step in pair)
    reason = _short(failed.text, _MAX_HINT_CHARS).rstrip(".") or "no reason given"
    lesson = f"The tool {worked.tool} fails with {bad} ({reason}); it works with {good}."
    return "" if any(repeats(lesson, bullet.content) for bullet in attempt.bullets) else lesson


def _tags(attempt: Attempt, correct: bool | None) -> dict[str, TagName]:
    shown = [bullet.id for bullet in attempt.bullets]
    if correct is None:
        return {}
    if correct:
        return {id: "helpful" for id in shown if id in attempt.used}
    return {id: "harmful" if id in attempt.used else "neutral" for id in shown}


def _quoted_question(attempt: Attempt) -> str:
    return '"' + _excerpt(attempt.query.text).replace('"', "'") + '"'


def _excerpt(question: str) -> str:
    """The question on one line. Of a long one, the beginning and the end: instructions that all questions share stand
    before what is asked, or behind it.
    """
    line = " ".join(question.split())
    if len(line) <= _MAX_QUESTION_CHARS:
        return line
    head, tail = line[: _MAX_QUESTION_CHARS // 3], line[-(_MAX_QUESTION_CHARS - _MAX_QUESTION_CHARS // 3) :]
    return f"{head.rpartition(' ')[0] or head} … {tail.partition(' ')[2] or tail}"


def _short(text: str, max_chars: int) -> str:
    """The text on one line, cut between words."""
    line = " ".join(text.split())
    if len(line) <= max_chars:
        return line
    head = line[:max_chars]
    return (head.rpartition(" ")[0] or head) + "…"
