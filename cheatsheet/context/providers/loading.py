"""What is loaded, and at which priority: by `full` or `minimal`, and by the part of the day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from cheatsheet.context.fence import one_line
from cheatsheet.context.ledger import LedgerEntry
from cheatsheet.context.providers.effects import CORE_FILES, EFFECTS
from cheatsheet.context.providers.files import FileFact
from cheatsheet.context.providers.provider import ContextRequest, Note, NoteKind
from cheatsheet.context.providers.running import Outcome
from cheatsheet.context.section import Section

# For an agent that another agent started: who it is, the rules of work, and what it runs on.
_MINIMAL: Final = frozenset({*CORE_FILES, "AGENTS.md", "home-files", "runtime"})

_NOTE_CHARS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one request loads.

    Attributes:
        only: names of providers and of sections; None is all of them.
        skips: names that are not loaded.
        raised: by how much a section's priority is raised or lowered.
        why: the reason, where something is not loaded.
    """

    only: frozenset[str] | None
    skips: frozenset[str]
    raised: Mapping[str, int]
    why: str

    @classmethod
    def of(cls, request: ContextRequest) -> Plan:
        """The plan of a request."""
        if request.mode == "minimal":
            return cls(only=_MINIMAL, skips=frozenset(), raised={}, why="A minimal context does not load it.")
        mode = request.time_mode
        effect = EFFECTS[mode]
        why = f"The time mode {mode.value!r} does not load it."
        return cls(only=effect.only, skips=effect.skips, raised=effect.raised, why=why)

    def loads(self, name: str) -> bool:
        """Whether a section, or any section of a provider, is loaded."""
        return name not in self.skips and (self.only is None or name in self.only)

    def ordered(self, sections: Iterable[Section]) -> tuple[Section, ...]:
        """The sections by their priority in this plan; within one, those that seldom change come first."""
        placed = (
            replace(section, priority=section.priority + self.raised.get(section.name, 0)) for section in sections
        )
        return tuple(sorted(placed, key=lambda section: (-section.priority, not section.stable)))


@dataclass(slots=True)
class Loaded:
    """What the providers brought, as far as a plan wants it."""

    plan: Plan
    taken: set[str]
    sections: list[Section] = field(default_factory=list)
    left_out: list[LedgerEntry] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    files: list[FileFact] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Take what a provider brought, or enter into the ledger why it brought nothing."""
        if outcome.provided is None:
            self.left_out.append(_entry(outcome.name, 0, outcome.problem))
            self.notes += told(
                "left-out", outcome.name, f"The provider {outcome.name!r} is left out. {outcome.problem}"
            )
            return
        self.notes += outcome.provided.notes
        self.files += outcome.provided.files
        for section in outcome.provided.sections:
            self._add(section, outcome.name)

    def skip(self, provider: str) -> None:
        """Enter into the ledger that a provider was not asked."""
        self.left_out.append(_entry(provider, 0, self.plan.why))

    def _add(self, section: Section, provider: str) -> None:
        if section.name in self.taken:
            why = f"Another section has this name; the one of the provider {provider!r} is left out."
            self.left_out.append(_entry(section.name, section.priority, why))
        elif self.plan.loads(section.name):
            self.taken.add(section.name)
            self.sections.append(section)
        else:
            self.left_out.append(_entry(section.name, section.priority, self.plan.why))


def told(kind: NoteKind, provider: str, *texts: str) -> tuple[Note, ...]:
    """Notes of one kind, each a single line."""
    return tuple(Note(kind=kind, provider=provider, text=one_line(text, max_chars=_NOTE_CHARS)) for text in texts)


def _entry(name: str, priority: int, why: str) -> LedgerEntry:
    return LedgerEntry(section=name, priority=priority, wanted_tokens=0, got_tokens=0, action="left-out", reason=why)
