"""Grow: new insights join the memory, near-duplicates join what is there (ACE, arXiv 2510.04618, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Protocol, runtime_checkable

import numpy as np

from cheatsheet.memory.bullet import RESTATEMENT, Bullet
from cheatsheet.memory.incoming.kinds import differing_fields
from cheatsheet.memory.likeness.merger import Merger, merged_words
from cheatsheet.memory.likeness.sameness import contains, difference, fold
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Update
from cheatsheet.memory.view import Scored
from indexes.embedder import Embedder
from indexes.numbering import GrowingArray
from indexes.vectors import Matrix, Vector

__all__ = ["Grown", "Merger", "apart", "grow", "later", "may_be_near", "near"]

CANDIDATES = 5
MOST_CANDIDATES = 320
NEARLY_ONE = 0.999
ROWS_AT_ONCE = 256
LOOKED_UP_TOGETHER = 64


class Nearby(Protocol):
    """What finds bullets by their likeness to a text; every `MemoryView` does."""

    def nearest_bullets(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Bullet]]: ...


@runtime_checkable
class Sifting(Protocol):
    """What can tell of many texts at once which of them have nothing near, so that they need not be looked up."""

    def may_be_near(self, texts: Sequence[str], min_score: float, *, known: bool = False) -> Sequence[bool]: ...


@dataclass(slots=True)
class Grown:
    """Operations after growing, and what was merged or kept apart, one sentence each."""

    operations: list[Operation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Kept:
    """Drafts of this batch that will be bullets of their own.

    Attributes:
        rows: for each, whose of the fresh drafts its vector is.
        positions: for each, where its operation stands.
    """

    drafts: list[Draft] = field(default_factory=list)
    rows: GrowingArray = field(default_factory=GrowingArray)
    positions: list[int] = field(default_factory=list)
    by_fold: dict[str, list[int]] = field(default_factory=dict)


class _Likeness:
    """Cosines of each row to those before it, computed for many rows at once: one product of matrices takes a small
    part of the time of as many products with a vector.

    Args:
        rows: `[n, dim]`, unit rows.
    """

    def __init__(self, rows: Matrix) -> None:
        self._rows = rows
        self._start = self._end = 0
        self._cosines = np.empty((0, 0), dtype=np.float32)

    def of(self, row: int) -> Vector:
        """`[m]`, at least up to the row itself. To be asked in the order of the rows."""
        if row >= self._end:
            self._start, self._end = row, row + ROWS_AT_ONCE
            self._cosines = self._rows[self._start : self._end] @ self._rows[: self._end].T
        cosines: Vector = self._cosines[row - self._start]
        return cosines


@dataclass(slots=True)
class _Growing:
    """One call of `grow` on its way."""

    memory: Nearby
    threshold: float
    merger: Merger | None
    likeness: _Likeness
    grown: Grown = field(default_factory=Grown)
    kept: _Kept = field(default_factory=_Kept)
    words: dict[str, str] = field(default_factory=dict)  # of bullets that get new ones in this batch


def grow(
    operations: Iterable[Operation],
    memory: Nearby,
    embedder: Embedder,
    *,
    threshold: float,
    merger: Merger | None = None,
) -> Grown:
    """Turn every `Add` of something that is known into a `Merge`; all other operations pass.

    A draft is compared with its nearest bullets, whatever their section, and with the drafts before it in the same
    batch. It is merged when the cosine is at least `threshold` and nothing tells the two apart (`apart`), or when the
    texts are equal. The bullet keeps its section and its words, unless the draft says the same and more. Ids and
    counters come from the memory and the draft, never from a text. A draft that is archived passes.

    Args:
        threshold: cosine in [-1, 1] from which on texts may be the same.
        merger: finds the words of a merge; None for the rule.
    """
    pending = list(operations)
    fresh = [op for op in pending if isinstance(op, Add) and op.draft.status == "active"]
    contents = [add.draft.content for add in fresh]
    growing = _Growing(memory, threshold, merger, _Likeness(embedder.embed(contents, "document")))
    rows = zip(count(), may_be_near(contents, memory, threshold), strict=False)
    for operation in pending:
        if isinstance(operation, Add) and operation.draft.status == "active":
            _grow_one(operation.draft, *next(rows), growing)
        else:
            growing.grown.operations.append(operation)
    return growing.grown


def near(text: str, memory: Nearby, threshold: float) -> Iterator[Scored[Bullet]]:
    """Active bullets whose cosine to a text is at least `threshold`, or whose words are equal, best first.

    They are read in growing pages: where many lie as near as can be, as long texts with one beginning do, the one that
    says the same may stand behind others. No more than 320 are looked at.
    """
    # Equal texts can score a little below 1, so a threshold of 1 must not hide them: they are told by their words.
    least = min(threshold, NEARLY_ONE)
    seen, limit, folded = 0, CANDIDATES, fold(text)
    while True:
        hits = memory.nearest_bullets(text, limit, min_score=least)
        yield from (hit for hit in hits[seen:] if hit.score >= threshold or fold(hit.value.content) == folded)
        if len(hits) < limit or limit >= MOST_CANDIDATES:
            return
        seen, limit = len(hits), limit * 4


def apart(one: Bullet | Draft, two: Bullet | Draft) -> str | None:
    """Why two pieces of advice must stay two, in a few words; None when nothing speaks against one."""
    reason = difference(one.content, two.content)
    if reason is not None:
        return reason
    fields = differing_fields(one.kind, one.metadata, two.metadata)
    return f"their {', '.join(fields)} differ" if fields else None


def later(first: datetime | None, second: datetime | None) -> datetime | None:
    """When what was merged expires: what is said again later holds longer; nothing else changes when it expires."""
    return max(first, second) if first and second else first


def may_be_near(texts: Sequence[str], memory: Nearby, threshold: float, *, known: bool = False) -> Sequence[bool]:
    """For each text whether it has to be looked up; few are looked up one by one at once.

    Args:
        known: the texts are those of active bullets, and others are looked for.
    """
    if len(texts) < LOOKED_UP_TOGETHER or not isinstance(memory, Sifting):
        return [True] * len(texts)
    return memory.may_be_near(texts, min(threshold, NEARLY_ONE), known=known)


def _grow_one(draft: Draft, row: int, may_be_near: bool, growing: _Growing) -> None:
    known = _known(draft, growing) if may_be_near else None
    if known is not None:
        _merge(draft, known, growing)
        return
    twin = _twin(draft, row, growing)
    if twin is not None:
        _unite(growing, twin, draft, row)
        return
    kept = growing.kept
    kept.by_fold.setdefault(fold(draft.content), []).append(len(kept.drafts))
    kept.drafts.append(draft)
    kept.rows.append(np.array([row]))
    kept.positions.append(len(growing.grown.operations))
    growing.grown.operations.append(Add(draft=draft))


def _known(draft: Draft, growing: _Growing) -> Bullet | None:
    others: list[str] = []
    for hit in near(draft.content, growing.memory, growing.threshold):
        bullet = hit.value
        if bullet.kind != draft.kind:
            continue
        reason = apart(draft, bullet)
        if reason is None and bullet.pinned and contains(draft.content, bullet.content):
            reason = "it says more than the pinned words"
        if reason is None:
            return bullet
        others.append(f"{draft.content[:60]!r} is near {bullet.id}, but {reason}: both stay.")
    growing.grown.notes += others[:CANDIDATES]
    if len(others) > CANDIDATES:
        growing.grown.notes.append(f"It is near {len(others) - CANDIDATES} more bullets, which all stay as well.")
    return None


def _merge(draft: Draft, bullet: Bullet, growing: _Growing) -> None:
    """Merge a draft into a bullet; what was not in the memory yet decides nothing but the words."""
    now = growing.words.get(bullet.id, bullet.content)
    longer = contains(draft.content, now)
    texts = [draft.content, now] if longer else [now, draft.content]
    words = now if bullet.pinned else merged_words(texts, growing.merger, growing.grown.notes)
    if RESTATEMENT in draft.tags and RESTATEMENT not in bullet.tags:
        draft = draft.model_copy(update={"tags": tuple(tag for tag in draft.tags if tag != RESTATEMENT)})
    growing.words[bullet.id] = words
    changed = words != now
    growing.grown.operations.append(Merge(into=bullet.id, draft=draft, content=words if changed else None))
    if later(bullet.expires_at, draft.expires_at) != bullet.expires_at:
        growing.grown.operations.append(Update(id=bullet.id, expires_at=draft.expires_at))
    told = ", which takes over its words" if changed else ""
    growing.grown.notes.append(f"{draft.content[:60]!r} was merged into {bullet.id}{told}.")


def _twin(draft: Draft, row: int, growing: _Growing) -> int | None:
    """Position in `kept` of a draft of this batch that says the same."""
    kept = growing.kept
    if not kept.drafts:
        return None
    equal = kept.by_fold.get(fold(draft.content), [])
    alike = np.flatnonzero(growing.likeness.of(row)[kept.rows.view] >= growing.threshold).tolist()
    same = (
        index
        for index in dict.fromkeys([*equal, *alike])
        if kept.drafts[index].kind == draft.kind and apart(draft, kept.drafts[index]) is None
    )
    return next(same, None)


def _unite(growing: _Growing, index: int, draft: Draft, row: int) -> None:
    kept, grown = growing.kept, growing.grown
    first = kept.drafts[index]
    longer = contains(draft.content, first.content)
    united = first.model_copy(
        update={
            "content": draft.content if longer else first.content,
            "helpful": first.helpful + draft.helpful,
            "harmful": first.harmful + draft.harmful,
            "uses": first.uses + draft.uses,
            "sources": tuple(dict.fromkeys((*first.sources, *draft.sources))),
            "tags": _tags(first, draft),
            "pinned": first.pinned or draft.pinned,
            "expires_at": later(first.expires_at, draft.expires_at),
            "metadata": draft.metadata | first.metadata,
        }
    )
    kept.drafts[index] = united
    if longer:
        kept.rows.view[index] = row
        kept.by_fold.setdefault(fold(united.content), []).append(index)
    grown.operations[kept.positions[index]] = Add(draft=united)
    grown.notes.append(f"{draft.content[:60]!r} was proposed twice; it was added once.")


def _tags(first: Draft, second: Draft) -> tuple[str, ...]:
    """Tags of both; it restates no more than an experience only where both do."""
    both = set(first.tags) & set(second.tags)
    return tuple(tag for tag in dict.fromkeys((*first.tags, *second.tags)) if tag != RESTATEMENT or tag in both)
