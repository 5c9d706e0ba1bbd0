"""The user's own files in the home: who the agent is, how it works, whom it serves, what it remembers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from cheatsheet.context.providers.effects import EFFECTS
from cheatsheet.context.providers.files import FileRead, read_file
from cheatsheet.context.providers.provider import ContextRequest, Provided
from cheatsheet.context.section import Section
from cheatsheet.context.shorten import cut_text

# By priority. MEMORY.md stands where the bullets of a memory mode do (`context.render.MEMORY_PRIORITY`).
HOME_FILES: Final = {
    "IDENTITY.md": 10,
    "SOUL.md": 9,
    "AGENTS.md": 9,
    "USER.md": 8,
    "MEMORY.md": 7,
    "TOOLS.md": 6,
    "HEARTBEAT.md": 4,
}


@dataclass(frozen=True, slots=True)
class HomeFilesProvider:
    """One section for each file of `HOME_FILES`: the user's own words, shown as they stand.

    TOOLS.md is shown in full in the working hours and shortened to `limits.tools_chars` at other times.
    """

    name: str = "home-files"

    def provide(self, request: ContextRequest) -> Provided:
        reads = {name: read_file(request.home, name, max_bytes=request.limits.file_bytes) for name in HOME_FILES}
        sections = (file_section(name, read, HOME_FILES[name]) for name, read in reads.items() if read.text.strip())
        return Provided(
            sections=tuple(_brief_tools(section, request) for section in sections),
            files=tuple(read.fact for read in reads.values()),
        )


def file_section(name: str, read: FileRead, priority: int) -> Section:
    """A file of the user's as a section under its name."""
    return Section(name=name, priority=priority, text=f"# {name}\n\n{read.text.strip()}", stable=True)


def _brief_tools(section: Section, request: ContextRequest) -> Section:
    limit = request.limits.tools_chars
    in_full = request.mode == "minimal" or EFFECTS[request.time_mode].detail == "full"
    if section.name != "TOOLS.md" or in_full or len(section.text) <= limit:
        return section
    cut = cut_text(section.text, budget=limit, measure=len)
    return replace(section, text=cut.text) if cut else section
