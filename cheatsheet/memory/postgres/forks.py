"""What a process that was forked off begins anew.

It has a copy of the connections of the process that it came from, and both would write to the same sockets: what one
asks, the other may be answered. And a lock that another thread held at that moment is never given back in the copy.
"""

from __future__ import annotations

import os
import sys
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """What has connections or locks."""

    def begin_anew(self) -> None:
        """Let go of both, without a word to the server."""
        ...


_open: WeakSet[Forkable] = WeakSet()


def watch(one: Forkable) -> None:
    """Have it begin anew in every process that is forked off from this one."""
    _open.add(one)


def _in_child() -> None:
    for one in list(_open):
        one.begin_anew()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_in_child)
