"""Model calls between what was recalled for them and their answers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from cheatsheet.engine.results import Recall

_MOST = 1_000  # calls that never end (cancelled, or streams that nobody reads) must not fill the memory of a process


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call that is on its way.

    Attributes:
        recall: what stands in its messages; None where nothing does.
    """

    question: str
    recall: Recall | None = None


class OpenCalls:
    """Calls by their ids, for several threads; the oldest are forgotten when there are too many.

    A call without an id is found by its question.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[str, OpenCall] = OrderedDict()
        self._unnamed: OrderedDict[str, OpenCall] = OrderedDict()
        self._answered: OrderedDict[str, None] = OrderedDict()
        self._changed = threading.Condition()

    def begin(self, id: str, call: OpenCall) -> None:
        """Note a call; one of the same id is replaced, as it is a further try."""
        with self._changed:
            calls, name = (self._open, id) if id else (self._unnamed, call.question)
            calls[name] = call
            _forget_oldest(calls)

    def is_open(self, id: str) -> bool:
        """Whether the call was noted, and is not over."""
        with self._changed:
            return id in self._open

    def answered(self, id: str, question: str) -> OpenCall | None:
        """The call that was answered, an empty one where it was not noted; None where it was answered before.

        It stays open until it is `over`.
        """
        with self._changed:
            if id in self._answered:
                return None
            self._answered[id] = None
            _forget_oldest(self._answered)
            unnamed = self._unnamed.pop(question, None)
            return self._open.get(id) or unnamed or OpenCall(question=question)

    def over(self, id: str) -> None:
        """The call has failed, so that a further try of it may begin, or its answer was taken in."""
        with self._changed:
            self._open.pop(id, None)
            self._changed.notify_all()

    def wait(self, timeout_s: float) -> bool:
        """Wait until no call is open; false when the time is over first. Calls without an id are not waited for."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._open, timeout_s)


def _forget_oldest(calls: OrderedDict[str, OpenCall] | OrderedDict[str, None]) -> None:
    while len(calls) > _MOST:
        calls.popitem(last=False)
