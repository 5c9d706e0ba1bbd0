"""The sides of `benchmarks.perf.embedding`: one model, run by torch and by ONNX Runtime, and how near they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks.perf import figures
from indexes.onnx_embedder import OnnxEmbedder, Precision
from indexes.sentence_transformer import SentenceTransformerEmbedder
from indexes.vectors import Matrix

Embed = Callable[[Sequence[str]], Matrix]

TORCH: Final = "torch fp32"
NEAREST: Final = 10

_ONNX: Final = (
    "from pathlib import Path; from indexes.onnx_embedder import OnnxEmbedder as E; E(cache=Path({exports!r})"
)
START: Final = {
    TORCH: "from indexes.sentence_transformer import SentenceTransformerEmbedder as E; E().embed(['a text'])",
    "ONNX fp32": f"{_ONNX}).embed(['a text'])",
    "ONNX int8": f"{_ONNX}, precision='int8').embed(['a text'])",
}
"""For each side the program of a process that ends with its first vector."""


class Side:
    """An embedder in all the forms in which it is measured; each is made once.

    Args:
        make: with threads and texts in a batch.
        batched: whether texts go through the model together.
    """

    def __init__(self, name: str, make: Callable[[int, int], Embed], *, batched: bool = True) -> None:
        self.name = name
        self.batched = batched
        self.embed = cache(make)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How near the vectors of a side are to those of torch, over `n` texts.

    Attributes:
        same_nearest: of the `NEAREST` texts that lie nearest to each, the share that is the same.
    """

    side: str
    n: int
    largest_difference: float
    lowest_cosine: float
    same_nearest: float


def sides_of(exports: Path) -> list[Side]:
    """Torch first, to which the others are compared."""
    return [
        Side(TORCH, _torch),
        Side("ONNX fp32", partial(_onnx, exports, "fp32")),
        Side("ONNX int8", partial(_onnx, exports, "int8"), batched=False),
    ]


def agreement(side: Side, torch: Side, texts: Sequence[str]) -> Agreement:
    """The vectors of a side beside those of torch."""
    theirs, ours = torch.embed(1, 32)(texts), side.embed(1, 32)(texts)
    same = [len(a & b) / len(a) for a, b in zip(_nearest(theirs), _nearest(ours), strict=True)]
    return Agreement(
        side=side.name,
        n=len(texts),
        largest_difference=figures.rounded(float(np.abs(theirs - ours).max())),
        lowest_cosine=figures.rounded(float((theirs * ours).sum(axis=1).min())),
        same_nearest=figures.rounded(float(np.mean(same))),
    )


def _torch(threads: int, batch: int) -> Embed:
    """Torch has one number of threads for the whole process: it is set anew for every call."""
    embedder = SentenceTransformerEmbedder(batch_size=batch)

    def embed(texts: Sequence[str]) -> Matrix:
        import torch

        torch.set_num_threads(threads)
        return embedder.embed(texts)

    return embed


def _onnx(exports: Path, precision: Precision, threads: int, batch: int) -> Embed:
    return OnnxEmbedder(cache=exports, precision=precision, threads=threads, batch_size=batch).embed


def _nearest(rows: Matrix) -> Iterator[set[int]]:
    """For each row, the rows that lie nearest to it besides itself."""
    cosines: npt.NDArray[np.float32] = rows @ rows.T
    np.fill_diagonal(cosines, -2)
    for line in np.argsort(-cosines, axis=1)[:, :NEAREST]:
        yield set(line.tolist())
