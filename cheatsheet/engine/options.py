"""Numbers and functions that an engine is given."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cheatsheet.context.compiler import Order, Overflow
from cheatsheet.engine.outside import Outside
from cheatsheet.engine.results import Turn
from cheatsheet.memory.evict import EvictPolicy
from cheatsheet.memory.experience import Feedback
from cheatsheet.memory.gate.guard_policy import GuardPolicy
from cheatsheet.memory.incoming.hooks import DraftHook
from cheatsheet.memory.incoming.quarantine import QuarantinePolicy
from cheatsheet.memory.likeness.merger import Merger
from cheatsheet.memory.refine import RefinePolicy

Judge = Callable[[str], Feedback]
"""Says what is known about an answer."""

Record = Callable[[Turn], dict[str, Any]]
"""Makes, from a turn, what the caller wants stored in the turn's own transaction (JSON)."""

Clock = Callable[[], datetime]

Timer = Callable[[], float]
"""Seconds since a moment of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Numbers and functions that the engine works with.

    Attributes:
        token_budget: the most tokens of a compiled context.
        overflow: what happens to sections that do not fit (`compile_context`).
        order: how sections stand in the context (`compile_context`).
        grow_threshold: cosine from which on a new bullet may be the same as an old one.
        merger: finds the words of a merge; None keeps those of the bullet that stays.
        guard: what no proposal may do to the memory.
        refine: what is archived after a change.
        evict: how many experiences are served.
        quarantine: what is kept but not served until a person releases it.
        mask_secrets: whether keys, tokens and passwords are masked in what is stored.
        secrets: what is masked wherever it stands, such as the key of the model.
        hooks: applied in turn to everything that wants to be a new bullet.
        compress: whether new bullets lose their filler words.
        acronyms: words and their short forms, used when `compress` is on.
        answer_rounds: how often a question is answered before the answer counts, each time with the earlier ones shown.
        context_window: of the model, in tokens; None when unknown.
        answer_tokens: room that is kept for the answer within the window.
        recall_cache: how many recalls are kept for when the same is asked of the same memory.
        outside: brings knowledge from outside from time to time.
        timer: by which turns are timed.
    """

    token_budget: int = 8_000
    overflow: Overflow = "truncate"
    order: Order = "priority"
    grow_threshold: float = 0.9
    merger: Merger | None = None
    guard: GuardPolicy = field(default_factory=GuardPolicy)
    refine: RefinePolicy = field(default_factory=RefinePolicy)
    evict: EvictPolicy = field(default_factory=EvictPolicy)
    quarantine: QuarantinePolicy = field(default_factory=QuarantinePolicy)
    mask_secrets: bool = True
    secrets: tuple[str, ...] = field(default=(), repr=False)
    hooks: tuple[DraftHook, ...] = ()
    compress: bool = False
    acronyms: Mapping[str, str] = field(default_factory=dict)
    answer_rounds: int = 1
    context_window: int | None = None
    answer_tokens: int = 2_048
    recall_cache: int = 128
    outside: Outside | None = None
    timer: Timer = time.perf_counter
