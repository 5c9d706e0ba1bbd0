"""The ledger: for every section what it wanted, what it got, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cheatsheet.context.budget import Budget

Action = Literal["whole", "cut", "left-out", "empty"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """What became of one section.

    Tokens of a section are what the context grows by when it is added to the sections before it, separator and
    chat markup included. So the `got_tokens` of a ledger add up to the tokens of the context, whatever the counter. A
    tokenizer that merges across a joint can make a number differ by one or two from the count of the section alone.

    Attributes:
        wanted_tokens: what the whole section would take where it stands.
        wanted_exact: False where the section is so much larger than the budget that only its beginning was counted.
        got_tokens: what it takes; 0 when it is left out.
        kept: ids of the items or turns that are shown, in the order shown.
        dropped: ids of those that are not.
        reason: one sentence.
    """

    section: str
    priority: int
    wanted_tokens: int
    got_tokens: int
    action: Action
    reason: str
    wanted_exact: bool = True
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def render_ledger(ledger: Sequence[LedgerEntry], budget: Budget | None = None) -> str:
    """The ledger as a plain-text table, with the total below it and, if given, the budget."""
    rows = [("section", "priority", "wanted", "got", "action", "why"), *map(_row, ledger)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    total = sum(entry.got_tokens for entry in ledger)
    lines.append(f"Used: {total:,} tokens." + (f" Budget: {budget.reason}" if budget else ""))
    return "\n".join(lines) + "\n"


def _row(entry: LedgerEntry) -> tuple[str, ...]:
    wanted = f"{'' if entry.wanted_exact else 'about '}{entry.wanted_tokens:,}"
    return entry.section, str(entry.priority), wanted, f"{entry.got_tokens:,}", entry.action, entry.reason


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    section, priority, wanted, got, action, why = (
        cell.rjust(width) if column in (1, 2, 3) else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join((section, priority, wanted, got, action, why)).rstrip()
