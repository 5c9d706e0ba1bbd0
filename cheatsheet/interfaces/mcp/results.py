"""What the tools return, as structured output: the descriptions are read by agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

from pydantic import BaseModel, Field

from cheatsheet.engine.playbooks import Imported
from cheatsheet.engine.results import Recall
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience
from cheatsheet.memory.view import Scored

# Of all contents in one answer: about 10,000 tokens, from which on clients warn or cut.
MAX_PAGE_CHARS: Final = 40_000

MAX_NOTES: Final = 50


class BulletInfo(BaseModel):
    """One piece of advice."""

    id: str
    section: str
    content: str
    helpful: int = Field(description="how often it was said to have helped")
    harmful: int = Field(description="how often it was said to have misled")
    uses: int = Field(description="in how many turns it was shown")
    pinned: bool = Field(description="never archived by the memory itself")
    tags: list[str]
    sources: list[str] = Field(description="where it comes from")
    status: str
    score: float | None = Field(default=None, description="cosine to what was searched, 1 is the same")

    @classmethod
    def of(cls, bullet: Bullet, score: float | None = None) -> Self:
        """What an agent sees of a bullet."""
        return cls(
            id=bullet.id,
            section=bullet.section,
            content=bullet.content,
            helpful=bullet.helpful,
            harmful=bullet.harmful,
            uses=bullet.uses,
            pinned=bullet.pinned,
            tags=list(bullet.tags),
            sources=list(bullet.sources),
            status=bullet.status,
            score=None if score is None else round(score, 4),
        )


class BulletPage(BaseModel):
    """Some of the bullets."""

    bullets: list[BulletInfo]
    more: bool = Field(description="whether there are further ones")
    next_offset: int | None = Field(default=None, description="offset for the next call; null where there are no more")

    @classmethod
    def of(cls, found: Iterable[BulletInfo], *, offset: int, more: bool) -> Self:
        """As many as may stand in one answer, at least one.

        Args:
            more: whether there are further ones after those found.
        """
        shown: list[BulletInfo] = []
        chars = 0
        for bullet in found:
            chars += len(bullet.content)
            if shown and chars > MAX_PAGE_CHARS:
                more = True
                break
            shown.append(bullet)
        return cls(bullets=shown, more=more, next_offset=offset + len(shown) if more else None)


class Shown(BaseModel):
    """Something that stands in a context."""

    id: str
    score: float = Field(description="cosine to the question")


class RecallResult(BaseModel):
    """What the memory has to say about a question."""

    turn_id: str = Field(description="give it to learn, or later to feedback")
    text: str = Field(description="the context: lessons and earlier questions; empty where nothing is known")
    tokens: int
    bullets: list[Shown] = Field(description="bullets in the text; name those that you use in learn(used=...)")
    experiences: list[Shown]
    notes: list[str]

    @classmethod
    def of(cls, turn_id: str, recall: Recall) -> Self:
        """What an agent sees of a recall."""
        return cls(
            turn_id=turn_id,
            text=recall.text,
            tokens=recall.tokens,
            bullets=_shown(recall.bullets),
            experiences=_shown(recall.experiences),
            notes=list(recall.notes),
        )


class LearnResult(BaseModel):
    """What was learnt."""

    turn_id: str = Field(description="give it to feedback, when more becomes known about the answer")
    experience_id: str = Field(description="the turn as it is remembered; feedback takes it as well, at any time")
    changes: list[str] = Field(description="one line for each change of the memory")
    notes: list[str] = Field(description="what was left out, and why")
    version: int = Field(description="of the memory afterwards")


class ChangeResult(BaseModel):
    """What was changed by hand."""

    bullet: BulletInfo | None = Field(description="the bullet as it is now")
    changes: list[str] = Field(description="one line for each change of the memory")
    notes: list[str] = Field(description="what was merged, left out or archived, and why")
    version: int = Field(description="of the memory afterwards")


class ImportResult(BaseModel):
    """What became of a playbook."""

    format: str = Field(description="the format that it was read in")
    entries: int = Field(description="pieces of advice in the text")
    known: int = Field(description="how many of them were imported from the same source before, and are passed over")
    added: list[str] = Field(description="ids of new bullets; none for a dry run")
    merged: list[str] = Field(description="ids of bullets that took an entry in")
    archived: int = Field(description="how many bullets were archived to keep the limits of the memory")
    notes: list[str] = Field(description="what could not be read, was merged, changed or left out, and why")
    dry_run: bool

    @classmethod
    def of(cls, imported: Imported) -> Self:
        """What an agent sees of an import."""
        damages = (f"line {damage.line}: {damage.text}" if damage.line else damage.text for damage in imported.damages)
        return cls(
            format=imported.format,
            entries=imported.entries,
            known=imported.known,
            added=list(imported.added),
            merged=list(imported.merged),
            archived=len(imported.archived),
            notes=_some([*damages, *dict.fromkeys([*imported.skipped, *imported.notes])]),
            dry_run=imported.dry_run,
        )


class ExportResult(BaseModel):
    """A playbook."""

    text: str
    bullets: int
    lost: list[str] = Field(description="what the format cannot carry")


class StatsResult(BaseModel):
    """How large the memory is, and what happened to it."""

    bullets: int = Field(description="active ones, which are shown to agents")
    archived: int
    merged: int
    experiences: int
    version: int
    mode: str
    measures: dict[str, float] = Field(description="counted since the server was started")


def _some(notes: list[str]) -> list[str]:
    """As many as an agent reads, and how many more there are."""
    more = len(notes) - MAX_NOTES
    return notes if more <= 0 else [*notes[:MAX_NOTES], f"There are {more:,} more of these."]


def _shown(hits: Iterable[Scored[Bullet] | Scored[Experience]]) -> list[Shown]:
    return [Shown(id=hit.value.id, score=round(hit.score, 4)) for hit in hits]
