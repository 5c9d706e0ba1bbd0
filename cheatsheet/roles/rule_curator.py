"""The Curator by rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cheatsheet.memory.apply import survivor_of
from cheatsheet.memory.bullet import RESTATEMENT, Bullet
from cheatsheet.memory.operations import Add, Draft, Tag
from cheatsheet.memory.view import MemoryView
from cheatsheet.roles.repetition import repeated
from cheatsheet.roles.role import Curation, ErrorKind, Reflected, Reflection, TagName

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
    """Adds the key insight of each reflection to the section of its kind of error, and counts all tags.

    - An insight that only repeats a bullet that stood in the prompt is not learnt again; after a right answer it counts
      as a helpful tag, unless the reflection has a verdict on that bullet.
    - Whether the insight is known otherwise is decided where bullets are grown, by meaning.
    """

    def curate(self, reflected: Sequence[Reflected], memory: MemoryView) -> Curation:
        adds: list[Add] = []
        heard: list[Reflected] = []
        told: list[str] = []
        for each in reflected:
            insight = each.reflection.key_insight.strip()
            echoed = repeated(insight, each.attempt.bullets) if insight else None
            if echoed is not None:
                told.append(f"The insight {insight[:60]!r} only repeats {echoed.id!r}, which stood in the prompt.")
            elif insight:
                adds.append(Add(draft=_draft(each.reflection)))
            heard.append(each if echoed is None else _credited(each, echoed))
        tags, skipped = tag_operations(heard, memory)
        return Curation(operations=(*adds, *tags), skipped=(*told, *skipped))


def _credited(each: Reflected, echoed: Bullet) -> Reflected:
    """The same, with a helpful tag for the bullet that came back as the insight of a right answer."""
    tags = each.reflection.tags
    if not each.reflection.correct or echoed.id in tags:
        return each
    return replace(each, reflection=replace(each.reflection, tags={**tags, echoed.id: "helpful"}))


def _draft(reflection: Reflection) -> Draft:
    tags = (RESTATEMENT,) if reflection.restates else ()
    return Draft(section=_SECTIONS[reflection.error], content=reflection.key_insight.strip(), tags=tags)


def tag_operations(reflected: Sequence[Reflected], memory: MemoryView) -> tuple[tuple[Tag, ...], tuple[str, ...]]:
    """The tags of all reflections, summed up in one operation for each bullet, in the order of their first mention;
    and a sentence for each tag that names no active bullet.

    A neutral tag counts nothing. Two attempts that disagree about a bullet are two votes: both are counted. What is
    said of a bullet that was merged since it was shown counts for the one in which it lives on.
    """
    votes: dict[str, Counter[TagName]] = {}
    skipped: list[str] = []
    for id, verdict in (tag for each in reflected for tag in each.reflection.tags.items()):
        bullet = memory.bullet(survivor_of(id, memory.bullet))
        if bullet is None or bullet.status != "active":
            state = "does not exist" if bullet is None else f"is {bullet.status}"
            skipped.append(f"The tag {verdict!r} was left out: the bullet {id!r} {state}.")
        elif verdict != "neutral":
            votes.setdefault(bullet.id, Counter())[verdict] += 1
    tags = (Tag(id=id, helpful=count["helpful"], harmful=count["harmful"]) for id, count in votes.items())
    return tuple(tags), tuple(skipped)
