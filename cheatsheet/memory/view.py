"""The memory as modes and roles see it: to be read, never to be written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from cheatsheet.memory.bullet import Bullet, Status
from cheatsheet.memory.experience import Experience, ExperienceStatus

T_co = TypeVar("T_co", covariant=True)

BulletOrder = Literal["id", "utility", "worst", "recent", "expiring"]
ExperienceOrder = Literal["oldest", "least-recent"]


@dataclass(frozen=True, slots=True)
class Scored(Generic[T_co]):
    """Something found, with its cosine to what was asked."""

    value: T_co
    score: float


class MemoryView(Protocol):
    """One namespace of one memory, at one version.

    V1  Reads only. Everything it returns is a value that never changes.
    V2  `nearest_*` return what is active, by the cosine alone, best first, ties by the lowest id. `relevant_*` return
        what fits best, by the search that the memory was opened with; where that is by vectors, it is the same.
    V3  Lists are in a stated order that does not depend on the process.
    """

    @property
    def namespace(self) -> str: ...

    @property
    def version(self) -> int:
        """Number of the newest journal entry; 0 for a new memory."""
        ...

    def bullet(self, id: str) -> Bullet | None:
        """The bullet, whatever its status."""
        ...

    def bullets(
        self,
        *,
        status: Status | None = "active",
        section: str | None = None,
        order: BulletOrder = "id",
        limit: int | None = None,
    ) -> Sequence[Bullet]:
        """Bullets in one of the orders; ties by the lowest number.

        `id`: by number. `utility`: the best first, then the latest used; bullets that are shown together stay in order,
        and a new one comes after them, so that a provider's prompt cache keeps hitting. `worst`: the reverse of
        `utility`. `recent`: the latest change first. `expiring`: only those that expire, the soonest first.
        """
        ...

    def count_bullets(self, status: Status | None = "active") -> int: ...

    def experience(self, id: str) -> Experience | None:
        """The experience, while it is active."""
        ...

    def experiences(
        self,
        *,
        status: ExperienceStatus | None = "active",
        order: ExperienceOrder = "oldest",
        limit: int | None = None,
    ) -> Sequence[Experience]:
        """Experiences in one of the orders; ties by the lowest number.

        `oldest`: by number; with `limit`, the newest so many of them (still oldest first). `least-recent`: by the last
        use, or else by when it was learnt, the longest ago first; with `limit`, the first so many.
        """
        ...

    def count_experiences(self, status: ExperienceStatus | None = "active") -> int: ...

    def nearest_bullets(
        self, text: str, k: int, *, min_score: float = -1.0, among: Iterable[str] | None = None
    ) -> Sequence[Scored[Bullet]]: ...

    def nearest_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]: ...

    def relevant_bullets(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Bullet]]:
        """What to show for a text; to tell whether two say the same, ask for the nearest."""
        ...

    def relevant_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]: ...
