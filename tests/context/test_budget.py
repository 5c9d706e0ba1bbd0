"""Which budget holds, and which is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cheatsheet.context.budget import effective_budget
from cheatsheet.errors import BudgetError


@pytest.mark.parametrize(
    ("budget", "window", "reserved", "tokens", "cap"),
    [
        (8_000, None, 0, 8_000, "budget"),
        (8_000, None, 9_000, 8_000, "budget"),
        (8_000, 128_000, 2_048, 8_000, "budget"),
        (8_000, 4_096, 2_048, 2_048, "window"),
        (2_048, 4_096, 2_048, 2_048, "budget"),
        (8_000, 1_000, 2_048, 0, "window"),
        (0, None, 0, 0, "budget"),
    ],
)
def test_the_smaller_cap_holds(budget: int, window: int | None, reserved: int, tokens: int, cap: str) -> None:
    result = effective_budget(budget_tokens=budget, window_tokens=window, reserved_tokens=reserved)
    assert (result.tokens, result.cap) == (tokens, cap)


def test_the_reason_says_which() -> None:
    asked = effective_budget(budget_tokens=8_000)
    window = effective_budget(budget_tokens=8_000, window_tokens=4_096, reserved_tokens=2_048)
    assert asked.reason == "8,000 tokens, as asked."
    assert window.reason == "2,048 tokens: the model's window of 4,096 less the 2,048 reserved; 8,000 were asked."


@pytest.mark.parametrize("value", [-1, -5, 0.5, 1.0, True, "8000", float("nan")])
@pytest.mark.parametrize("name", ["budget_tokens", "window_tokens", "reserved_tokens"])
def test_a_budget_that_makes_no_sense_is_refused(name: str, value: Any) -> None:
    """Cases T05, T06: never the full text, never an endless loop."""
    numbers: dict[str, Any] = {"budget_tokens": 100, "window_tokens": 100, "reserved_tokens": 0, name: value}
    with pytest.raises(BudgetError, match=f"{name} is .*; give a whole number of tokens, 0 or more"):
        effective_budget(**numbers)


def test_integers_of_numpy_are_welcome() -> None:
    seven: Any = np.int64(7)
    assert type(effective_budget(budget_tokens=seven).tokens) is int
