"""Memories that are open while the process is forked.

A process that is forked off has a copy of SQLite's connections and of what SQLite knows of the locks on each file, but
not the locks. Even a connection that it opens itself relies on that copy: when the process that forked closes the
memory, the log is deleted under it, and what it has committed is gone. So no connection may be open at the moment of
the fork (sqlite.org/howtocorrupt.html, section 2.6).
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Protocol
from weakref import WeakSet

from cheatsheet.errors import StoreError


class Forkable(Protocol):
    """What has connections open.

    Attributes:
        path: of the memory, as people know it.
        place: the same for all that have the same file open, and for nothing else.
    """

    path: str
    place: str

    def before_fork(self) -> bool:
        """Let nobody in, and close all connections; returns whether that could be done."""
        ...

    def after_fork(self) -> None: ...

    def after_fork_in_child(self) -> None: ...


_open: WeakSet[Forkable] = WeakSet()
_opening = threading.Lock()
_paused: list[Forkable] = []
_in_use: set[str] = set()  # places that could not be closed before the last fork
_torn: set[str] = set()  # places that cannot be used in this process


def watch(memory: Forkable) -> None:
    """Close its connections whenever this process is forked."""
    with _opening:
        _open.add(memory)


def check(memory: Forkable) -> None:
    """Refuse a memory that was in use while this process was forked off.

    Raises:
        StoreError: it was.
    """
    if is_torn(memory):
        raise StoreError(
            f"The memory {memory.path} was being read or written by another thread when this process was forked off, "
            f"so it cannot be used here. Start the process with multiprocessing's 'spawn' or 'forkserver', or fork "
            f"while nothing uses the memory."
        )


def is_torn(memory: Forkable) -> bool:
    """Whether a memory was in use while this process was forked off."""
    return memory.place in _torn


def _before() -> None:
    _opening.acquire()
    _paused[:] = _open
    _in_use.clear()
    _in_use.update(memory.place for memory in _paused if not memory.before_fork())


def _after() -> None:
    for memory in reversed(_paused):
        memory.after_fork()
    _paused.clear()
    _opening.release()


def _after_in_child() -> None:
    _torn.update(_in_use)
    for memory in _paused:
        memory.after_fork_in_child()
    _paused.clear()
    _opening.release()


if sys.platform != "win32":
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
