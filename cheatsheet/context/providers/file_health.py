"""File health: what is missing, empty, oversized, unreadable or not UTF-8 is reported, and never fatal."""

from __future__ import annotations

from collections.abc import Iterable

from cheatsheet.context.fence import one_line
from cheatsheet.context.providers.files import FileFact

# Files that nobody has to have, and that may be empty.
_HARMLESS = ("ok", "missing", "empty")


def health_lines(facts: Iterable[FileFact]) -> tuple[str, ...]:
    """A sentence for every file that is not as it should be, by path."""
    return tuple(_line(fact) for fact in sorted(facts, key=lambda fact: fact.path) if fact.health != "ok")


def damage_lines(facts: Iterable[FileFact]) -> tuple[str, ...]:
    """A sentence for every file whose content was not, or not wholly, read as text; a missing one is no damage."""
    return health_lines(fact for fact in facts if fact.health not in _HARMLESS)


def _line(fact: FileFact) -> str:
    return f"{one_line(fact.path)} {fact.why}."
