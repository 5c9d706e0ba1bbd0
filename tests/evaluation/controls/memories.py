"""A small memory of tickets, and the ground of a control over it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from cheatsheet.evaluation.controls.base import Ground
from cheatsheet.memory.experience import Experience, Feedback
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft
from cheatsheet.memory.search.exact import exact_retriever
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store_view import StoreView
from cheatsheet.roles.rule_curator import RuleCurator
from cheatsheet.roles.rule_reflector import RuleReflector
from cheatsheet.tokens import CharCounter, TokenCounter
from indexes.cached import CachedEmbedder
from indexes.hashing import HashingEmbedder
from modes.reflective import Learning
from modes.retrieval import Retrieval

WHEN = datetime(2026, 1, 5, tzinfo=UTC)
TEAMS = ("amber", "crimson")


def ground(*, top_k: int = 3, counter: TokenCounter | None = None, seed: int = 0) -> Ground:
    learning = Learning(reflector=RuleReflector(), curator=RuleCurator(), remember=True)
    retrieval = Retrieval(learning=learning, top_k=top_k, min_score=-1.0)
    return Ground(retrieval=retrieval, counter=counter or CharCounter(), seed=seed)


def lived(query: str, answer: str, *, correct: bool | None = None, expected: str | None = None) -> Experience:
    return Experience(
        query=query, answer=answer, feedback=Feedback(correct=correct, expected=expected), created_at=WHEN
    )


class Memory:
    """A memory that holds what it is given; close it, or use it as a context manager."""

    def __init__(self, experiences: Iterable[Experience] = (), bullets: Iterable[str] = ()) -> None:
        self.store = SqliteStore(":memory:")
        embedder = CachedEmbedder(HashingEmbedder(), self.store)
        retriever = exact_retriever(self.store, embedder, namespace="default")
        self.view = StoreView(self.store, retriever, namespace="default")
        adds = tuple(Add(draft=Draft(content=bullet)) for bullet in bullets)
        for experience in experiences:
            self._keep(Change(at=WHEN, cause="turn", experiences=(experience,)))
        if adds:
            self._keep(Change(at=WHEN, cause="turn", operations=adds))

    def _keep(self, change: Change) -> None:
        self.store.commit("default", change)

    def __enter__(self) -> StoreView:
        return self.view

    def __exit__(self, *problem: object) -> None:
        self.store.close()


def tickets(count: int = 12) -> Memory:
    """Tickets with their teams, and as many lessons."""
    return Memory(
        [lived(f"Ticket {n}: my card was charged {n} times", TEAMS[n % 2], correct=True) for n in range(count)],
        [f"Charges of kind {n} go to {TEAMS[n % 2]}" for n in range(count)],
    )
