"""How far nearness alone goes on the ticket stream: what a memory must beat, and whether topics give teams away.

*Streaming* accuracy: every ticket takes the vote of the k most similar tickets before it, each with the weight of its
cosine, and is then known itself; counted over the second half. It is what retrieval without a model would score.

*Leave-problem-out* accuracy: the same vote among the tickets of all other problems. It is what guessing by topic would
score, and should be near one in six.

    python -m benchmarks.tasks.neighbours
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks.tasks import ticket_routing
from benchmarks.tasks.rows import TaskRow
from indexes.sentence_transformer import SentenceTransformerEmbedder
from indexes.vectors import Matrix, Vector

ORDERS: Final = 20
NEIGHBOURS: Final = (1, 5)

Mask = npt.NDArray[np.bool_]


def streaming_hits(vectors: Matrix, labels: Sequence[str], *, k: int) -> Mask:
    """For each row after the first, bool `[n - 1]`, whether the vote of the `k` nearest rows before it is right."""
    votes = [vote(vectors[:at] @ vectors[at], labels[:at], k=k) for at in range(1, len(labels))]
    return np.array([given == label for given, label in zip(votes, labels[1:], strict=True)], dtype=bool)


def leave_group_out_hits(vectors: Matrix, labels: Sequence[str], groups: Sequence[str], *, k: int) -> Mask:
    """For each row, bool `[n]`, whether the vote of the `k` nearest rows of other groups is right."""
    hits = []
    for at, group in enumerate(groups):
        others = [place for place, other in enumerate(groups) if other != group]
        hits.append(vote(vectors[others] @ vectors[at], [labels[place] for place in others], k=k) == labels[at])
    return np.array(hits, dtype=bool)


def vote(similarities: Vector, labels: Sequence[str], *, k: int) -> str:
    """The label with the largest sum of cosines among the `k` most similar; the earlier row wins a tie."""
    weights: defaultdict[str, float] = defaultdict(float)
    for at in np.argsort(-similarities, kind="stable")[:k]:
        weights[labels[at]] += float(similarities[at])
    return max(weights, key=weights.__getitem__)


def second_half(rows: Sequence[TaskRow], vector_of: dict[str, Vector], *, k: int) -> float:
    """Streaming accuracy over the second half of `rows`."""
    vectors = np.stack([vector_of[row["id"]] for row in rows])
    hits = streaming_hits(vectors, [row["target"] for row in rows], k=k)
    return float(hits[len(rows) // 2 - 1 :].mean())


def report(rows: Sequence[TaskRow], vectors: Matrix, *, orders: int = ORDERS) -> str:
    """Both accuracies as lines of text; the streaming one for the file's order and, as mean and range, for others."""
    return "\n".join(_line(rows, vectors, k=k, orders=orders) for k in NEIGHBOURS)


def _line(rows: Sequence[TaskRow], vectors: Matrix, *, k: int, orders: int) -> str:
    vector_of = {row["id"]: vector for row, vector in zip(rows, vectors, strict=True)}
    others = [second_half(ticket_routing.arrange(rows, seed), vector_of, k=k) for seed in range(1, orders + 1)]
    problems = [ticket_routing.problem(row) for row in rows]
    by_topic = leave_group_out_hits(vectors, [row["target"] for row in rows], problems, k=k).mean()
    return (
        f"k={k}: second half {second_half(rows, vector_of, k=k):.2f} in the file's order; "
        f"mean {np.mean(others):.2f} ({min(others):.2f} to {max(others):.2f}) in {orders} other orders; "
        f"leave-problem-out {by_topic:.3f} (chance {1 / len(ticket_routing.TEAMS):.3f})"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report for the default embedding model."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tasks.neighbours", description="What nearness alone achieves on the ticket stream."
    )
    parser.parse_args(arguments)
    rows = ticket_routing.load()
    print(report(rows, SentenceTransformerEmbedder().embed([row["input"] for row in rows])))


if __name__ == "__main__":
    main()
