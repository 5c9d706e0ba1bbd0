"""A memory view over a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cheatsheet.memory.bullet import Bullet, Status
from cheatsheet.memory.experience import Experience, ExperienceStatus
from cheatsheet.memory.search.retriever import Retriever
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.view import BulletOrder, ExperienceOrder, Scored


class StoreView:
    """One namespace of a store, as modes and roles see it (`MemoryView`).

    Args:
        harmful_weight, helpful_weight: by which bullets are ranked in the orders `utility` and `worst`; the second is
            above 0.
    """

    def __init__(
        self,
        store: MemoryStore,
        retriever: Retriever,
        *,
        namespace: str,
        harmful_weight: float = 1.0,
        helpful_weight: float = 1.0,
    ) -> None:
        self._store = store
        self._retriever = retriever
        self._namespace = namespace
        # Only how the two weights stand to each other decides the order; where they are equal, an index has it.
        self._harmful_weight = harmful_weight / helpful_weight

    @property
    def namespace(self) -> str:
        return self._namespace

    @property
    def version(self) -> int:
        return self._store.version(self._namespace)

    def bullet(self, id: str) -> Bullet | None:
        return self._store.bullet(self._namespace, id)

    def bullets(
        self,
        *,
        status: Status | None = "active",
        section: str | None = None,
        order: BulletOrder = "id",
        limit: int | None = None,
    ) -> Sequence[Bullet]:
        return self._store.bullets(
            self._namespace,
            status=status,
            section=section,
            order=order,
            limit=limit,
            harmful_weight=self._harmful_weight,
        )

    def count_bullets(self, status: Status | None = "active") -> int:
        return self._store.count_bullets(self._namespace, status)

    def sheet_tokens(self) -> int:
        return self._store.sheet_tokens(self._namespace)

    def experience(self, id: str) -> Experience | None:
        return self._store.experience(self._namespace, id, status="active")

    def experiences(
        self,
        *,
        status: ExperienceStatus | None = "active",
        order: ExperienceOrder = "oldest",
        limit: int | None = None,
    ) -> Sequence[Experience]:
        return self._store.experiences(self._namespace, status=status, order=order, limit=limit)

    def count_experiences(self, status: ExperienceStatus | None = "active") -> int:
        return self._store.count_experiences(self._namespace, status)

    def nearest_bullets(
        self, text: str, k: int, *, min_score: float = -1.0, among: Iterable[str] | None = None
    ) -> Sequence[Scored[Bullet]]:
        return self._retriever.nearest_bullets(text, k, min_score=min_score, among=among)

    def may_be_near(self, texts: Sequence[str], min_score: float, *, known: bool = False) -> Sequence[bool]:
        """For each text whether `nearest_bullets` may find any; False is certain.

        Args:
            known: the texts are those of active bullets, and it is asked for others.
        """
        return self._retriever.may_be_near(texts, min_score, known=known)

    def nearest_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        return self._retriever.nearest_experiences(text, k, min_score=min_score)

    def relevant_bullets(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Bullet]]:
        return self._retriever.relevant_bullets(text, k, min_score=min_score)

    def relevant_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        return self._retriever.relevant_experiences(text, k, min_score=min_score)
