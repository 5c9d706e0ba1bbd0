"""What the tools work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cheatsheet.engine.results import Recall
from cheatsheet.interfaces.mcp.opened import OpenedOnce
from cheatsheet.interfaces.mcp.turns import TurnBook

# The engine takes seconds to import, and is imported when it is opened.
if TYPE_CHECKING:
    from cheatsheet.engine.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """What an agent starts from.

    Attributes:
        recall: what the memory's part of it comes from, so that the turn can be learnt; None where there is none.
        notes: what the agent should know about it.
    """

    text: str
    recall: Recall | None = None
    notes: tuple[str, ...] = ()


ContextFor = Callable[["Engine", str, bool], Briefing]
"""Makes the context for a question; the bool says whether it is for a sub-agent, which gets a minimal one."""

AppendLog = Callable[[str], str]
"""Adds an entry to today's log; returns the name of the log."""

AfterTurn = Callable[["Engine", str, str, str], tuple[str, ...]]
"""Told of a question, its answer and what is known of it once the turn is learnt; returns what went wrong."""

Clock = Callable[[], datetime]


def nothing_after(engine: Engine, question: str, answer: str, outcome: str) -> tuple[str, ...]:
    """A turn is learnt, and that is all."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the tools work with."""

    engine: OpenedOnce
    context_for: ContextFor
    append_log: AppendLog
    turns: TurnBook
    after_turn: AfterTurn = nothing_after


def brief_from_memory(engine: Engine, query: str, minimal: bool) -> Briefing:
    """The context that the memory alone gives; what was learnt is as true for a sub-agent."""
    recall = engine.recall(query)
    return Briefing(text=recall.text, recall=recall, notes=recall.notes)
