"""Doubles for tests of the roles: a model with a script, and a memory in a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from cheatsheet.llm.model import Capabilities, Outcome, Reply, Usage
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.memory.bullet import Bullet, Status
from cheatsheet.memory.experience import Experience, ExperienceStatus
from cheatsheet.memory.view import BulletOrder, ExperienceOrder, Scored

WHEN = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)


def says(*replies: str | Reply | Exception, capabilities: Capabilities | None = None) -> ScriptedModel:
    """A model with these replies in turn."""
    return ScriptedModel(replies, name="fake", capabilities=capabilities)


def prompt_of(model: ScriptedModel) -> str:
    """The text of the newest request."""
    request = model.requests[-1]
    return request.prompt or "\n\n".join(message["content"] for message in request.messages)


class FakeMemory:
    """Bullets in a dictionary; it finds nothing by meaning."""

    namespace = "default"
    version = 1

    def __init__(self, bullets: Iterable[Bullet] = ()) -> None:
        self._bullets = {bullet.id: bullet for bullet in bullets}

    def bullet(self, id: str) -> Bullet | None:
        return self._bullets.get(id)

    def bullets(
        self,
        *,
        status: Status | None = "active",
        section: str | None = None,
        order: BulletOrder = "id",
        limit: int | None = None,
    ) -> Sequence[Bullet]:
        found = [b for b in self._bullets.values() if status in (None, b.status) and section in (None, b.section)]
        if order == "utility":
            found.sort(key=lambda bullet: bullet.harmful - bullet.helpful)
        return found[:limit]

    def count_bullets(self, status: Status | None = "active") -> int:
        return len(self.bullets(status=status))

    def experience(self, id: str) -> Experience | None:
        return None

    def experiences(
        self,
        *,
        status: ExperienceStatus | None = "active",
        order: ExperienceOrder = "oldest",
        limit: int | None = None,
    ) -> Sequence[Experience]:
        return ()

    def count_experiences(self, status: ExperienceStatus | None = "active") -> int:
        return 0

    def nearest_bullets(
        self, text: str, k: int, *, min_score: float = -1.0, among: Iterable[str] | None = None
    ) -> Sequence[Scored[Bullet]]:
        return ()

    def nearest_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        return ()

    def relevant_bullets(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Bullet]]:
        return ()

    def relevant_experiences(self, text: str, k: int, *, min_score: float = -1.0) -> Sequence[Scored[Experience]]:
        return ()


def said(text: str, outcome: Outcome = Outcome.OK) -> Reply:
    return Reply(text=text, outcome=outcome, model="fake", usage=Usage(prompt_tokens=10, completion_tokens=5, calls=1))


def nothing_said(outcome: Outcome) -> Reply:
    return said("", outcome)


def bullet(id: str, content: str = "Check the unit.", **properties: Any) -> Bullet:
    return Bullet(id=id, content=content, created_at=WHEN, updated_at=WHEN, **properties)
