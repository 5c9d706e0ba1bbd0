"""Calls of a synchronous engine from an asynchronous server."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar

import anyio.to_thread

from cheatsheet.errors import CheatsheetError
from cheatsheet.safety.secrets import mask_secrets

P = ParamSpec("P")
R = TypeVar("R")


def in_thread(function: Callable[P, R], error_class: Callable[[str], Exception]) -> Callable[P, Awaitable[R]]:
    """The function as a coroutine that runs in a thread of its own, so that a long call holds up no other.

    A call that is cancelled goes on in its thread, so that what is being stored is stored.

    Args:
        error_class: what an error of ours becomes, with its sentence; others are faults, and rise.
    """

    @functools.wraps(function)
    async def call(*given: P.args, **named: P.kwargs) -> R:
        work = functools.partial(function, *given, **named)
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except CheatsheetError as error:
            raise error_class(sentence(error)) from error

    return call


def sentence(error: CheatsheetError) -> str:
    """What an error says, with its notes and without secrets."""
    notes: list[Any] = getattr(error, "__notes__", [])
    return mask_secrets("\n".join([str(error), *map(str, notes)]))
