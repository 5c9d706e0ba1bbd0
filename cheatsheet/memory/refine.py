"""Refine: what is expired, harmful or over the limit is archived (ACE, arXiv 2510.04618, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol

from cheatsheet.errors import SettingsError
from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.operations import Operation, Remove
from cheatsheet.memory.view import MemoryView

Trigger = Literal["proactive", "lazy", "off"]
PAGE = 1
"""Most often the first bullet says that there is nothing to do."""


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
        helpful_weight: what a helpful vote counts; above 0.
        harmful_weight: what a harmful vote takes away.
        harmful_votes: a bullet with at least so many harmful votes and a utility below zero is archived.
        half_life: after so long without use, a bullet's votes count half when it is decided what goes over the limit;
            None: they do not age.
    """

    trigger: Trigger = "proactive"
    max_bullets: int | None = None
    max_sheet_tokens: int | None = None
    helpful_weight: float = 1.0
    harmful_weight: float = 1.0
    harmful_votes: int = 3
    half_life: timedelta | None = None

    def __post_init__(self) -> None:
        if self.helpful_weight <= 0:
            raise SettingsError(f"helpful_weight is {self.helpful_weight}; it must be above 0, as 1.0 is.")
        if self.half_life is not None and self.half_life <= timedelta():
            raise SettingsError(
                f"half_life is {self.half_life}; it must be above 0, or None for votes that do not age."
            )

    @property
    def order_weight(self) -> float:
        """The harmful weight that ranks bullets as both weights together do, where a helpful vote counts 1."""
        return self.harmful_weight / self.helpful_weight

    def utility(self, bullet: Bullet) -> float:
        """The utility of a bullet with these weights, whatever its age."""
        return bullet.utility(self.harmful_weight, helpful_weight=self.helpful_weight)

    def utility_at(self, bullet: Bullet, now: datetime) -> float:
        """The utility with votes that have aged: they count half after each `half_life` without use."""
        if self.half_life is None:
            return self.utility(bullet)
        age = max(now - _last_seen(bullet), timedelta())
        return float(self.utility(bullet) * 0.5 ** (age / self.half_life))


def refine(memory: RefinableView, policy: RefinePolicy, *, now: datetime) -> list[Remove]:
    """What is to be archived now; nothing is destroyed. Pinned bullets stay, whatever they are.

    Each removal says why. Refining twice is refining once: after the operations are applied, the same call returns
    none.

    Args:
        memory: ranks bullets with the weight `policy.order_weight` in the order `worst`.
    """
    if not _due(memory, policy):
        return []
    gone: dict[str, Remove] = {}
    for bullet, reason in (*_expired(memory, now), *_harmful(memory, policy)):
        gone.setdefault(bullet.id, Remove(id=bullet.id, reason=reason))
    _trim(memory, policy, gone, now)
    return list(gone.values())


def refinement_notes(operations: Iterable[Operation], memory: RefinableView, policy: RefinePolicy) -> tuple[str, ...]:
    """What was archived and why, and which limit could not be kept, one sentence each.

    Args:
        operations: what was applied; only removals are told of.
        memory: as it is afterwards.
    """
    archived = [operation for operation in operations if isinstance(operation, Remove)]
    told = [f"{removal.id} was archived: {removal.reason or 'no reason was given'}." for removal in archived]
    return (*told, *_unkept(memory, policy))


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
            yield bullet, f"expired on {bullet.expires_at:%Y-%m-%d}"


def _harmful(memory: MemoryView, policy: RefinePolicy) -> Iterator[tuple[Bullet, str]]:
    for bullet in _pages(memory, "worst"):
        if policy.utility(bullet) >= 0:
            return
        if not bullet.pinned and bullet.harmful >= policy.harmful_votes:
            yield bullet, f"harmful {bullet.harmful} times, helpful {bullet.helpful}"


def _trim(memory: RefinableView, policy: RefinePolicy, gone: dict[str, Remove], now: datetime) -> None:
    """Archive the worst until count and tokens are within their limits."""
    if policy.max_bullets is None and policy.max_sheet_tokens is None:
        return
    count = memory.count_bullets() - len(gone)
    tokens = 0
    if policy.max_sheet_tokens is not None:
        tokens = memory.sheet_tokens() - sum(_tokens_of(memory, id) for id in gone)
    if _over(policy, count, tokens) is None:
        return
    for bullet in _worst_first(memory, policy, now):
        reason = _over(policy, count, tokens)
        if reason is None:
            return
        if bullet.pinned or bullet.id in gone:
            continue
        gone[bullet.id] = Remove(id=bullet.id, reason=reason)
        count -= 1
        tokens -= estimate_tokens(bullet.content)


def _over(policy: RefinePolicy, count: int, tokens: int) -> str | None:
    """Over which limit the memory is; None when it keeps them."""
    if policy.max_bullets is not None and count > policy.max_bullets:
        return f"over the limit of {policy.max_bullets} bullet{'' if policy.max_bullets == 1 else 's'}"
    if policy.max_sheet_tokens is not None and tokens > policy.max_sheet_tokens:
        return f"over the limit of {policy.max_sheet_tokens} token{'' if policy.max_sheet_tokens == 1 else 's'}"
    return None


def _unkept(memory: RefinableView, policy: RefinePolicy) -> Iterator[str]:
    if (policy.max_bullets is None and policy.max_sheet_tokens is None) or not _due(memory, policy):
        return
    tokens = 0 if policy.max_sheet_tokens is None else memory.sheet_tokens()
    reason = _over(policy, memory.count_bullets(), tokens)
    if reason is not None:
        yield f"The memory is {reason}, because the bullets that are left are pinned. Unpin some, or raise the limit."


def _worst_first(memory: MemoryView, policy: RefinePolicy, now: datetime) -> Iterable[Bullet]:
    """Active bullets in the order in which they go.

    Aged utility is no column, and its order changes with time, so all active bullets are read; that happens only while
    the memory is over a limit, which bounds how many they are.
    """
    if policy.half_life is None:
        return _pages(memory, "worst")
    return sorted(memory.bullets(), key=lambda bullet: (policy.utility_at(bullet, now), *_least_recent(bullet)))


def _least_recent(bullet: Bullet) -> tuple[datetime, int]:
    return _last_seen(bullet), -(number_of(bullet.id) or 0)


def _last_seen(bullet: Bullet) -> datetime:
    return bullet.last_used_at or bullet.created_at


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
