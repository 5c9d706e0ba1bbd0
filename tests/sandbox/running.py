"""Programs for tests, and what is left of them."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def new_token() -> str:
    """A word that stands in the arguments of one process only."""
    return f"token-{uuid.uuid4().hex}"


def alive_with(token: str) -> list[int]:
    """Processes that have the token among their arguments."""
    return [process for process in _processes() if token.encode() in _read(process, "cmdline")]


def zombies() -> list[int]:
    """Children of this process that have ended and that nobody has waited for."""
    own = str(os.getpid()).encode()
    found: list[int] = []
    for process in _processes():
        state, parent, *_ = _read(process, "stat").rpartition(b")")[2].split() or [b"", b""]
        if state == b"Z" and parent == own:
            found.append(process)
    return found


def sleeper(token: str) -> str:
    """Source of an expression: the arguments of a child that sleeps for a minute."""
    return f"[sys.executable, '-c', 'import time; time.sleep(60)', {token!r}]"


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _read(process: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{name}").read_bytes()
    except OSError:  # it has ended meanwhile
        return b""
