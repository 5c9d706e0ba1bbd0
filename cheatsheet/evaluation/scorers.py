"""Scorers: how right an answer is. In brackets the module of `judging` that says by which rules.

`exact`       the same text, but for case, white space and marks around it (`text`).
`choice`      the same option, named by its text or its letter (`choice`).
`number`      the same number, exactly (`number`).
`integer`     the same integer, written out in digits, as AIME asks for (`number`).
`quantity`    the same number with its unit, rounded as the task says, as FinLoRA's Formula asks for (`quantity`).
`tags`        one point for each tag of a list, as in FiNER: the score is their share (`tags`).
`game-of-24`  any expression of value 24 with each number of the question once (`game_of_24`).
`equation`    any right equation with the numbers of the question (`equation`).
`contains`    the target stands in the answer as a whole word or number, compared as in `exact`.

`package.module:function` names a function of your own, called with the answer, the target and the question's row
(`id`, `input`, `target`, `choices`, `metadata`); it returns True or False, or a score from 0 (worst) to 1 (best).
An answer counts as right from 0.5 on, as everywhere in a memory's feedback.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from cheatsheet.errors import TaskError, UnknownNameError
from cheatsheet.evaluation.judging import equation, game_of_24
from cheatsheet.evaluation.judging.choice import Options, listed_options, told_apart
from cheatsheet.evaluation.judging.number import allowed_integers, last_integer, last_number, only_number
from cheatsheet.evaluation.judging.quantity import same_quantity
from cheatsheet.evaluation.judging.tags import share_of_tags
from cheatsheet.evaluation.judging.text import contains, normalise, unboxed
from cheatsheet.evaluation.task import Sample
from cheatsheet.memory.experience import Feedback

ScoreFunction = Callable[[str, str, Mapping[str, Any]], float | bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """A named way to score.

    Attributes:
        builtin: one of ours, which gives every readable target itself the full score.
    """

    name: str
    function: ScoreFunction
    builtin: bool = False

    def score(self, answer: str, sample: Sample) -> float:
        """From 0 (worst) to 1 (best).

        Raises:
            TaskError: the function returned something else. What it raises itself is let through.
        """
        value = self.function(answer, sample.target, _row(sample))
        if not isinstance(value, (bool, int, float)) or not math.isfinite(value) or not 0 <= value <= 1:
            raise TaskError(
                f"Scorer {self.name!r} returned {value!r} for question {sample.id!r}; "
                f"a score is True, False, or a number from 0 to 1."
            )
        return float(value)

    def judge(self, answer: str, sample: Sample) -> Feedback:
        """What the memory is told about an answer."""
        score = self.score(answer, sample)
        return Feedback(correct=score >= 0.5, score=score, expected=sample.target)

    def check(self, samples: Iterable[Sample]) -> None:
        """Find targets that no answer could match, before a question is paid for.

        Raises:
            TaskError: a target that this scorer cannot read; names the question.
        """
        for sample in samples if self.builtin else ():
            if self.score(sample.target, sample) < 1:
                raise TaskError(
                    f"Scorer {self.name!r} cannot read the target {sample.target!r} of question {sample.id!r}, so that "
                    f"no answer could be right. Choose another scorer, or correct the target."
                )


def exact(answer: str, target: str, row: Mapping[str, Any]) -> bool:
    """The same text; where the answer has a box, what is in its last one."""
    return normalise(target) in (normalise(answer), normalise(unboxed(answer)))


def choice(answer: str, target: str, row: Mapping[str, Any]) -> bool:
    """The same option of `row["choices"]`, or of those that the question lists, or else the same letter."""
    options = Options(row["choices"] or _listed(row["input"]))
    picked = options.pick(answer)
    return picked is not None and picked == (target if target in row["choices"] else options.pick(target))


def number(answer: str, target: str, row: Mapping[str, Any]) -> bool:
    """The same number."""
    wanted = only_number(target)
    return wanted is not None and last_number(answer) == wanted


def integer(answer: str, target: str, row: Mapping[str, Any]) -> bool:
    """The same integer, or one of those that the target allows."""
    return last_integer(answer) in allowed_integers(target)


def tags(answer: str, target: str, row: Mapping[str, Any]) -> float:
    """The share of the target's tags that stand in their places."""
    return share_of_tags(answer, target)


def holds(answer: str, target: str, row: Mapping[str, Any]) -> bool:
    """The target stands in the answer."""
    return contains(normalise(answer), normalise(target))


BUILTIN: Mapping[str, ScoreFunction] = {
    "exact": exact,
    "choice": choice,
    "number": number,
    "integer": integer,
    "quantity": same_quantity,
    "tags": tags,
    "game-of-24": game_of_24.score,
    "equation": equation.score,
    "contains": holds,
}


def scorer_for(name: str) -> Scorer:
    """The scorer of a name, or of a `package.module:function`.

    Raises:
        UnknownNameError: no such name.
        TaskError: the module or its function cannot be found.
    """
    if name in BUILTIN:
        return Scorer(name=name, function=BUILTIN[name], builtin=True)
    module_name, colon, function_name = name.partition(":")
    if not colon:
        raise UnknownNameError("scorer", name, (*BUILTIN, "package.module:function"))
    function = getattr(_module(module_name, name), function_name, None)
    if not callable(function):
        raise TaskError(f"Scorer {name!r}: the module {module_name!r} has no function {function_name!r}.")
    return Scorer(name=name, function=function)


def _listed(question: str) -> tuple[str, ...]:
    options = tuple(listed_options(question).values())
    return options if told_apart(options) else ()


def _module(module_name: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except (ModuleNotFoundError, ValueError) as error:  # ValueError: the name is empty
        raise TaskError(
            f"Scorer {name!r}: {error}. Install the module, or put its folder into the PYTHONPATH."
        ) from error


def _row(sample: Sample) -> dict[str, Any]:
    return {
        "id": sample.id,
        "input": sample.input,
        "target": sample.target,
        "choices": sample.choices,
        "metadata": sample.metadata,
    }
