"""The Curator by rules."""

from __future__ import annotations

from cheatsheet.memory.bullet import RESTATEMENT
from cheatsheet.memory.operations import Add, Draft, Tag
from cheatsheet.memory.view import MemoryView
from cheatsheet.roles.role import Attempt, Curation, ErrorKind, Reflection

# Sections of ACE's playbook (ace-agent/ace, playbook_utils.py).
_SECTIONS = {
    ErrorKind.NONE: "strategies_and_insights",
    ErrorKind.CALCULATION: "formulas_and_calculations",
    ErrorKind.CONCEPT: "strategies_and_insights",
    ErrorKind.FORMAT: "common_mistakes_to_avoid",
    ErrorKind.OMISSION: "common_mistakes_to_avoid",
    ErrorKind.UNIT: "formulas_and_calculations",
    ErrorKind.WRONG_CHOICE: "strategies_and_insights",
    ErrorKind.OTHER: "common_mistakes_to_avoid",
}


class RuleCurator:
    """Adds the reflection's key insight to the section of its kind of error, and counts its tags.

    Whether the insight is known already is decided where bullets are grown, by meaning.
    """

    def curate(self, reflection: Reflection, attempt: Attempt, memory: MemoryView) -> Curation:
        tags, skipped = tag_operations(reflection, memory)
        insight = reflection.key_insight.strip()
        adds = (Add(draft=_draft(insight, reflection)),) if insight else ()
        return Curation(operations=(*adds, *tags), skipped=skipped)


def _draft(insight: str, reflection: Reflection) -> Draft:
    tags = (RESTATEMENT,) if reflection.restates else ()
    return Draft(section=_SECTIONS[reflection.error], content=insight, tags=tags)


def tag_operations(reflection: Reflection, memory: MemoryView) -> tuple[tuple[Tag, ...], tuple[str, ...]]:
    """The reflection's tags as operations, and a sentence for each that names no active bullet.

    A neutral tag is no operation: it changes no counter.
    """
    tags: list[Tag] = []
    skipped: list[str] = []
    for id, verdict in reflection.tags.items():
        bullet = memory.bullet(id)
        if bullet is None or bullet.status != "active":
            state = "does not exist" if bullet is None else f"is {bullet.status}"
            skipped.append(f"The tag {verdict!r} was left out: the bullet {id!r} {state}.")
        elif verdict != "neutral":
            tags.append(Tag(id=id, helpful=int(verdict == "helpful"), harmful=int(verdict == "harmful")))
    return tuple(tags), tuple(skipped)
