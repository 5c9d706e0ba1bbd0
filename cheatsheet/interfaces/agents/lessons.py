"""Turns that wait to be learnt: a bounded queue, and what became of what was in it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal

from cheatsheet.engine.feedback import FeedbackLike
from cheatsheet.engine.lived import Answered
from cheatsheet.engine.results import Lesson
from cheatsheet.errors import NotLearntError

WhenFull = Literal["wait", "drop-newest", "raise"]

TurnJudge = Callable[[str, str], FeedbackLike]
"""Says, of a question and its answer, what is known about the answer: as `feedback` of `learn`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A turn that waits.

    Attributes:
        judge: asked for the feedback when it is learnt.
        future: gets the lesson, or the error for which there is none.
    """

    answered: Answered
    judge: TurnJudge | None = None
    future: Future[Lesson] = field(default_factory=Future)


class LessonQueue:
    """Waiting turns in order, for one that takes them and any number that bring them.

    Args:
        max_waiting: how many wait at most; those being learnt are not counted.
    """

    def __init__(self, max_waiting: int) -> None:
        self.max_waiting = max_waiting
        self._turns: deque[Waiting] = deque()
        self._changed = threading.Condition()
        self._brought = 0
        self._done = 0
        self._closed = False

    def put(self, turn: Waiting, *, wait: bool) -> bool:
        """Bring a turn; false where there is no room for it.

        Args:
            wait: until there is room.

        Raises:
            NotLearntError: the queue is closed, or was closed meanwhile.
        """
        with self._changed:
            if wait:
                self._changed.wait_for(lambda: self._closed or len(self._turns) < self.max_waiting)
            if self._closed:
                raise NotLearntError("This learner is closed and takes no more turns. Open a new BackgroundLearner.")
            if len(self._turns) >= self.max_waiting:
                return False
            self._turns.append(turn)
            self._brought += 1
            return True

    def take(self, most: int) -> list[Waiting]:
        """The next turns, at most so many; none where none waits. Each is to be reported by `done`."""
        with self._changed:
            taken = [self._turns.popleft() for _ in range(min(most, len(self._turns)))]
            self._changed.notify_all()
            return taken

    def done(self, count: int) -> None:
        """So many of the taken turns are learnt, or never will be."""
        with self._changed:
            self._done += count
            self._changed.notify_all()

    def wait(self, timeout_s: float | None) -> bool:
        """Wait until all that were brought before are done; false when the time is over first."""
        with self._changed:
            brought = self._brought
            return self._changed.wait_for(lambda: self._done >= brought, timeout_s)

    def close(self) -> None:
        """Take no more turns, and let nobody wait for room; what waits already stays."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def left(self) -> int:
        """How many wait or are being learnt."""
        with self._changed:
            return self._brought - self._done
