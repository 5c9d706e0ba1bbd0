"""How many tokens a context may take."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Literal

from cheatsheet.errors import BudgetError


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The room of one compilation, and where it comes from.

    Attributes:
        tokens: what may be used: `asked_tokens`, or what the window leaves where that is less.
        cap: which of the two it is.
        asked_tokens: the budget as given.
        window_tokens: the model's window for prompt and answer together; None when unknown.
        reserved_tokens: kept free within the window, for the answer and the rest of the prompt.
    """

    tokens: int
    cap: Literal["budget", "window"]
    asked_tokens: int
    window_tokens: int | None = None
    reserved_tokens: int = 0

    @property
    def reason(self) -> str:
        """One sentence that says which cap held."""
        if self.cap == "budget":
            return f"{self.tokens:,} tokens, as asked."
        return (
            f"{self.tokens:,} tokens: the model's window of {self.window_tokens:,} less the {self.reserved_tokens:,} "
            f"reserved; {self.asked_tokens:,} were asked."
        )


def effective_budget(*, budget_tokens: int, window_tokens: int | None = None, reserved_tokens: int = 0) -> Budget:
    """The smaller of the budget and of what the window leaves after the reserve, never below 0.

    Raises:
        BudgetError: one of the numbers is negative or no whole number.
    """
    asked = _tokens("budget_tokens", budget_tokens)
    reserved = _tokens("reserved_tokens", reserved_tokens)
    if window_tokens is None:
        return Budget(tokens=asked, cap="budget", asked_tokens=asked, reserved_tokens=reserved)
    window = _tokens("window_tokens", window_tokens)
    left = max(0, window - reserved)
    return Budget(
        tokens=min(asked, left),
        cap="budget" if asked <= left else "window",
        asked_tokens=asked,
        window_tokens=window,
        reserved_tokens=reserved,
    )


def _tokens(name: str, value: Any) -> int:
    """The number as an int; NumPy's integers are welcome, True and 0.5 are somebody's mistake."""
    try:
        tokens = operator.index(value)
    except TypeError:
        tokens = -1
    if isinstance(value, bool) or tokens < 0:
        raise BudgetError(f"{name} is {value!r}; give a whole number of tokens, 0 or more.")
    return tokens
