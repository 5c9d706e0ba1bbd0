"""Runtime facts: what the agent runs on, and which day it is."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import datetime

from cheatsheet.context.fence import one_line, printable
from cheatsheet.context.providers.provider import ContextRequest, Provided
from cheatsheet.context.section import Item, Section

RUNTIME_PRIORITY = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeFacts:
    """What does not change while a process runs."""

    python: str
    system: str

    @classmethod
    def here(cls) -> RuntimeFacts:
        """The facts of this process."""
        return cls(python=platform.python_version(), system=f"{platform.system()} {platform.machine()}".strip())


@dataclass(frozen=True, slots=True)
class RuntimeProvider:
    """One section: the date in the user's zone, the folder's name, Python and the system."""

    name: str = "runtime"
    facts: RuntimeFacts = field(default_factory=RuntimeFacts.here)

    def provide(self, request: ContextRequest) -> Provided:
        lines = [f"Date: {day_text(request.now)} ({zone_text(request.now)})"]
        if request.workspace is not None:
            lines.append(f"Folder: {one_line(printable(request.workspace.absolute().name) or '/')}")
        lines.append(f"Python {self.facts.python} on {self.facts.system}")
        section = Section(
            name="runtime",
            priority=RUNTIME_PRIORITY,
            text="# Runtime\n",
            items=tuple(Item(text=f"- {line}") for line in lines),
            stable=True,
        )
        return Provided(sections=(section,))


def day_text(moment: datetime) -> str:
    """`Monday, 2026-01-05`, in English whatever the locale is."""
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return f"{days[moment.weekday()]}, {moment.date().isoformat()}"


def zone_text(moment: datetime) -> str:
    """The time zone by its name, such as `Europe/Berlin`, or by its offset."""
    return str(moment.tzinfo)
