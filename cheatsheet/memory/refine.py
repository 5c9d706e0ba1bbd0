"""Refine: what is expired, harmful or over the limit is archived (ACE, arXiv 2510.04618, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.operations import Remove
from cheatsheet.memory.view import MemoryView

Trigger = Literal["proactive", "lazy", "off"]
PAGE = 8


class RefinableView(MemoryView, Protocol):
    """A view that also knows how large the sheet is."""

    def sheet_tokens(self) -> int:
        """Estimated tokens of all active bullets together."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinePolicy:
    """When refine acts, and what it keeps.

    Attributes:
        trigger: `proactive` after every update; `lazy` only when the sheet is over `max_sheet_tokens`.
        max_bullets: the most active bullets; None for no limit.
        max_sheet_tokens: the most tokens of all active bullets together; None for no limit.
        harmful_weight: how many helpful votes one harmful vote outweighs.
        harmful_votes: a bullet with at least so many harmful votes and a utility below zero is archived.
    """

    trigger: Trigger = "proactive"
    max_bullets: int | None = None
    max_sheet_tokens: int | None = None
    harmful_weight: float = 1.0
    harmful_votes: int = 3


def refine(memory: RefinableView, policy: RefinePolicy, *, now: datetime) -> list[Remove]:
    """What is to be archived now; nothing is destroyed. Pinned bullets stay, whatever they are.

    Refining twice is refining once: after the operations are applied, the same call returns none.
    """
    if not _due(memory, policy):
        return []
    gone: dict[str, Remove] = {}
    for bullet, reason in (*_expired(memory, now), *_harmful(memory, policy)):
        gone.setdefault(bullet.id, Remove(id=bullet.id, reason=reason))
    _trim(memory, policy, gone)
    return list(gone.values())


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is: four ASCII characters a token, one for every other character.

    Cheap and the same on every machine, so that it can be kept beside each bullet; the compiler counts exactly.
    """
    ascii_chars = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return -(-ascii_chars // 4) + len(text) - ascii_chars


def _due(memory: RefinableView, policy: RefinePolicy) -> bool:
    if policy.trigger == "lazy":
        return policy.max_sheet_tokens is not None and memory.sheet_tokens() > policy.max_sheet_tokens
    return policy.trigger == "proactive"


def _expired(memory: MemoryView, now: datetime) -> Iterator[tuple[Bullet, str]]:
    for bullet in _pages(memory, "expiring"):
        if bullet.expires_at is None or bullet.expires_at > now:
            return
        if not bullet.pinned:
            yield bullet, "expired"


def _harmful(memory: MemoryView, policy: RefinePolicy) -> Iterator[tuple[Bullet, str]]:
    for bullet in _pages(memory, "worst"):
        if bullet.utility(policy.harmful_weight) >= 0:
            return
        if not bullet.pinned and bullet.harmful >= policy.harmful_votes:
            yield bullet, "harmful"


def _trim(memory: RefinableView, policy: RefinePolicy, gone: dict[str, Remove]) -> None:
    """Archive the worst until count and tokens are within their limits."""
    if policy.max_bullets is None and policy.max_sheet_tokens is None:
        return
    count = memory.count_bullets() - len(gone)
    tokens = 0
    if policy.max_sheet_tokens is not None:
        tokens = memory.sheet_tokens() - sum(_tokens_of(memory, id) for id in gone)
    for bullet in _pages(memory, "worst"):
        over_count = policy.max_bullets is not None and count > policy.max_bullets
        over_tokens = policy.max_sheet_tokens is not None and tokens > policy.max_sheet_tokens
        if not over_count and not over_tokens:
            return
        if bullet.pinned or bullet.id in gone:
            continue
        gone[bullet.id] = Remove(id=bullet.id, reason="over the limit")
        count -= 1
        tokens -= estimate_tokens(bullet.content)


def _tokens_of(memory: MemoryView, id: str) -> int:
    bullet = memory.bullet(id)
    return estimate_tokens(bullet.content) if bullet else 0


def _pages(memory: MemoryView, order: Literal["worst", "expiring"]) -> Iterator[Bullet]:
    """Active bullets in order, read in pages that double, so that a look at the first few costs little."""
    seen, limit = 0, PAGE
    while True:
        page = memory.bullets(order=order, limit=limit)
        yield from page[seen:]
        if len(page) < limit:
            return
        seen, limit = len(page), limit * 2
