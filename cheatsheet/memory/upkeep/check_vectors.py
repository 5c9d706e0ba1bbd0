"""Whether the embeddings of a store are what an embedder gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np

from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.upkeep.flaw import Flaw
from indexes.cached import CacheKey
from indexes.vectors import UNIT_TOLERANCE, Vector

_REMEDY: Final = "`cheatsheet vacuum` deletes them; their texts are embedded again when they are needed."


def check_vectors(store: MemoryStore) -> Iterator[Flaw]:
    """What is wrong with the embeddings, by model."""
    counted = Counter((key.model_id, reason) for key, reason in _unusable(store))
    for (model, reason), count in counted.items():
        yield Flaw(text=f"Embeddings of the model {model} that {reason}: {count:,}.", remedy=_REMEDY)


def unusable_vectors(store: MemoryStore) -> set[CacheKey]:
    """The embeddings that no embedder can have given; a row of zeros is that of a text without content."""
    return {key for key, _ in _unusable(store)}


def _unusable(store: MemoryStore) -> Iterator[tuple[CacheKey, str]]:
    """Each with what is wrong with it; of one model, rows of another length than most are.

    Millions are not held: where lengths differ, all are read once more.
    """
    lengths: dict[tuple[str, str], Counter[int]] = {}
    for key, vector in store.vectors():
        reason = _reason(vector)
        if reason:
            yield key, reason
        elif vector is not None:
            lengths.setdefault((key.model_id, key.kind), Counter())[len(vector)] += 1
    usual = {of: counted.most_common(1)[0][0] for of, counted in lengths.items() if len(counted) > 1}
    for key, vector in store.vectors() if usual else ():
        length = usual.get((key.model_id, key.kind))
        if length and vector is not None and len(vector) != length and not _reason(vector):
            yield key, f"are not of length {length}"


def _reason(vector: Vector | None) -> str:
    if vector is None:
        return "are no vectors"
    with np.errstate(over="ignore", invalid="ignore"):
        squares = float(np.dot(vector, vector))
    if not np.isfinite(squares):
        return "are not finite"
    return "are not of norm 1" if squares and abs(squares**0.5 - 1) > UNIT_TOLERANCE else ""
