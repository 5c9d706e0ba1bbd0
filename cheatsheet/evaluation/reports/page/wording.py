"""How numbers are written in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from cheatsheet.evaluation.reports.figures import MINUS


def trimmed(share: float) -> str:
    """A share in percentage points, without a decimal that says nothing: "59", "12.5", "−3"."""
    text = f"{100 * share:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text.replace("-", MINUS)


def times(one: float | None, other: float | None) -> str:
    """How many times as much, as "2.1 times"; empty where it cannot be said."""
    if not one or not other:
        return ""
    ratio = one / other
    return f"{ratio:.1f} times" if ratio >= 0.95 else f"{ratio:.2f} times"


def interval(low: float | None, high: float | None) -> str:
    """The interval of a difference of shares, in words."""
    if low is None or high is None:
        return "no interval, as all questions went alike"
    return f"95 % interval {trimmed(low)} to {trimmed(high)}"


def counted(count: int, one: str, several: str = "") -> str:
    """A count and what is counted: "1 question", "40 questions"."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """Names as they stand in a sentence: "a", "a and b", "a, b and c"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
