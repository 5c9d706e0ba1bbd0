"""Files that people asked for by name."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file as a whole: whatever goes wrong, what stood there before is left as it is.

    A file that is there keeps its rights. What is no file, such as a pipe, is written as it is.

    Raises:
        OSError: it cannot be written.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    place = Path(os.path.realpath(path))  # a link goes on leading to the file; one to itself is no error here
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("xb") as file:
            if place.exists():
                draft.chmod(place.stat().st_mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
