"""Words that are kept without being served."""

from __future__ import annotations

from typing import Any

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.gate.guard_policy import PROPOSED_FOR
from cheatsheet.memory.operations import Add, Draft


def archived(draft: Draft, reason: str, metadata: dict[str, Any] | None = None) -> Add:
    """A draft on its way into the archive, with why it is there."""
    # Counters live on in the bullet, and a kind of its own may want fields that these words alone do not have.
    kept = {"status": "archived", "helpful": 0, "harmful": 0, "uses": 0, "pinned": False, "kind": "bullet"}
    told = {**draft.metadata, **(metadata or {}), "archived_because": reason}
    return Add(draft=draft.model_copy(update={**kept, "metadata": told}))


def archived_proposal(bullet: Bullet, content: str, reason: str) -> Add:
    """Words that were to become a bullet's, on their way into the archive."""
    return archived(Draft(section=bullet.section, content=content), reason, {PROPOSED_FOR: bullet.id})
