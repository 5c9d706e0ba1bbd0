"""What is found by vectors, by words, and by both, on questions of our own.

    python -m benchmarks.perf.hybrid [--embedder auto] [--json]

`hybrid_set.jsonl` holds pieces of advice and questions, each question with the advice that answers it. Half of the
questions ask by a name (`names`): an error code, an identifier, a version, a part number, a surname, beside others of
their family. Half ask in ordinary words (`words`), and in other words than the advice has.

All were written by one hand, for this comparison and not from any memory: first those that are not held out. On them
was chosen which words of a question are looked for (`cheatsheet/memory/search/telling.py`). Then, with that settled,
those that are held out, with more advice, some of it in German and Chinese. One thing was changed after these were
measured, and left them as they were: the parts of a code are looked for only where it is nowhere as a whole.

The ways of searching:

- `vectors`: `search="vectors"`.
- `BM25`: all words of the question, no vectors.
- `vectors + BM25`: these two fused, as hybrid search is done most often.
- `hybrid`: `search="hybrid"`, which looks for the telling words only.

Intervals are those of `cheatsheet.evaluation.metrics.intervals`: 95 %, questions drawn anew.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.perf import figures
from cheatsheet.evaluation import jsonl
from cheatsheet.evaluation.metrics.intervals import bootstrap
from cheatsheet.interfaces.embedders import embedder_of
from cheatsheet.memory.bullet import number_of
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.search.fusion import fused
from cheatsheet.memory.search.hybrid import DEPTH, HybridRetriever
from cheatsheet.memory.search.local import LocalNeighbours
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store import DEFAULT_NAMESPACE
from cheatsheet.settings import load_settings
from indexes.cached import CachedEmbedder
from indexes.embedder import Embedder
from indexes.exact import ExactIndex

SET: Final = Path(__file__).with_name("hybrid_set.jsonl")

Way = Callable[[str], Sequence[int]]
"""Numbers of what is found for a question, the best first."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the numbers of the bullets that answer it.

    Attributes:
        half: `names` or `words`.
        held_out: written when all else was settled.
    """

    text: str
    half: str
    held_out: bool
    answers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Share:
    """A mean over questions and its interval; none where all questions have the same value."""

    mean: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.low is None else f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Quality:
    """How well one way of searching finds the answers of some questions.

    Attributes:
        recall_at_1, recall_at_5: share of the questions with an answer among the first so many.
        reciprocal_rank: mean of 1 / the rank of the first answer, 0 where it is not found.
    """

    way: str
    questions: str
    n: int
    recall_at_1: Share
    recall_at_5: Share
    reciprocal_rank: Share


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="auto", help="as the setting")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    contents, questions = read_set(SET)
    figures.notice(f"{len(contents)} bullets, {len(questions)} questions")
    with searching(contents, embedder_of(load_settings(embedder=options.embedder))) as ways:
        figures.show(list(measured(ways, questions)), as_table, as_json=options.json)


def read_set(path: Path) -> tuple[list[str], list[Question]]:
    """Contents of bullets, which get the numbers from 1 on, and questions."""
    values = [record.value for record in jsonl.parse(path.read_bytes(), source=str(path)).records]
    bullets = [value for value in values if "bullet" in value]
    number = {value["bullet"]: place for place, value in enumerate(bullets, start=1)}
    questions = [
        Question(
            value["question"], value["half"], value["held_out"], frozenset(number[name] for name in value["answers"])
        )
        for value in values
        if "question" in value
    ]
    return [value["content"] for value in bullets], questions


@contextmanager
def searching(contents: Sequence[str], embedder: Embedder) -> Iterator[Mapping[str, Way]]:
    """A memory of these bullets, and the ways of searching it."""
    with closing(SqliteStore()) as store:
        adds = tuple(Add(draft=Draft(content=content)) for content in contents)
        store.commit(DEFAULT_NAMESPACE, Change(at=datetime.now(UTC), cause="import", operations=adds))
        cached = CachedEmbedder(embedder, store)
        neighbours = LocalNeighbours(store, cached, namespace=DEFAULT_NAMESPACE, make_index=ExactIndex)
        retriever = HybridRetriever(store, cached, namespace=DEFAULT_NAMESPACE, neighbours=neighbours)

        def vectors(text: str) -> list[int]:
            return [number_of(hit.value.id) or 0 for hit in retriever.nearest_bullets(text, DEPTH)]

        def words(text: str) -> Sequence[int]:
            return store.matching_bullets(DEFAULT_NAMESPACE, text, DEPTH)

        def hybrid(text: str) -> list[int]:
            return [number_of(hit.value.id) or 0 for hit in retriever.relevant_bullets(text, DEPTH)]

        yield {
            "vectors": vectors,
            "BM25": words,
            "vectors + BM25": lambda text: fused([vectors(text), words(text)]),
            "hybrid": hybrid,
        }


def measured(ways: Mapping[str, Way], questions: Sequence[Question]) -> Iterator[Quality]:
    """Every way on all questions, on each half, and on what of each is held out."""
    chosen: dict[str, Callable[[Question], bool]] = {
        "all": lambda question: True,
        "names": lambda question: question.half == "names",
        "words": lambda question: question.half == "words",
        "names, held out": lambda question: question.half == "names" and question.held_out,
        "words, held out": lambda question: question.half == "words" and question.held_out,
    }
    for way, search in ways.items():
        figures.notice(f"searching by {way} …")
        rank = {question: first_rank(search(question.text), question.answers) for question in questions}
        for name, is_chosen in chosen.items():
            yield quality(way, name, [rank[question] for question in questions if is_chosen(question)])


def first_rank(found: Sequence[int], answers: frozenset[int]) -> int | None:
    """The rank of the first answer from 1 on; None where there is none."""
    return next((rank for rank, number in enumerate(found, start=1) if number in answers), None)


def quality(way: str, questions: str, ranks: Sequence[int | None]) -> Quality:
    """The measures of one way on questions whose first answers have these ranks."""
    within = partial(_share_within, ranks)
    reciprocal = _share([0.0 if rank is None else 1 / rank for rank in ranks])
    return Quality(way, questions, len(ranks), within(1), within(5), reciprocal)


def as_table(results: Sequence[Quality]) -> str:
    """A Markdown table."""
    titles = ("questions", "n", "searched by", "recall@1", "recall@5", "MRR")
    ordered = sorted(results, key=lambda result: [each.questions for each in results].index(result.questions))
    rows = [(r.questions, r.n, r.way, r.recall_at_1, r.recall_at_5, r.reciprocal_rank) for r in ordered]
    return figures.table(titles, rows)


def _share_within(ranks: Sequence[int | None], most: int) -> Share:
    return _share([float(rank is not None and rank <= most) for rank in ranks])


def _share(values: Sequence[float]) -> Share:
    low, high = bootstrap(values) or (None, None)
    mean = figures.rounded(sum(values) / len(values))
    return Share(mean, low and figures.rounded(low), high and figures.rounded(high))


if __name__ == "__main__":
    main()
