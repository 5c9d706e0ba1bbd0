"""Bullets: single pieces of advice with counters."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator

from cheatsheet.memory.experience import SLUG as EXPERIENCE_SLUG
from cheatsheet.memory.frozen import FrozenModel
from cheatsheet.memory.values import Moment

Status = Literal["active", "archived", "merged"]
"""`active` bullets are served; `archived` ones can be restored; `merged` ones live on in another bullet."""

DEFAULT_SECTION = "others"

RESTATEMENT = "restatement"
"""Tag of a bullet that says no more than one question and its right answer, as an experience does that is kept."""

# Slugs of ACE's sections (ace-agent/ace, playbook_utils.py); other names are abbreviated by `slug_of`.
SECTION_SLUGS = {
    "financial_strategies_and_insights": "fin",
    "strategies_and_insights": "sai",
    "formulas_and_calculations": "calc",
    "code_snippets_and_templates": "code",
    "common_mistakes_to_avoid": "err",
    "problem_solving_heuristics": "prob",
    "context_clues_and_indicators": "ctx",
    "others": "misc",
    "meta_strategies": "meta",
}


class Bullet(FrozenModel):
    """One piece of advice. A value: a change makes a new one.

    Attributes:
        id: `slug-00012`, unique in its namespace, never reused.
        section: the heading it belongs to, in lower case with underscores (`formulas_and_calculations`).
        content: the advice, any text that is not blank.
        helpful, harmful: how often it was tagged so.
        uses, last_used_at: how often, and when last, it stood in the prompt of a turn that was learnt from.
        sources: where it comes from, such as experience ids or file names.
        expires_at: from then on it is archived by the next refine.
        pinned: never archived by refine.
        kind: which class of bullet it is; `bullet` is this one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    section: str = DEFAULT_SECTION
    content: str = Field(min_length=1)
    helpful: int = Field(default=0, ge=0)
    harmful: int = Field(default=0, ge=0)
    created_at: Moment
    updated_at: Moment
    last_used_at: Moment | None = None
    uses: int = Field(default=0, ge=0)
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    expires_at: Moment | None = None
    pinned: bool = False
    status: Status = "active"
    kind: str = "bullet"
    metadata: dict[str, Any] = Field(default_factory=dict)

    @field_validator("content")
    @classmethod
    def _not_blank(cls, content: str) -> str:
        if not content.strip():
            raise ValueError("the content is blank")
        return content

    def validate(self) -> None:
        """Rules of a kind of bullet that its fields alone cannot say; kinds of your own put theirs here.

        Called for every new bullet and for every change of its words or properties, before it is stored; never for
        what is read. A subclass raises `ValueError`, whose message becomes that of a `BulletError`.
        """

    def utility(self, harmful_weight: float = 1.0, *, helpful_weight: float = 1.0) -> float:
        """`helpful_weight * helpful - harmful_weight * harmful`, by which bullets are ranked."""
        return helpful_weight * self.helpful - harmful_weight * self.harmful


def bullet_id(section: str, number: int) -> str:
    """The id of the bullet with this number: `calc-00012`."""
    return f"{slug_of(section)}-{number:05d}"


def number_of(id: str) -> int | None:
    """The number in an id, which alone tells bullets of one namespace apart; None when there is none."""
    digits = id.rpartition("-")[2]
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= 18 else None


def section_key(section: str) -> str:
    """The form in which a section is kept: `FORMULAS & CALCULATIONS` becomes `formulas_and_calculations`."""
    words = re.findall(r"[^\W_]+", section.replace("&", " and ").casefold())
    return "_".join(words) or DEFAULT_SECTION


def section_title(section: str) -> str:
    """The form in which a section is shown: `formulas_and_calculations` becomes `FORMULAS & CALCULATIONS`."""
    return section.replace("_and_", " & ").replace("_", " ").upper()


def slug_of(section: str) -> str:
    """The slug that the ids of a section's bullets begin with, as in ace-agent/ace; never that of experiences."""
    key = section_key(section)
    if key in SECTION_SLUGS:
        return SECTION_SLUGS[key]
    words = [word for word in key.split("_") if word]
    slug = words[0][:4] if len(words) == 1 else "".join(word[0] for word in words[:5])
    return slug if slug.isascii() and slug != EXPERIENCE_SLUG else "misc"
