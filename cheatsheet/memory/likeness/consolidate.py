"""Consolidate: bullets of a memory that say the same become one, as after an import or with another threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress

from cheatsheet.memory.bullet import RESTATEMENT, Bullet, number_of
from cheatsheet.memory.likeness.facts import facts_of
from cheatsheet.memory.likeness.grow import apart, later, may_be_near, near
from cheatsheet.memory.likeness.merger import Merger, merged_words
from cheatsheet.memory.likeness.sameness import contains
from cheatsheet.memory.operations import Merge, Operation, Update
from cheatsheet.memory.view import MemoryView


@dataclass(slots=True)
class Consolidated:
    """Merges among the bullets of a memory, and one sentence for each."""

    operations: list[Operation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def consolidate(
    memory: MemoryView, *, threshold: float, merger: Merger | None = None, utility: Mapping[str, float] | None = None
) -> Consolidated:
    """Find bullets that say the same, and merge them.

    Each bullet is compared with its nearest ones, which the index finds, whatever their section. One that says all that
    others of its kind say takes them in; a chain of likenesses does not merge its ends unless they say the same
    themselves. Every bullet is in at most one merge. Of a group, the id of the pinned bullet survives, else that of the
    one with the highest utility, else the oldest; the words are those that say most. Pinned bullets are never taken in,
    and their words stay. Consolidating twice is consolidating once, where the words are found by rule.

    Args:
        threshold: cosine in [-1, 1] from which on texts may be the same.
        merger: finds the words of a merge; None for the rule.
        utility: of bullets, by id; by default `Bullet.utility()`.
    """
    found = Consolidated()
    gone: set[str] = set()
    for bullet, others in sorted(_near_ones(memory, threshold), key=_saying_most_first):
        if bullet.id in gone:
            continue
        group = [bullet, *(other for other in others if other.id not in gone and _takes_in(bullet, other))]
        if len(group) > 1:
            gone.update(one.id for one in group)
            _merge(group, merger, utility or {}, found)
    return found


def _near_ones(memory: MemoryView, threshold: float) -> Iterator[tuple[Bullet, list[Bullet]]]:
    """The bullets that have others near them, and these others, oldest first."""
    bullets = memory.bullets()
    company = may_be_near([bullet.content for bullet in bullets], memory, threshold, known=True)
    for bullet in compress(bullets, company):
        hits = near(bullet.content, memory, threshold)
        others = [hit.value for hit in hits if hit.value.id != bullet.id and hit.value.kind == bullet.kind]
        if others:
            yield bullet, sorted(others, key=_age)


def _saying_most_first(pair: tuple[Bullet, list[Bullet]]) -> tuple[bool, int, int]:
    bullet, _ = pair
    return not bullet.pinned, -len(facts_of(bullet.content).content), _age(bullet)


def _age(bullet: Bullet) -> int:
    return number_of(bullet.id) or 0


def _takes_in(bullet: Bullet, other: Bullet) -> bool:
    """The bullet says all that the other says."""
    return not other.pinned and not contains(other.content, bullet.content) and apart(bullet, other) is None


def _merge(group: Sequence[Bullet], merger: Merger | None, utility: Mapping[str, float], found: Consolidated) -> None:
    """One merge; the first of the group has the words that say most."""
    owner = group[0]
    survivor = owner if owner.pinned else min(group, key=lambda bullet: _surviving_first(bullet, utility))
    absorbed = tuple(bullet.id for bullet in group if bullet is not survivor)
    words = owner.content
    if not owner.pinned:
        words = merged_words([bullet.content for bullet in group], merger, found.notes)
    content = words if words != survivor.content else None
    found.operations.append(Merge(into=survivor.id, absorbed=absorbed, content=content))
    found.operations += _properties(survivor, group)
    found.notes.append(f"{', '.join(absorbed)} {'was' if len(absorbed) == 1 else 'were'} merged into {survivor.id}.")


def _surviving_first(bullet: Bullet, utility: Mapping[str, float]) -> tuple[float, int]:
    return -utility.get(bullet.id, bullet.utility()), _age(bullet)


def _properties(survivor: Bullet, group: Sequence[Bullet]) -> list[Update]:
    """What the survivor must become beyond the merge: it expires with the last, and restates only if all do."""
    changes: dict[str, object] = {}
    expires_at = survivor.expires_at
    for bullet in group:
        expires_at = later(expires_at, bullet.expires_at)
    if expires_at != survivor.expires_at:
        changes["expires_at"] = expires_at
    restating = [RESTATEMENT in bullet.tags for bullet in group]
    if any(restating) and not all(restating):
        tags = dict.fromkeys(tag for bullet in (survivor, *group) for tag in bullet.tags if tag != RESTATEMENT)
        changes["tags"] = tuple(tags)
    return [Update.model_validate({"id": survivor.id} | changes)] if changes else []
