"""What a question is shown at which `similarity_threshold` and `top_k`, and whether the answer is among it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks.calibration.grouping import grouped
from benchmarks.calibration.labelled import Lookup
from benchmarks.calibration.share import Share
from indexes.embedder import Embedder

THRESHOLDS: Final = tuple(round(step / 100, 2) for step in range(71))
"""0.00, 0.01, … 0.70."""

NO_THRESHOLD: Final = -1.0

TOP_K: Final = (1, 3, 5, 10, 20)

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions with the texts nearest to them.

    Attributes:
        cosines: float32 [questions, texts], each row the highest first; no more texts than the largest `top_k`.
        right: bool [questions, texts], whether such a text answers.
        answers: int [questions], how many texts of the memory answer; 0 where none does.
    """

    group: str
    cosines: npt.NDArray[np.float32]
    right: Mask
    answers: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What questions are shown.

    Attributes:
        hits: of the questions that the memory can answer, those that are shown an answer.
        precision: of the texts that these questions are shown, those that answer.
        recall: of the answers to these questions, those that are shown.
        shown: texts for each of these questions, mean.
        in_vain: texts for each question that nothing answers, mean; None where there is no such question.
    """

    hits: Share
    precision: Share
    recall: Share
    shown: float
    in_vain: float | None

    def as_dict(self) -> dict[str, object]:
        """All of it as plain values, for JSON."""
        shares = {"hits": self.hits, "precision": self.precision, "recall": self.recall}
        plain: dict[str, object] = {name: share.as_dict() for name, share in shares.items()}
        return plain | {"shown": self.shown, "in_vain": self.in_vain}


def ask(lookup: Lookup, embedder: Embedder) -> Asked:
    """Find the nearest texts of each question, as the mode `retrieval` does."""
    cosines = embedder.embed(lookup.questions, "query") @ embedder.embed(lookup.texts).T
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, : max(TOP_K)]
    answering = np.array([[place in places for place in range(len(lookup.texts))] for places in lookup.answers])
    return Asked(
        group=lookup.group,
        cosines=np.take_along_axis(cosines, nearest, axis=1),
        right=np.take_along_axis(answering, nearest, axis=1),
        answers=answering.sum(axis=1),
    )


def sweep(asked: Sequence[Asked]) -> list[dict[str, object]]:
    """Every group, `top_k` and threshold, as plain values for JSON."""
    return [
        {"group": group, "top_k": top_k, "threshold": at} | count(some, top_k=top_k, threshold=at).as_dict()
        for group, some in grouped(asked, lambda each: each.group).items()
        for top_k in TOP_K
        for at in THRESHOLDS
    ]


def count(asked: Sequence[Asked], *, top_k: int, threshold: float) -> Shown:
    """What all questions are shown, each by its own memory."""
    shown, right, answers = map(np.concatenate, zip(*_per_question(asked, top_k, threshold), strict=True))
    able = answers > 0
    vain = shown[~able]
    return Shown(
        hits=Share(int((right > 0).sum()), int(able.sum())),
        precision=Share(int(right.sum()), int(shown[able].sum())),
        recall=Share(int(right.sum()), int(answers.sum())),
        shown=float(shown[able].mean()) if able.any() else 0.0,
        in_vain=float(vain.mean()) if vain.size else None,
    )


def _per_question(asked: Sequence[Asked], top_k: int, threshold: float) -> Iterator[tuple[npt.NDArray[np.int64], ...]]:
    """For each memory, int [questions] each: texts shown, answers shown, answers that there are."""
    for each in asked:
        shown = each.cosines[:, :top_k] >= threshold
        yield shown.sum(axis=1), (shown & each.right[:, :top_k]).sum(axis=1), each.answers
