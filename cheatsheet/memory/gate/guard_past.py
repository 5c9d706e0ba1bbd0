"""The memory as the guard sees it: what is active before a batch, and what was archived lately."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.gate.guard_policy import EARLIER_WORDING_OF, LEFT_OUT, UNSAID
from cheatsheet.memory.gate.holdings import meaningful
from cheatsheet.memory.likeness.sameness import fold
from cheatsheet.memory.view import MemoryView


class Past:
    """The state before a batch of operations; the archive is read when it is first needed.

    Args:
        window: how many of the latest archived bullets are looked at.
    """

    def __init__(self, memory: MemoryView, window: int) -> None:
        self._memory = memory
        self._window = window
        self._found: dict[str, Bullet | None] = {}

    def any_status(self, id: str) -> Bullet | None:
        if id not in self._found:
            self._found[id] = self._memory.bullet(id)
        return self._found[id]

    def active(self, id: str) -> Bullet | None:
        """The bullet, where it is active; what the batch itself does is not asked, for it may fail."""
        bullet = self.any_status(id)
        return bullet if bullet is not None and bullet.status == "active" else None

    def count_active(self) -> int:
        return self._memory.count_bullets()

    @cached_property
    def archived(self) -> Sequence[Bullet]:
        return self._memory.bullets(status="archived", order="recent", limit=self._window)

    @cached_property
    def archived_words(self) -> frozenset[str]:
        """Folded words of all that is archived."""
        return frozenset(fold(bullet.content) for bullet in self.archived)

    def eroded(self) -> int:
        """How many bullets rewrites have left out."""
        reasons = (str(bullet.metadata.get("archived_because", "")) for bullet in self.archived)
        return sum(reason.startswith(LEFT_OUT) or reason == UNSAID for reason in reasons)

    def fullest_wording(self, bullet: Bullet) -> str:
        """The fullest of the wordings that the bullet had before; blank where none is known."""
        earlier = [old.content for old in self.archived if old.metadata.get(EARLIER_WORDING_OF) == bullet.id]
        return min(earlier, key=lambda words: (-meaningful(words).total(), words), default="")
