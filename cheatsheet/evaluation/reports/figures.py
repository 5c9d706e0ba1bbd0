"""Numbers as people read them."""

from __future__ import annotations

from typing import Protocol

UNKNOWN = "–"
MINUS = "−"


class Spent(Protocol):
    """What has a cost."""

    @property
    def cost_usd(self) -> float | None: ...
    @property
    def cost_complete(self) -> bool: ...


def whole(value: float | None) -> str:
    """A number without its decimals."""
    return UNKNOWN if value is None else _signed(f"{value:,.0f}")


def percent(share: float | None) -> str:
    """A share from 0 to 1."""
    return UNKNOWN if share is None else f"{100 * share:.1f} %"


def span(low: float | None, high: float | None) -> str:
    """An interval of a share, in percent."""
    return UNKNOWN if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}"


def points(share: float | None) -> str:
    """A difference of shares, in percentage points, with its sign."""
    if share is None:
        return UNKNOWN
    return _signed(f"{100 * share:+.1f}") if share else "0.0"


def signed_span(low: float | None, high: float | None) -> str:
    """An interval of a difference of shares, in percentage points."""
    return UNKNOWN if low is None or high is None else f"{points(low)} to {points(high)}"


def probability(p: float | None) -> str:
    """A p value."""
    if p is None:
        return UNKNOWN
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def cost(spent: Spent) -> str:
    """What all of it cost, as far as prices are known."""
    if spent.cost_usd is None:
        return "unknown"
    return f"{'' if spent.cost_complete else '≥ '}${spent.cost_usd:.4f}"


def money(usd: float | None) -> str:
    """An amount that may be negative, or smaller than a cent of a cent."""
    if usd is None:
        return UNKNOWN
    decimals = 6 if 0 < abs(usd) < 0.001 else 4
    return f"{MINUS if usd < 0 else ''}${abs(usd):.{decimals}f}"


def count(value: float | None) -> str:
    """A number of things, or a mean of such numbers."""
    return UNKNOWN if value is None else _signed(f"{value:,.0f}" if value == int(value) else f"{value:,.1f}")


def rounded(value: float | None) -> str:
    """A number of any size, to two decimals."""
    return UNKNOWN if value is None else _signed(f"{value:,.2f}")


def _signed(text: str) -> str:
    return text.replace("-", MINUS)
