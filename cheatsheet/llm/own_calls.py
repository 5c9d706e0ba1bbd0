"""Marks model calls that a memory makes for itself, so that listeners can tell them from those of an agent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_own: ContextVar[bool] = ContextVar("cheatsheet_own_call", default=False)


@contextmanager
def own_call() -> Iterator[None]:
    """Whatever is called in this block, or in a thread that is given its context, is the memory's own."""
    token = _own.set(True)
    try:
        yield
    finally:
        _own.reset(token)


def is_own_call() -> bool:
    """Whether this runs inside an `own_call` block."""
    return _own.get()
