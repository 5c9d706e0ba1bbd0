"""A lock that many readers or one writer may hold."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakSet


class ReadWriteLock:
    """Many readers at a time, or one writer alone.

    A waiting writer goes before readers that come later, so that a stream of searches cannot
    hold back an `add` for ever. It is not re-entrant: nothing may be taken while it is held.

    A fork waits for the writer, so that what the lock guards is whole in the new process. There the lock is free: those
    who held it, or waited for it, are threads of the other process.
    """

    def __init__(self) -> None:
        self._free()
        with _making:
            _locks.add(self)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the lock together with other readers."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._writing or self._writers_waiting))
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock alone."""
        with self._changed:
            self._writers_waiting += 1
            try:
                self._changed.wait_for(lambda: not (self._writing or self._readers))
            finally:
                self._writers_waiting -= 1
                self._changed.notify_all()
            self._writing = True
        try:
            yield
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()

    def before_fork(self) -> None:
        """Wait until nobody writes, and let nobody in."""
        self._changed.acquire()
        self._changed.wait_for(lambda: not self._writing)

    def after_fork(self) -> None:
        self._changed.release()

    def after_fork_in_child(self) -> None:
        self._free()

    def _free(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._writers_waiting = 0
        self._writing = False


_locks: WeakSet[ReadWriteLock] = WeakSet()
_making = threading.Lock()
_held: list[ReadWriteLock] = []


def _before() -> None:
    _making.acquire()
    _held[:] = _locks
    for lock in _held:
        lock.before_fork()


def _after() -> None:
    for lock in _held:
        lock.after_fork()
    _let_go()


def _after_in_child() -> None:
    for lock in _held:
        lock.after_fork_in_child()
    _let_go()


def _let_go() -> None:
    _held.clear()
    _making.release()


if sys.platform != "win32":
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
