"""A memory view over the past."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from cheatsheet.memory.bullet import Bullet, Status, number_of
from cheatsheet.memory.experience import Experience, ExperienceStatus
from cheatsheet.memory.history.sheet import Sheet
from cheatsheet.memory.refine import estimate_tokens
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.view import BulletOrder, ExperienceOrder, Scored
from indexes.embedder import Embedder
from indexes.exact import ExactIndex

T = TypeVar("T", Bullet, Experience)


class PastView:
    """One namespace as it was at a version (`MemoryView`), to be asked as the present is.

    The bullets are those of a sheet (`past.as_of`), the experiences, which never change, those of the store. An index
    is made when it is first asked; texts that were embedded before are not embedded again where the embedder caches.

    Args:
        harmful_weight: by which bullets are ranked in the orders `utility` and `worst`.
    """

    def __init__(
        self,
        store: MemoryStore,
        sheet: Sheet,
        embedder: Embedder,
        *,
        namespace: str,
        version: int,
        harmful_weight: float = 1.0,
    ) -> None:
        self.namespace = namespace
        self.version = version
        self._store = store
        self._sheet = sheet
        self._embedder = embedder
        self._harmful_weight = harmful_weight
        self._bullets: _Found[Bullet] | None = None
        self._experiences: _Found[Experience] | None = None

    def bullet(self, id: str) -> Bullet | None:
        return self._sheet.bullets.get(id)

    def bullets(
        self,
        *,
        status: Status | None = "active",
        section: str | None = None,
        order: BulletOrder = "id",
        limit: int | None = None,
    ) -> Sequence[Bullet]:
        return self._sheet.listed(
            status=status,
            section=section,
            order=order,
            limit=limit,
            harmful_weight=self._harmful_weight,
        )

    def count_bullets(self, status: Status | None = "active") -> int:
        return sum(status in (None, bullet.status) for bullet in self._sheet)

    def sheet_tokens(self) -> int:
        return sum(estimate_tokens(bullet.content) for bullet in self._sheet if bullet.status == "active")

    def experience(self, id: str) -> Experience | None:
        standing = self._sheet.standings.get(id)
        return self._store.experience(self.namespace, id) if standing and standing.status == "active" else None

    def experiences(
        self,
        *,
        status: ExperienceStatus | None = "active",
        order: ExperienceOrder = "oldest",
        limit: int | None = None,
    ) -> Sequence[Experience]:
        wanted = [id for id, standing in self._sheet.standings.items() if status in (None, standing.status)]
        if order == "oldest":
            return self._read(wanted if limit is None else wanted[max(len(wanted) - limit, 0) :])
        return sorted(self._read(wanted), key=self._last_used)[:limit]

    def count_experiences(self, status: ExperienceStatus | None = "active") -> int:
        return sum(status in (None, standing.status) for standing in self._sheet.standings.values())

    def nearest_bullets(
        self, text: str, k: int, *, min_score: float = -1.0, among: Iterable[str] | None = None
    ) -> Sequence[Scored[Bullet]]:
        if self._bullets is None:
            self._bullets = _Found(self.bullets(), [bullet.content for bullet in self.bullets()], self._embedder)
        return self._bullets.nearest(text, k, min_score, among)

    def nearest_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        if self._experiences is None:
            found = self.experiences()
            self._experiences = _Found(found, [experience.query for experience in found], self._embedder)
        return self._experiences.nearest(text, k, min_score, None)

    def relevant_bullets(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Bullet]]:
        return self.nearest_bullets(text, k, min_score=min_score)

    def relevant_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        return self.nearest_experiences(text, k, min_score=min_score)

    def _read(self, ids: Sequence[str]) -> list[Experience]:
        numbers = [number_of(id) or 0 for id in ids]
        found = self._store.experiences_by_number(self.namespace, numbers)
        return [found[number] for number in numbers if number in found]

    def _last_used(self, experience: Experience) -> datetime:
        return self._sheet.standings[experience.id].last_used_at or experience.created_at


class _Found(Generic[T]):
    """Values that can be found by their texts, numbered by their ids."""

    def __init__(self, values: Sequence[T], texts: Sequence[str], embedder: Embedder) -> None:
        self._values: dict[int, T] = {number_of(value.id) or 0: value for value in values}
        self._embedder = embedder
        self._index = ExactIndex(embedder.dim)
        self._index.add(list(self._values), embedder.embed(texts, "document"))

    def nearest(self, text: str, k: int, min_score: float, among: Iterable[str] | None) -> list[Scored[T]]:
        if k <= 0 or not self._values:
            return []
        numbers = None if among is None else [number_of(id) or 0 for id in among]
        hits = self._index.search(self._embedder.embed([text], "query")[0], k, among=numbers)
        pairs = zip(hits.ids.tolist(), hits.scores.tolist(), strict=True)
        return [Scored(self._values[number], score) for number, score in pairs if score >= min_score]
