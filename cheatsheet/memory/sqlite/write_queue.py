"""A lock that is given in the order in which it was asked for."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class WriteQueue:
    """One thread at a time, first come first served, so that nobody waits for ever behind others that come again.

    `threading.Lock` promises no order: a thread that writes in a loop can take it again and again before one that was
    woken has had its turn. The thread that has the lock may take it again.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[tuple[int, threading.Event]] = deque()
        self._owner: int | None = None
        self._depth = 0

    @property
    def mine(self) -> bool:
        """Whether the calling thread has the lock."""
        return self._owner == threading.get_ident()

    @contextmanager
    def turn(self, timeout_s: float | None = None) -> Iterator[bool]:
        """Wait for the lock, at most so long, and hold it; yields whether it was had."""
        held = self.acquire(timeout_s)
        try:
            yield held
        finally:
            if held:
                self.release()

    def acquire(self, timeout_s: float | None = None) -> bool:
        """Whether the calling thread has the lock now; it is not had where the time ran out."""
        me, called = threading.get_ident(), threading.Event()
        with self._mutex:
            if self._owner in (None, me):
                self._owner = me
                self._depth += 1
                return True
            self._waiting.append((me, called))
        try:
            called.wait(timeout_s)
        except BaseException:  # interrupted while it waited: what was handed over meanwhile goes on to the next one
            if self._had_after_all(me, called):
                self.release()
            raise
        return self._had_after_all(me, called)

    def release(self) -> None:
        """Give the lock to whoever has waited longest, once it was released as often as it was taken."""
        with self._mutex:
            self._depth -= 1
            if self._depth:
                return
            self._owner = None
            if self._waiting:
                self._owner, called = self._waiting.popleft()
                self._depth = 1
                called.set()

    def _had_after_all(self, me: int, called: threading.Event) -> bool:
        """Whether the lock was handed over; otherwise the thread waits no longer."""
        with self._mutex:
            if not called.is_set():
                self._waiting.remove((me, called))
            return called.is_set()
