"""What turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from indexes.vectors import Matrix

TextKind = Literal["query", "document"]


@runtime_checkable
class Embedder(Protocol):
    """Texts in, unit rows out.

    E1  `embed` returns float32 `[len(texts), dim]` with rows of length 1; a text without any
        content (empty, or nothing that the model can read) may give a zero row, never NaN.
    E2  The same text gives the same row, whatever stands beside it in the batch
        (to 1e-5 where the arithmetic of the model depends on the batch).
    E3  No texts give a matrix of shape `[0, dim]`.
    E4  `model_id` names the model and all that changes its vectors; two embedders with equal
        `model_id` give interchangeable rows, two with different ones must never be mixed.
    E5  `symmetric` is true when `kind` makes no difference to the row.
    """

    @property
    def model_id(self) -> str: ...

    @property
    def dim(self) -> int: ...

    @property
    def symmetric(self) -> bool: ...

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix: ...
