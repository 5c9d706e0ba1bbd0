"""First-run instructions: `BOOTSTRAP.md`, shown while it is there and a session begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cheatsheet.context.providers.files import read_file
from cheatsheet.context.providers.home_files import file_section
from cheatsheet.context.providers.provider import ContextRequest, Provided

BOOTSTRAP_FILE: Final = "BOOTSTRAP.md"
BOOTSTRAP_PRIORITY: Final = 2


@dataclass(frozen=True, slots=True)
class BootstrapProvider:
    """One section with the file as it stands; none where the session goes on."""

    name: str = "bootstrap"

    def provide(self, request: ContextRequest) -> Provided:
        read = read_file(request.home, BOOTSTRAP_FILE, max_bytes=request.limits.file_bytes)
        if request.continuation.is_continuation or not read.text.strip():
            return Provided(files=(read.fact,))
        return Provided(sections=(file_section(BOOTSTRAP_FILE, read, BOOTSTRAP_PRIORITY),), files=(read.fact,))
