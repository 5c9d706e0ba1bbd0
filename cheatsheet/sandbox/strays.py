"""Finds what is left of a program whose supervisor was killed, which only the program itself can have done."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

_END_S = 5.0


def end_strays(mark: str) -> None:
    """Kill every process whose environment holds the mark, and what they start meanwhile.

    A process that was started with another environment, and after the supervisor was killed, is not found.
    """
    deadline = time.monotonic() + _END_S
    while (found := _marked(mark.encode())) and time.monotonic() < deadline:
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.005)


def _marked(mark: bytes) -> list[int]:
    own = os.getpid()
    processes = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [process for process in processes if process != own and mark in _environment(process)]


def _environment(process: int) -> bytes:
    """As it was when the process started; empty for one that is gone, a zombie, or another user's."""
    try:
        return Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return b""
