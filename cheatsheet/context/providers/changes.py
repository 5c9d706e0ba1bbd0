"""What changed in the home since last time, and what that means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_MEANINGS: Final = {
    "IDENTITY.md": "who you are was rewritten",
    "SOUL.md": "your character has evolved",
    "AGENTS.md": "the rules of work changed",
    "USER.md": "the user's preferences were updated",
    "MEMORY.md": "long-term memory was updated",
    "TOOLS.md": "tool settings changed",
    "HEARTBEAT.md": "the standing checks changed",
    "BOOTSTRAP.md": "the first-run instructions changed",
}
_SKILLS: Final = "skills/"
_VERBS: Final = {"changed": "changed", "added": "is new", "removed": "is gone"}
_SKILL_WORDS: Final = {"changed": "was updated; read it again", "added": "was discovered", "removed": "is gone"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Paths below the home that differ between two times, in order."""

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed)

    def __add__(self, other: Changes) -> Changes:
        return Changes(
            changed=tuple(sorted({*self.changed, *other.changed})),
            added=tuple(sorted({*self.added, *other.added})),
            removed=tuple(sorted({*self.removed, *other.removed})),
        )


def compute_changes(current: Mapping[str, str], previous: Mapping[str, str]) -> Changes:
    """What changed from one table of digests to the next, by path.

    Source: the change detection of MiniClaw 0.5.0.
    """
    return Changes(
        changed=tuple(sorted(path for path in current if path in previous and current[path] != previous[path])),
        added=tuple(sorted(path for path in current if path not in previous)),
        removed=tuple(sorted(path for path in previous if path not in current)),
    )


def change_lines(changes: Changes) -> tuple[str, ...]:
    """What the changes mean, a sentence for each file and for each skill."""
    found = [(path, "changed") for path in changes.changed]
    found += [(path, "added") for path in changes.added]
    found += [(path, "removed") for path in changes.removed]
    lines = [_file_line(path, how) for path, how in found if not path.startswith(_SKILLS)]
    return (*sorted(lines), *_skill_lines(changes))


def _file_line(path: str, how: str) -> str:
    meaning = f": {_MEANINGS[path]}" if how == "changed" and path in _MEANINGS else ""
    return f"{path} {_VERBS[how]}{meaning}."


def _skill_lines(changes: Changes) -> list[str]:
    """One line a skill: it is new or gone with its SKILL.md, and updated with any other of its files."""
    news: dict[str, str] = {}
    for how, paths in (("changed", changes.changed), ("added", changes.added), ("removed", changes.removed)):
        for folder, _, file in (
            path.removeprefix(_SKILLS).partition("/") for path in paths if path.startswith(_SKILLS)
        ):
            is_whole = file == "SKILL.md" and how != "changed"
            if file and (is_whole or folder not in news):
                news[folder] = _SKILL_WORDS[how if is_whole else "changed"]
    return [f"The skill {folder} {words}." for folder, words in sorted(news.items())]
