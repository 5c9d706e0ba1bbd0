"""New bullets against those that came at the same instant.

Two processes that learn the same at once both find that it is new, as neither has written it yet. Within the
transaction, where nobody else writes, the few bullets that came since are looked at once more. Nothing is embedded
there: whoever wrote a text has embedded it, and its vector lies in the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

import numpy as np

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.likeness.grow import Grown, grow
from cheatsheet.memory.likeness.sameness import fold
from cheatsheet.memory.operations import Add, Operation
from cheatsheet.memory.view import Scored
from indexes.embedder import TextKind
from indexes.vectors import Matrix, Vector

_EQUAL = 1.0


def join_newcomers(
    operations: Iterable[Operation], came: Sequence[Bullet], vectors: Mapping[str, Vector], *, threshold: float
) -> Grown:
    """Turn every `Add` of what came meanwhile into a `Merge`, by the rules of `grow`; all other operations pass.

    Args:
        came: active bullets that came, or were changed, since the operations were made.
        vectors: unit vectors of texts, by text; one that has none is told from others by its words only.
        threshold: cosine in [-1, 1] from which on texts may be the same.
    """
    pending, known = list(operations), _Known(vectors)
    grown = grow(pending, _Came(came, known), known, threshold=threshold)
    all_drafts_known = all(operation.draft.content in vectors for operation in pending if is_new(operation))
    unread = sum(not all_drafts_known or bullet.content not in vectors for bullet in came)
    if unread:
        grown.notes.append(
            f"{unread} of the bullets that came meanwhile could be compared by their words only; "
            f"`cheatsheet refine --full` merges what says the same."
        )
    return grown


def is_new(operation: Operation) -> TypeGuard[Add]:
    """Whether it makes a bullet that is served."""
    return isinstance(operation, Add) and operation.draft.status == "active"


class _Known:
    """An embedder that has some vectors and makes none; a text that it does not know is near to nothing."""

    model_id = ""
    symmetric = True

    def __init__(self, vectors: Mapping[str, Vector]) -> None:
        self.dim = next((len(vector) for vector in vectors.values()), 1)
        self._vectors = vectors

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._vectors.get(text, 0)
        return rows


class _Came:
    """Finds among a few bullets."""

    def __init__(self, bullets: Sequence[Bullet], known: _Known) -> None:
        self._bullets = bullets
        self._known = known
        self._rows = known.embed([bullet.content for bullet in bullets])
        self._folds = np.array([fold(bullet.content) for bullet in bullets], dtype=object)

    def nearest_bullets(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Bullet]]:
        scores = self._rows @ self._known.embed([text])[0]
        scores[self._folds == fold(text)] = _EQUAL
        best = np.argsort(-scores, kind="stable")[:k].tolist()
        return [Scored(self._bullets[at], float(scores[at])) for at in best if scores[at] >= min_score]
