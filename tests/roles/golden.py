"""Texts that are reviewed as prose: each is compared with a file in tests/golden.

`UPDATE_GOLDEN=1 pytest tests/roles` writes the files anew; read the difference before it is kept.
"""

from __future__ import annotations

import os
from pathlib import Path

from cheatsheet.llm.model import Request

FOLDER = Path(__file__).parent.parent / "golden"


def check_golden(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text + "\n"


def as_text(request: Request) -> str:
    """A request as it is reviewed: each message under its role, then what else binds the answer."""
    if request.prompt is not None:
        parts = [f"=== prompt\n{request.prompt}"]
    else:
        parts = [f"=== {message['role']}\n{message['content']}" for message in request.messages]
    return "\n\n".join([*parts, f"=== choices {request.choices!r}, stop {request.stop!r}"])
