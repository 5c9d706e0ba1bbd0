"""Strict scoring of recorded rows: our reading of a reply, our scorers, and why an answer is right or wrong by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.published.rules import Judged, shown
from benchmarks.published.runs import RecordedRow
from benchmarks.published.scoring import TASKS
from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging import equation, game_of_24
from cheatsheet.evaluation.judging.choice import Options, listed_options, told_apart
from cheatsheet.evaluation.judging.number import last_integer
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Sample
from cheatsheet.roles.replies import read_answer


def strict_answer(reply: str) -> str:
    """What our engine takes for the answer of a reply."""
    return read_answer(reply).value


def judge_strictly(task: str, row: RecordedRow, answer: str) -> Judged:
    """Whether our scorer for the task finds an answer right, and why, as the end of a sentence."""
    name = TASKS[task].scorer
    right = scorer_for(name).score(answer, _sample(row)) == 1
    return Judged(right, _REASONS[name](row, answer))


def unreadable(task: str, row: RecordedRow) -> str:
    """Why no answer to a row could be right; empty where one can."""
    try:
        if TASKS[task].by_question:
            game_of_24.numbers_of(row.question)
        else:
            scorer_for(TASKS[task].scorer).check([_sample(row)])
    except TaskError as error:
        return f"row {row.index}: {error}"
    return ""


def _sample(row: RecordedRow) -> Sample:
    return Sample(id=str(row.index), input=row.question, target=row.target)


def _integer_reason(row: RecordedRow, answer: str) -> str:
    value = last_integer(answer)
    return "it ends in no integer" if value is None else f"its integer is {value}"


def _choice_reason(row: RecordedRow, answer: str) -> str:
    listed = listed_options(row.question)
    options = tuple(listed.values()) if told_apart(listed.values()) else ()
    picked = Options(options).pick(answer)
    return "it picks no option" if picked is None else f"it picks the option {shown(picked)}"


def _equation_reason(row: RecordedRow, answer: str) -> str:
    return _ending(equation.judge(row.question, answer).reason) or "the equation holds, with the question's numbers"


def _game_reason(row: RecordedRow, answer: str) -> str:
    reason = game_of_24.judge(game_of_24.numbers_of(row.question), answer).reason
    return _ending(reason) or "its value is 24, with the question's numbers"


def _ending(sentence: str) -> str:
    """A sentence as the end of another one."""
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


_REASONS: Final[Mapping[str, Callable[[RecordedRow, str], str]]] = {
    "integer": _integer_reason,
    "choice": _choice_reason,
    "equation": _equation_reason,
    "game-of-24": _game_reason,
}
