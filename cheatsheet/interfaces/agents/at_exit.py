"""What is done for learners when the program ends, and in a child that is forked."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from typing import Protocol


class EndsWithTheProgram(Protocol):
    """Has work that must not be lost when the program ends."""

    def drain_at_exit(self) -> None: ...

    def start_anew(self) -> None: ...


_those: weakref.WeakSet[EndsWithTheProgram] = weakref.WeakSet()


def look_after(one: EndsWithTheProgram) -> None:
    """Call its `drain_at_exit` when the program ends, and its `start_anew` in every child that is forked."""
    _those.add(one)


def tell(sentence: str) -> None:
    """Print to stderr, if there is one: at the program's end, logging may be over."""
    if sys.stderr is not None:
        print(f"cheatsheet: {sentence}", file=sys.stderr)


def _drain_all() -> None:
    for one in list(_those):
        one.drain_at_exit()


def _start_all_anew() -> None:
    for one in list(_those):
        one.start_anew()


# Exit handlers run after threads that are not daemons have ended, and before daemons stop where they stand.
atexit.register(_drain_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_all_anew)
