"""The part of the day as a section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cheatsheet.context.providers.effects import EFFECTS
from cheatsheet.context.providers.provider import ContextRequest, Provided
from cheatsheet.context.section import Section

TIME_PRIORITY: Final = 10


@dataclass(frozen=True, slots=True)
class TimeModeProvider:
    """One section: which part of the day it is, and what it asks for. It is the same for as long as the part lasts."""

    name: str = "time-mode"

    def provide(self, request: ContextRequest) -> Provided:
        mode = request.time_mode
        effect = EFFECTS[mode]
        heading = f"# Part of the day: {mode.value} {effect.emoji} ({request.time_modes.hours(mode)})"
        text = "\n".join([heading, "", *effect.asks])
        return Provided(sections=(Section(name="time-mode", priority=TIME_PRIORITY, text=text, stable=True),))
