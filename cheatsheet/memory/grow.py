"""Grow: new insights join the memory, near-duplicates join what is there (ACE, arXiv 2510.04618, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cheatsheet.memory.operations import Add, Draft, Merge, Operation
from cheatsheet.memory.sameness import difference, fold
from cheatsheet.memory.view import MemoryView
from indexes.embedder import Embedder
from indexes.vectors import Vector

CANDIDATES = 5
NEARLY_ONE = 0.999


@dataclass(slots=True)
class Grown:
    """Operations after growing, and what was merged or kept apart, one sentence each."""

    operations: list[Operation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Kept:
    """Drafts of this batch that will be bullets of their own."""

    drafts: list[Draft] = field(default_factory=list)
    vectors: list[Vector] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


def grow(operations: Iterable[Operation], memory: MemoryView, embedder: Embedder, *, threshold: float) -> Grown:
    """Turn every `Add` of something that is known into a `Merge`; all other operations pass.

    A draft is compared with its nearest bullets, and with the drafts before it in the same batch. It is merged when
    the cosine is at least `threshold` and nothing tells the two apart (`sameness.difference`), or when the texts are
    equal. Ids and counters come from the memory and the draft, never from a text.

    Args:
        threshold: cosine in [-1, 1] from which on texts may be the same.
    """
    pending = list(operations)
    texts = [operation.draft.content for operation in pending if isinstance(operation, Add)]
    rows = iter(embedder.embed(texts, "document"))
    grown, kept = Grown(), _Kept()
    for operation in pending:
        if isinstance(operation, Add):
            _grow_one(operation.draft, next(rows), memory, threshold, grown, kept)
        else:
            grown.operations.append(operation)
    return grown


def _grow_one(draft: Draft, row: Vector, memory: MemoryView, threshold: float, grown: Grown, kept: _Kept) -> None:
    into = _known(draft, memory, threshold, grown)
    if into is not None:
        grown.operations.append(Merge(into=into, draft=draft))
        grown.notes.append(f"{draft.content[:60]!r} was merged into {into}.")
        return
    twin = _twin(draft, row, kept, threshold)
    if twin is not None:
        _unite(kept, twin, draft, grown)
        return
    kept.drafts.append(draft)
    kept.vectors.append(row)
    kept.positions.append(len(grown.operations))
    grown.operations.append(Add(draft=draft))


def _known(draft: Draft, memory: MemoryView, threshold: float, grown: Grown) -> str | None:
    # Equal texts can score a little below 1, so a threshold of 1 must not hide them: they are told by their words.
    for hit in memory.nearest_bullets(draft.content, CANDIDATES, min_score=min(threshold, NEARLY_ONE)):
        equal = fold(hit.value.content) == fold(draft.content)
        if hit.value.kind != draft.kind or not (equal or hit.score >= threshold):
            continue
        reason = difference(draft.content, hit.value.content)
        if reason is None:
            return hit.value.id
        grown.notes.append(f"{draft.content[:60]!r} is near {hit.value.id}, but {reason}: both stay.")
    return None


def _twin(draft: Draft, row: Vector, kept: _Kept, threshold: float) -> int | None:
    """Position in `kept` of a draft of this batch that says the same."""
    if not kept.drafts:
        return None
    scores = np.asarray(kept.vectors) @ row
    same = (
        index
        for index in np.flatnonzero(scores >= threshold)
        if kept.drafts[index].kind == draft.kind and difference(draft.content, kept.drafts[index].content) is None
    )
    found: Sequence[int] = [int(index) for index in same]
    equal = [index for index, other in enumerate(kept.drafts) if fold(other.content) == fold(draft.content)]
    return next(iter([*equal, *found]), None)


def _unite(kept: _Kept, index: int, draft: Draft, grown: Grown) -> None:
    first = kept.drafts[index]
    united = first.model_copy(
        update={
            "helpful": first.helpful + draft.helpful,
            "harmful": first.harmful + draft.harmful,
            "sources": tuple(dict.fromkeys((*first.sources, *draft.sources))),
            "tags": tuple(dict.fromkeys((*first.tags, *draft.tags))),
            "pinned": first.pinned or draft.pinned,
        }
    )
    kept.drafts[index] = united
    grown.operations[kept.positions[index]] = Add(draft=united)
    grown.notes.append(f"{draft.content[:60]!r} was proposed twice; it was added once.")
