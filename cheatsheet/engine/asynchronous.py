"""The turns of an engine for code that runs in an event loop."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ParamSpec, Protocol, TypeVar

from cheatsheet.engine.feedback import FeedbackLike
from cheatsheet.engine.options import Judge, Record
from cheatsheet.engine.results import Lesson, Recall, Turn
from cheatsheet.memory.experience import Query

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger("cheatsheet")


async def in_thread(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function in a thread of the event loop's pool, with the context variables of the caller.

    Unlike with `asyncio.to_thread`, what was asked for is done also when the caller is cancelled, even if no thread was
    free for it yet; `asyncio.run` waits for it at its end. If it then fails, that is logged, as nobody else is told.
    """
    call = functools.partial(contextvars.copy_context().run, function, *args, **kwargs)
    running = asyncio.get_running_loop().run_in_executor(None, call)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        running.add_done_callback(functools.partial(_tell_failure, getattr(function, "__name__", "a call")))
        raise


def _tell_failure(name: str, running: asyncio.Future[Any]) -> None:
    if not running.cancelled() and (error := running.exception()) is not None:
        _log.error("%s failed after its caller was cancelled: %s", name, error, exc_info=error)


class Turns(Protocol):
    """What is done in threads: the turns of `Engine`."""

    def recall(
        self, query: str | Query, *, token_budget: int | None = None, as_of: int | str | datetime | None = None
    ) -> Recall: ...

    def learn(
        self,
        recall: Recall | Query | str | None = None,
        answer: str | None = None,
        *,
        feedback: FeedbackLike = None,
        expected: str | None = None,
        used: Sequence[str] = (),
        reasoning: str = "",
        trajectory: Iterable[Mapping[str, Any]] = (),
        turn_id: str = "",
    ) -> Lesson: ...

    def solve(
        self,
        query: str | Query,
        *,
        expected: str | None = None,
        judge: Judge | None = None,
        turn_id: str = "",
        record: Record | None = None,
    ) -> Turn: ...

    def answer(self, query: str | Query, *, expected: str | None = None, judge: Judge | None = None) -> Turn: ...


class AsyncTwins:
    """`recall`, `learn`, `solve` and `answer` with an "a" in front: the same in a thread, so that the loop goes on.

    A call that is cancelled goes on in its thread (`in_thread`): a turn is learnt whole or not at all, never by half.
    As many calls run at once as the loop's pool has threads (`loop.set_default_executor`).
    """

    async def arecall(
        self: Turns, query: str | Query, *, token_budget: int | None = None, as_of: int | str | datetime | None = None
    ) -> Recall:
        """As `recall`."""
        return await in_thread(self.recall, query, token_budget=token_budget, as_of=as_of)

    async def alearn(
        self: Turns,
        recall: Recall | Query | str | None = None,
        answer: str | None = None,
        *,
        feedback: FeedbackLike = None,
        expected: str | None = None,
        used: Sequence[str] = (),
        reasoning: str = "",
        trajectory: Iterable[Mapping[str, Any]] = (),
        turn_id: str = "",
    ) -> Lesson:
        """As `learn`. It is learnt also when the caller is cancelled meanwhile."""
        return await in_thread(
            self.learn,
            recall,
            answer,
            feedback=feedback,
            expected=expected,
            used=used,
            reasoning=reasoning,
            trajectory=trajectory,
            turn_id=turn_id,
        )

    async def asolve(
        self: Turns,
        query: str | Query,
        *,
        expected: str | None = None,
        judge: Judge | None = None,
        turn_id: str = "",
        record: Record | None = None,
    ) -> Turn:
        """As `solve`; `judge` and `record` are called in the thread. A cancelled turn is lived to its end."""
        return await in_thread(self.solve, query, expected=expected, judge=judge, turn_id=turn_id, record=record)

    async def aanswer(
        self: Turns, query: str | Query, *, expected: str | None = None, judge: Judge | None = None
    ) -> Turn:
        """As `answer`."""
        return await in_thread(self.answer, query, expected=expected, judge=judge)
