"""Learning in the background, so that an agent does not wait for its lessons."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Protocol, Self, get_args

from cheatsheet.engine.feedback import FeedbackLike
from cheatsheet.engine.lived import Answered
from cheatsheet.engine.results import Lesson, Recall
from cheatsheet.errors import NotLearntError, SettingsError, UnknownNameError
from cheatsheet.interfaces.agents.at_exit import look_after, tell
from cheatsheet.interfaces.agents.lessons import LessonQueue, TurnJudge, Waiting, WhenFull
from cheatsheet.interfaces.agents.tally import Tally
from cheatsheet.llm.own_calls import own_call
from cheatsheet.memory.experience import Query

Fate = Literal["learnt", "failed", "dropped", "cancelled"]

_log = logging.getLogger("cheatsheet")


class Learns(Protocol):
    """What learns; an `Engine` does."""

    def learn_batch(self, turns: Sequence[Answered]) -> list[Lesson]: ...


class BackgroundLearner:
    """Learns turns one after another in a thread, in the order in which they were given.

    What is still waiting when the program ends is learnt then, for `exit_timeout_s` at most; what is lost by that is
    told on stderr. Close the learner before its memory, and in a child made by `multiprocessing`, which ends without
    Python's exit handlers; where lessons ask a model, better close it before the program ends, as not every provider
    can be asked after that. In a child made by `os.fork` the queue is empty: the parent learns what is the parent's.

    Args:
        memory: what learns.
        max_waiting: how many turns wait at most.
        when_full: `wait` until there is room, leave the new turn out (`drop-newest`: its future then holds a
            `NotLearntError`), or `raise` it.
        batch_size: how many waiting turns are learnt together: each is reflected, one curation serves them all. If
            that fails, each is learnt alone, so that one bad turn spoils no other.
        exit_timeout_s: how long the end of the program waits.

    Raises:
        SettingsError, UnknownNameError: a number or a name that makes no sense.
    """

    def __init__(
        self,
        memory: Learns,
        *,
        max_waiting: int = 1_000,
        when_full: WhenFull = "wait",
        batch_size: int = 1,
        exit_timeout_s: float = 10.0,
    ) -> None:
        if when_full not in get_args(WhenFull):
            raise UnknownNameError("when_full", when_full, get_args(WhenFull))
        if max_waiting < 1 or batch_size < 1 or exit_timeout_s < 0:
            raise SettingsError(
                f"max_waiting ({max_waiting}) and batch_size ({batch_size}) are at least 1, and exit_timeout_s "
                f"({exit_timeout_s:g}) is not negative."
            )
        self._memory = memory
        self._max_waiting = max_waiting
        self._when_full = when_full
        self._batch_size = batch_size
        self._exit_timeout_s = exit_timeout_s
        self._at_exit = False
        self._queue: LessonQueue
        self._tally: Tally[Fate]
        self._lock: threading.Lock
        self._working: bool
        self.start_anew()
        look_after(self)

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
        judge: TurnJudge | None = None,
    ) -> Future[Lesson]:
        """As `Engine.learn`, but at once; the future gets the lesson, or the error for which there is none.

        Args:
            judge: asked for the feedback, in the learner's thread, when it is the turn's turn.

        Raises:
            NotLearntError: the learner is closed, or the queue is full and `when_full` is `raise`.
        """
        answered = Answered(
            recall=recall,
            answer=answer,
            feedback=feedback,
            expected=expected,
            used=used,
            reasoning=reasoning,
            trajectory=tuple(trajectory),
            turn_id=turn_id,
        )
        turn = Waiting(answered=answered, judge=judge)
        if not self._queue.put(turn, wait=self._when_full == "wait"):
            self._drop(turn)
        else:
            self._see_to_it()
        return turn.future

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until everything that was given so far is learnt, or failed; false when the time is over first."""
        return self._queue.wait(timeout_s)

    def close(self, timeout_s: float | None = None) -> bool:
        """Take no more turns and wait as `flush` does; closing twice is closing once."""
        self._queue.close()
        done = self.flush(timeout_s)
        if not done:
            _log.warning("%d turns are not learnt yet; they are, as long as the program runs.", self._queue.left)
        return done

    @property
    def counts(self) -> dict[str, int]:
        """How many turns were learnt, failed, were dropped or cancelled, and how many are left to do."""
        return {**self._tally.as_dict(), "left": self._queue.left}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # One thread at a time learns; it ends when nothing waits, so that a learner that is forgotten holds none.

    def _see_to_it(self) -> None:
        with self._lock:
            if self._working:
                return
            self._working = True
        if not self._at_exit:
            try:
                threading.Thread(target=self._work, name="cheatsheet-learner", daemon=True).start()
            except RuntimeError:  # the system, or an interpreter that is ending, gives no more threads
                _log.warning("No thread could be started to learn in the background; this turn is waited for.")
            else:
                return
        self._work()

    def _work(self) -> None:
        while True:
            with self._lock:
                turns = self._queue.take(self._batch_size)
                if not turns:
                    self._working = False
                    return
            with own_call():
                self._learn([turn for turn in turns if self._begin(turn)])
            self._queue.done(len(turns))

    def _begin(self, turn: Waiting) -> bool:
        begun = turn.future.set_running_or_notify_cancel()
        if not begun:
            self._tally.add("cancelled")
        return begun

    def _learn(self, turns: Sequence[Waiting]) -> None:
        judged = [(turn, answered) for turn in turns if (answered := self._judged(turn)) is not None]
        if len(judged) > 1 and self._learn_together(judged):
            return
        for turn, answered in judged:
            try:
                (lesson,) = self._memory.learn_batch([answered])
            except BaseException as error:  # SystemExit as well: the next turns have no other thread
                self._fail(turn, error)
            else:
                self._succeed(turn, lesson)

    def _learn_together(self, judged: Sequence[tuple[Waiting, Answered]]) -> bool:
        try:
            lessons = self._memory.learn_batch([answered for _, answered in judged])
        except Exception as error:
            _log.warning("%d turns could not be learnt together, and are learnt one by one: %s", len(judged), error)
            return False
        for (turn, _), lesson in zip(judged, lessons, strict=True):
            self._succeed(turn, lesson)
        return True

    def _judged(self, turn: Waiting) -> Answered | None:
        """The turn with its verdict; None where the judge failed."""
        answered = turn.answered
        if turn.judge is None:
            return answered
        try:
            return replace(answered, feedback=turn.judge(_question(answered), answered.answer or ""))
        except BaseException as error:  # as above
            self._fail(turn, error)
            return None

    # Of what becomes of a turn, the count comes first: who waits for the future finds it counted.

    def _succeed(self, turn: Waiting, lesson: Lesson) -> None:
        self._tally.add("learnt")
        turn.future.set_result(lesson)

    def _fail(self, turn: Waiting, error: BaseException) -> None:
        self._tally.add("failed")
        _log.error("A turn could not be learnt: %s", error, exc_info=error)
        turn.future.set_exception(error)

    def _drop(self, turn: Waiting) -> None:
        dropped = self._tally.add("dropped")
        error = NotLearntError(
            f"{self._max_waiting} turns wait to be learnt already. Give fewer, or raise max_waiting or batch_size."
        )
        if self._when_full == "raise":
            raise error
        if dropped & (dropped - 1) == 0:  # told ever more rarely: at 1, 2, 4, 8 …
            _log.warning("%d turns were not learnt so far: %s", dropped, error)
        turn.future.set_exception(error)

    # The end of the program, and the beginning of a forked child (`at_exit`)

    def drain_at_exit(self) -> None:
        """Learn what waits, for as long as `exit_timeout_s` allows; from now on who brings a turn learns it."""
        self._at_exit = True
        try:
            done = self.flush(self._exit_timeout_s)
        except KeyboardInterrupt:
            done = False
        left, dropped = self._queue.left, self._tally.as_dict()["dropped"]
        if not done and left:
            tell(
                f"{left} turns were not learnt within {self._exit_timeout_s:g} s of the program's end, and are lost. "
                f"Close the BackgroundLearner before, or raise its exit_timeout_s."
            )
        if dropped and self._when_full == "drop-newest":
            tell(f"{dropped} turns were not learnt, as {self._max_waiting} others were waiting already.")

    def start_anew(self) -> None:
        """With an empty queue, no thread and no lock that somebody holds."""
        self._queue = LessonQueue(self._max_waiting)
        self._tally = Tally(*get_args(Fate))
        self._lock = threading.Lock()
        self._working = False


def _question(answered: Answered) -> str:
    asked = answered.recall.query if isinstance(answered.recall, Recall) else answered.recall
    return asked.text if isinstance(asked, Query) else asked or ""
