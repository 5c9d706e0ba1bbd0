"""The compiler: sections go in, a context within the budget comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

from cheatsheet.context.budget import Budget, effective_budget
from cheatsheet.context.compiled import CompiledContext, part_ids
from cheatsheet.context.layout import (
    ITEM_SEPARATOR,
    SEPARATOR,
    TURN_SEPARATOR,
    Meter,
    arranged,
    body_text,
    example_turns,
    joined_text,
    section_text,
    showable,
    turn_text,
)
from cheatsheet.context.ledger import Action, LedgerEntry, render_ledger
from cheatsheet.context.parts import fit_parts
from cheatsheet.context.section import Section
from cheatsheet.context.shorten import cut_text
from cheatsheet.errors import UnknownNameError
from cheatsheet.tokens import TokenCounter

__all__ = ["CompiledContext", "LedgerEntry", "Order", "Overflow", "compile_context", "render_ledger"]

Overflow = Literal["truncate", "stop", "skip"]
Order = Literal["priority", "cache"]


def compile_context(
    sections: Iterable[Section],
    *,
    budget_tokens: int,
    counter: TokenCounter,
    overflow: Overflow = "truncate",
    separator: str = SEPARATOR,
    window_tokens: int | None = None,
    reserved_tokens: int = 0,
    order: Order = "priority",
) -> CompiledContext:
    """Fit the sections into a token budget.

    Sections are placed by priority, high to low, ties in the order given, and joined by the separator.

    B1  Neither presentation is ever over the budget, for any text and any counter; separators count.
    B2  `truncate`, `stop`: nothing stands in the context below a section that was cut or left out.
    B3  `truncate`, `stop`: more budget never loses a section that was whole.
    B4  The ledger adds up: `got_tokens` sum to `tokens`.
    B5  The same input gives the same bytes.

    Args:
        overflow: what happens at the first section that does not fit: `truncate` shortens it to what is left and
            leaves out all below it; `stop` leaves it out too; `skip` leaves it out and tries those below.
        window_tokens: of the model, for prompt and answer together. Where it is known, the budget is at most the window
            less `reserved_tokens`, the room for the answer and the rest of the prompt.
        order: how what is kept stands in the context. `priority`: most important first. `cache`: sections that seldom
            change before the others, each by priority, so that a provider's prompt cache reaches further. Priority
            alone decides what is kept; the order may move that by a token or two at the joints.

    Raises:
        BudgetError: a budget that is negative or no whole number.
        UnknownNameError: no such overflow or order.
        ValueError: two sections of the same name.

    Source: the compiler of MiniClaw 0.5.0, whose worked example is a golden test.
    """
    if overflow not in get_args(Overflow):
        raise UnknownNameError("overflow", overflow, get_args(Overflow))
    if order not in get_args(Order):
        raise UnknownNameError("order", order, get_args(Order))
    stable_first = order == "cache"
    budget = effective_budget(budget_tokens=budget_tokens, window_tokens=window_tokens, reserved_tokens=reserved_tokens)
    compilation = _Compilation(budget, overflow, Meter(counter, separator=separator, stable_first=stable_first))
    for section in _by_priority(sections):
        compilation.place(section)
    shown = arranged(compilation.shown, stable_first=stable_first)
    return CompiledContext(
        text=joined_text(shown, separator),
        body=body_text(shown, separator),
        system=body_text(shown, separator, data=False),
        notes=body_text(shown, separator, data=True),
        examples=example_turns(shown),
        tokens=compilation.tokens,
        ledger=tuple(compilation.ledger),
        budget=budget,
        shown=tuple(shown),
    )


def _by_priority(sections: Iterable[Section]) -> list[Section]:
    ordered = sorted(sections, key=lambda section: -section.priority)
    seen: set[str] = set()
    for section in ordered:
        if section.name in seen:
            raise ValueError(f"Two sections are named {section.name!r}; the ledger tells sections by their names.")
        seen.add(section.name)
    return ordered


class _Wanted(NamedTuple):
    """What a section would add to the context, counted in full or judged by its beginning."""

    tokens: int
    exact: bool = True


class _Compilation:
    """Places one section after the other; `shown` is within the budget at every moment."""

    def __init__(self, budget: Budget, overflow: Overflow, meter: Meter) -> None:
        self.shown: list[Section] = []
        self.tokens = 0
        self.ledger: list[LedgerEntry] = []
        self._budget = budget
        self._overflow = overflow
        self._meter = meter
        self._closed_by: str | None = None

    def place(self, section: Section) -> None:
        whole = showable(section)
        if whole is None:
            self._enter(section, None, "empty", "It has nothing to show.", wanted=_Wanted(0))
            return
        wanted = self._wanted(whole)
        if self._closed_by is not None:
            reason = f"It stands below {self._closed_by!r}, which did not fit whole."
            self._enter(whole, None, "left-out", reason, wanted=wanted)
        elif self._budget.tokens and wanted.exact and self.tokens + wanted.tokens <= self._budget.tokens:
            self._enter(whole, whole, "whole", "It fits whole.", wanted=wanted)
        else:
            self._overflows(whole, wanted)

    def _overflows(self, whole: Section, wanted: _Wanted) -> None:
        left = self._budget.tokens - self.tokens
        if self._overflow != "skip":
            self._closed_by = whole.name
        shortened = self._shortened(whole, left) if self._overflow == "truncate" and left > 0 else None
        if shortened is None:
            self._enter(whole, None, "left-out", self._why_left_out(whole, left), wanted=wanted)
        else:
            part, reason = shortened
            self._enter(whole, part, "cut", reason, wanted=wanted)

    def _wanted(self, whole: Section) -> _Wanted:
        about = self._meter.clearly_over(section_text(whole), self._budget.tokens)
        if about is not None:
            return _Wanted(about, exact=False)
        return _Wanted(self._with(whole) - self.tokens)

    def _with(self, section: Section) -> int:
        """Tokens of the context if this section were added."""
        return self._meter.measure([*self.shown, section])

    def _shortened(self, whole: Section, left: int) -> tuple[Section, str] | None:
        """The section as far as it fits, and a sentence that says how far."""
        if whole.shorten == "never":
            return None
        return self._fewer_parts(whole, left) if whole.items or whole.turns else self._shorter_text(whole, left)

    def _fewer_parts(self, whole: Section, left: int) -> tuple[Section, str] | None:
        part = fit_parts(
            whole,
            budget=self._budget.tokens,
            measure=self._with,
            cost=lambda number: self._cost(whole, number),
            joint=self._meter.count(ITEM_SEPARATOR if whole.items else TURN_SEPARATOR),
        )
        if part is None:
            return None
        kind = "items" if whole.items else "examples"
        shown, all_parts = part.items or part.turns, whole.items or whole.turns
        return part, f"{left:,} tokens were left; {len(shown):,} of {len(all_parts):,} {kind} are shown."

    def _shorter_text(self, whole: Section, left: int) -> tuple[Section, str] | None:
        cut = cut_text(
            whole.text, budget=self._budget.tokens, measure=lambda text: self._with(replace(whole, text=text))
        )
        if cut is None:
            return None
        unmarked = "" if cut.marked else " There was no room to say so in the text."
        reason = (
            f"{left:,} tokens were left; {cut.shown_chars:,} of {len(whole.text):,} characters are shown.{unmarked}"
        )
        return replace(whole, text=cut.text), reason

    def _cost(self, whole: Section, part: int) -> int:
        if whole.items:
            return self._meter.count(ITEM_SEPARATOR + whole.items[part].text)
        turn = whole.turns[part]
        return max(self._meter.turn(turn), self._meter.count(TURN_SEPARATOR + turn_text(turn)))

    def _why_left_out(self, whole: Section, left: int) -> str:
        if not self._budget.tokens:
            return "The budget is 0."
        if self._overflow != "truncate":
            return f"It does not fit whole into the {left:,} tokens left."
        if whole.shorten == "never":
            return f"It does not fit into the {left:,} tokens left and may not be shortened."
        return f"Not even a part of it fits into the {left:,} tokens left."

    def _enter(self, section: Section, part: Section | None, action: Action, reason: str, *, wanted: _Wanted) -> None:
        before = self.tokens
        if part is not None:
            self.shown.append(part)
            self.tokens = self._meter.measure(self.shown)
        kept = part_ids(part) if part else ()
        shown = frozenset(kept)
        entry = LedgerEntry(
            section=section.name,
            priority=section.priority,
            wanted_tokens=wanted.tokens,
            wanted_exact=wanted.exact,
            got_tokens=self.tokens - before,
            action=action,
            reason=reason,
            kept=kept,
            dropped=tuple(id for id in part_ids(section) if id not in shown),
        )
        self.ledger.append(entry)
