"""What the part of the day does to the context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from cheatsheet.context.providers.time_mode import TimeMode

Detail = Literal["brief", "normal", "full"]

CORE_FILES: Final = ("IDENTITY.md", "SOUL.md", "USER.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What one part of the day does.

    Attributes:
        emoji: its sign.
        asks: what it asks for, a sentence each.
        greeting: of a fresh session; empty for none.
        detail: of workspace and tool settings: little, the usual, or all.
        only: the sections that are loaded; None loads all.
        skips: sections that are not.
        raised: by how much a section's priority is raised or lowered.
        yesterday: whether yesterday's log is loaded.
    """

    emoji: str
    asks: tuple[str, ...]
    greeting: str = ""
    detail: Detail = "normal"
    only: frozenset[str] | None = None
    skips: frozenset[str] = frozenset()
    raised: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    yesterday: bool = False


EFFECTS: Final[Mapping[TimeMode, Effect]] = MappingProxyType(
    {
        TimeMode.MORNING: Effect(
            emoji="☀️",
            greeting="Good morning",
            asks=(
                "The day begins. Yesterday's log stands below, where there is one.",
                "Suggest a look at today's to-dos before other work starts.",
            ),
            yesterday=True,
        ),
        TimeMode.WORK: Effect(
            emoji="💼",
            asks=("Working hours. Everything is loaded; use the skills that fit the task.",),
            detail="full",
            raised=MappingProxyType({"skills": 1}),
        ),
        TimeMode.BREAK: Effect(
            emoji="🍜",
            asks=("A break. Keep it light and short; work that can wait can wait.",),
            detail="brief",
            skips=frozenset({"TOOLS.md", "HEARTBEAT.md"}),
            raised=MappingProxyType({"workspace": -2, "skills": -2}),
        ),
        TimeMode.EVENING: Effect(
            emoji="🌙",
            asks=(
                "The day ends. Where it fits, suggest a look back: what went well, and what to do otherwise.",
                "Remind the user to distil what should last from today's log into MEMORY.md.",
                "Offer to tidy today's log, and to sum up the day in a few lines.",
            ),
        ),
        TimeMode.NIGHT: Effect(
            emoji="😴",
            asks=(
                "Night. Only the core of the context is loaded; answer what is asked, and leave projects for the day.",
            ),
            detail="brief",
            only=frozenset({*CORE_FILES, "home-files", "time-mode", "session"}),
        ),
    }
)
