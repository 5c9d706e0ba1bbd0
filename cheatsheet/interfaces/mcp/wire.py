"""Standard input and output, kept for the protocol alone.

Whatever else is printed in this process or by its children goes to standard error: a single line of a progress bar
between two messages ends a session (microsoft/azure-devops-mcp#147). Imports nothing that might print.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from cheatsheet.errors import SetupError


@dataclass(frozen=True, slots=True)
class Wire:
    """Two file descriptors: messages of the peer are read from one, ours are written to the other."""

    read_fd: int
    write_fd: int


def claim_stdio() -> Wire:
    """Keep file descriptors 0 and 1 for the protocol.

    Afterwards 0 is the null device and 1 is standard error, for this process and all that it starts.

    Raises:
        SetupError: one of them is closed.
    """
    sys.stdout.flush()
    try:
        wire = Wire(_duplicate(0), _duplicate(1))
    except OSError as error:
        raise SetupError(
            f"Standard input or output is closed ({error.strerror}). An MCP client starts this command with pipes; "
            f"to serve clients that connect by themselves, use --transport http."
        ) from error
    _divert(os.open(os.devnull, os.O_RDONLY), 0)
    _divert(_stderr_or_null(), 1)
    sys.stdout = sys.stderr
    return wire


def _duplicate(fd: int) -> int:
    """Another descriptor of the same file, above the standard ones, which children do not get."""
    duplicate = os.dup(fd)
    if duplicate > 2:
        return duplicate
    try:
        return _duplicate(fd)
    finally:
        os.close(duplicate)


def _divert(source: int, target: int) -> None:
    os.dup2(source, target)
    os.close(source)


def _stderr_or_null() -> int:
    try:
        return os.dup(2)
    except OSError:  # standard error is closed
        return os.open(os.devnull, os.O_WRONLY)
