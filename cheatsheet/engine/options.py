"""Numbers and functions that an engine is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cheatsheet.context.compiler import Overflow
from cheatsheet.engine.results import Turn
from cheatsheet.memory.experience import Feedback
from cheatsheet.memory.refine import RefinePolicy

Judge = Callable[[str], Feedback]
"""Says what is known about an answer."""

Record = Callable[[Turn], dict[str, Any]]
"""Makes, from a turn, what the caller wants stored in the turn's own transaction (JSON)."""

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Numbers that the engine works with.

    Attributes:
        token_budget: the most tokens of a compiled context.
        overflow: what happens to sections that do not fit (`compile_context`).
        grow_threshold: cosine from which on a new bullet may be the same as an old one.
        context_window: of the model, in tokens; None when unknown.
        answer_tokens: room that is kept for the answer within the window.
    """

    token_budget: int = 8_000
    overflow: Overflow = "truncate"
    grow_threshold: float = 0.9
    refine: RefinePolicy = field(default_factory=RefinePolicy)
    context_window: int | None = None
    answer_tokens: int = 2_048
