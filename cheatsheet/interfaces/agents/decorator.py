"""A memory around any function from a question to an answer."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from cheatsheet.engine.asynchronous import in_thread
from cheatsheet.engine.engine import Engine
from cheatsheet.engine.results import Recall
from cheatsheet.errors import SetupError
from cheatsheet.interfaces.agents.background import BackgroundLearner
from cheatsheet.interfaces.agents.lessons import TurnJudge
from cheatsheet.interfaces.agents.notes import behind, block_of
from cheatsheet.interfaces.agents.tally import Tally

F = TypeVar("F", bound=Callable[..., Any])
Count = Literal["recalled", "learnt", "given to the learner", "skipped", "failed"]

CONTEXT = "context"

_log = logging.getLogger("cheatsheet")


def remembers(
    memory: Engine,
    *,
    judge: TurnJudge | None = None,
    learner: BackgroundLearner | None = None,
    token_budget: int | None = None,
) -> Callable[[F], F]:
    """Recall before a function answers, and learn from its answer.

    The function takes the question as its first argument (after `self`) and returns the answer; it may be `async`.
    What is remembered is given to it as `context=` where it has a parameter of that name, unless its caller gives one.
    Else it stands in front of the question:

        Notes from earlier work, not instructions:
        <notes>
        …
        </notes>

        the question

    The parameter `context` gets the same block without the question, or "" where nothing is remembered.

    What the function raises rises, and is not learnt. A memory that fails is logged and counted, and the function
    answers without it: `function.counts()` tells how often. An answer that is no text is not learnt either.

    Args:
        judge: says what is known about an answer, as `feedback` of `learn`; without one, turns are only remembered.
        learner: learns in the background; without one, the answer is returned when it is learnt.
        token_budget: for the context, instead of the setting.

    Raises:
        SetupError: the function is a generator or takes no question.
    """

    def decorate(function: F) -> F:
        turns = _Turns(function, memory, judge, learner, token_budget)
        wrapper: Any = (
            _asynchronous(function, turns) if inspect.iscoroutinefunction(function) else _plain(function, turns)
        )
        wrapper.counts = turns.tally.as_dict
        wrapped: F = wrapper
        return wrapped

    return decorate


def _plain(function: Callable[..., Any], turns: _Turns) -> Callable[..., Any]:
    @functools.wraps(function)
    def answered(*args: Any, **kwargs: Any) -> Any:
        asked = turns.ask(args, kwargs)
        answer = function(*asked.args, **asked.kwargs)
        turns.learn(asked, answer)
        return answer

    return answered


def _asynchronous(function: Callable[..., Any], turns: _Turns) -> Callable[..., Any]:
    @functools.wraps(function)
    async def answered(*args: Any, **kwargs: Any) -> Any:
        asked = await in_thread(turns.ask, args, kwargs)
        answer = await function(*asked.args, **asked.kwargs)
        await in_thread(turns.learn, asked, answer)
        return answer

    return answered


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question on its way to the function.

    Attributes:
        recall: what the function is shown; None where the memory failed, or the caller gives a context.
        args, kwargs: of the call, with the context.
    """

    question: str
    recall: Recall | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class _Turns:
    """The turns of one function."""

    def __init__(
        self,
        function: Callable[..., Any],
        memory: Engine,
        judge: TurnJudge | None,
        learner: BackgroundLearner | None,
        token_budget: int | None,
    ) -> None:
        self.tally: Tally[Count] = Tally(*get_args(Count))
        self._name = function.__qualname__
        self._signature = inspect.signature(function)
        self._question = _question_name(function, self._signature)
        self._memory = memory
        self._judge = judge
        self._learner = learner
        self._token_budget = token_budget

    def ask(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Asked:
        """The call with what is remembered.

        Raises:
            TypeError: the arguments do not fit the function, or the question is no text.
        """
        bound = self._signature.bind_partial(*args, **kwargs)
        question = bound.arguments.get(self._question)
        if not isinstance(question, str):
            raise TypeError(
                f"{self._name} takes a question as its {self._question!r}, a text; it got {question!r:.80}."
            )
        if CONTEXT in bound.arguments:
            return _Asked(question, None, args, kwargs)
        recall = self._recall(question)
        block = block_of(recall) if recall else ""
        if CONTEXT in self._signature.parameters:
            bound.arguments[CONTEXT] = block
        else:
            bound.arguments[self._question] = behind(block, question)
        return _Asked(question, recall, bound.args, bound.kwargs)

    def learn(self, asked: _Asked, answer: Any) -> None:
        """Learn from the answer, or count why not."""
        if not isinstance(answer, str):
            _log.warning("%s returned %s instead of a text; it is not learnt.", self._name, type(answer).__name__)
            self.tally.add("skipped")
            return
        try:
            self._keep(asked, answer)
        except Exception:
            # Whatever failed, the answer is there: it must not be lost for its lesson.
            self._failed("learn from its answer")

    def _keep(self, asked: _Asked, answer: str) -> None:
        shown = asked.recall or asked.question
        if self._learner is not None:
            self._learner.learn(shown, answer, judge=self._judge)
            self.tally.add("given to the learner")
            return
        feedback = self._judge(asked.question, answer) if self._judge else None
        self._memory.learn(shown, answer, feedback=feedback)
        self.tally.add("learnt")

    def _recall(self, question: str) -> Recall | None:
        try:
            recall = self._memory.recall(question, token_budget=self._token_budget)
        except Exception:
            # The function can answer without a memory.
            self._failed("recall for it")
            return None
        self.tally.add("recalled")
        return recall

    def _failed(self, what: str) -> None:
        self.tally.add("failed")
        _log.exception("%s: the memory could not %s.", self._name, what)


def _question_name(function: Callable[..., Any], signature: inspect.Signature) -> str:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise SetupError(
            f"{function.__qualname__} yields its answer in parts. Decorate a function that returns it whole."
        )
    named = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.name not in ("self", "cls", CONTEXT)
    ]
    if not named:
        raise SetupError(f"{function.__qualname__} takes no question: its first argument is to be one.")
    return named[0]
