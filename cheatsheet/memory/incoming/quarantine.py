"""Quarantine: what comes from where nobody vouches for it, or looks like an attack, is kept but not served."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.gate.guard_past import Past
from cheatsheet.memory.gate.guard_policy import PROPOSED_FOR
from cheatsheet.memory.history.journal import Cause
from cheatsheet.memory.likeness.grow import may_be_near, near
from cheatsheet.memory.likeness.sameness import fold
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Restore, Update
from cheatsheet.memory.view import MemoryView
from cheatsheet.safety.injection import signs

QUARANTINED: Final = "quarantined: "
"""How `archived_because` begins for what is in quarantine."""

# What a person does by hand is the person's matter, and a refinement brings nothing new.
_VOUCHED_FOR: Final[frozenset[Cause]] = frozenset({"user", "rollback", "refine"})
_SHOWN_CHARS: Final = 60
_NEARLY: Final = 0.9  # cosine of texts that may be the same but for their case and their last dot


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinePolicy:
    """What is not served until a person releases it.

    Attributes:
        untrusted: patterns of sources (`mcp`, `*.md`) and of causes (`import`, `agent`, `turn`), with `*` and `?`,
            whatever their case.
        on_signs: whether signs of injected instructions are enough, except in what a person does by hand.
        window: how many of the latest archived bullets are looked at, so that nothing is kept twice.
    """

    untrusted: tuple[str, ...] = ()
    on_signs: bool = True
    window: int = 1_000


@dataclass(frozen=True, slots=True)
class Quarantined:
    """The operations as they may go on, and one sentence for each that is held back."""

    operations: tuple[Operation, ...]
    notes: tuple[str, ...] = ()


def quarantine(
    operations: Iterable[Operation], memory: MemoryView, policy: QuarantinePolicy, *, cause: Cause
) -> Quarantined:
    """Hold back what the policy names: new bullets are archived instead of active, new words change no bullet.

    - A new bullet becomes an archived one, `archived_because` "quarantined: …"; `cheatsheet restore ID` releases it.
    - New words for a bullet are archived beside it, and the bullet keeps its own.
    - What is active already, word for word, passes: somebody released it. What is archived already is not kept twice.
    - Only a person releases: a `Restore` of what is in quarantine by any other cause is left out.

    Done before `grow`, so that nothing of what is held back is merged into what is served. Doing it twice is doing it
    once.
    """
    held, pending = _Held(memory, policy, cause), list(operations)
    reasons = [held.why_not_add(operation) for operation in pending]
    held.look_up(operation for operation, reason in zip(pending, reasons, strict=True) if reason)
    for operation, reason in zip(pending, reasons, strict=True):
        held.take(operation, reason)
    return Quarantined(tuple(held.passed), tuple(held.notes))


class _Held:
    """One batch on its way."""

    def __init__(self, memory: MemoryView, policy: QuarantinePolicy, cause: Cause) -> None:
        self.passed: list[Operation] = []
        self.notes: list[str] = []
        self._memory = memory
        self._policy = policy
        self._cause = cause
        self._past = Past(memory, policy.window)
        self._kept: set[str] = set()
        self._served: set[str] = set()

    def why_not_add(self, operation: Operation) -> str:
        """Why a new bullet is held back, in a few words; empty where it is not, and for all other operations."""
        if not isinstance(operation, Add) or operation.draft.status != "active":
            return ""
        return self._why(operation.draft)

    def look_up(self, operations: Iterable[Operation]) -> None:
        """Find which of many new bullets are active already.

        They are looked for by their likeness: to read all that is active takes longer the more there is.
        """
        words = list(dict.fromkeys(operation.draft.content for operation in operations if isinstance(operation, Add)))
        found = zip(words, may_be_near(words, self._memory, _NEARLY), strict=True)
        self._served = {text for text, near in found if near and self._is_served(text)}

    def take(self, operation: Operation, reason: str) -> None:
        """Let one operation pass, or hold it back.

        Args:
            reason: of `why_not_add`.
        """
        if isinstance(operation, Add):
            self._take_add(operation, reason)
        elif isinstance(operation, Update):
            self._take_update(operation)
        elif isinstance(operation, Merge):
            self._take_merge(operation)
        elif isinstance(operation, Restore) and self._is_held(operation.id):
            self.notes.append(f"{operation.id} stays in quarantine: only a person releases it.")
        else:
            self.passed.append(operation)

    def _take_add(self, operation: Add, reason: str) -> None:
        if not reason or operation.draft.content in self._served:
            self.passed.append(operation)
        else:
            self._hold(operation.draft, reason)

    def _take_update(self, operation: Update) -> None:
        words, bullet = operation.content, self._past.active(operation.id)
        reason = self._why(Draft(content=words)) if words is not None and words.strip() and bullet else ""
        if not reason or words is None or bullet is None or fold(words) == fold(bullet.content):
            self.passed.append(operation)
            return
        self._hold(_proposal(bullet, words), reason)
        rest = operation.model_copy(update={"content": None})
        if rest.model_dump(exclude={"type", "id"}, exclude_none=True):
            self.passed.append(rest)

    def _take_merge(self, operation: Merge) -> None:
        words, draft, bullet = operation.content, operation.draft, self._past.active(operation.into)
        reason = self._why(draft) if draft else ""
        if words is not None and bullet and not reason:
            reason = self._why(Draft(content=words, sources=draft.sources if draft else ()))
        if not reason or (draft is None and words is None):
            self.passed.append(operation)
            return
        if draft is not None:
            self._hold(draft, reason)
        elif bullet is not None and words is not None:
            self._hold(_proposal(bullet, words), reason)

    def _why(self, draft: Draft) -> str:
        """Why a draft is held back, in a few words; empty where it is not."""
        for origin in (*draft.sources, self._cause):
            if any(fnmatchcase(origin.casefold(), pattern.casefold()) for pattern in self._policy.untrusted):
                return f"it comes from {origin!r}"
        if not self._policy.on_signs or self._cause in _VOUCHED_FOR:
            return ""
        found = signs(draft.content) or signs(draft.section.replace("_", " "))
        return f"it looks like an instruction ({found[0].kind})" if found else ""

    def _hold(self, draft: Draft, reason: str) -> None:
        short = " ".join(draft.content.split())
        shown = repr(short if len(short) <= _SHOWN_CHARS else f"{short[:_SHOWN_CHARS]}…")
        words = fold(draft.content)
        if words in self._kept or words in self._past.archived_words:
            self.notes.append(f"{shown} is in quarantine or archived already: {reason}.")
            return
        self._kept.add(words)
        metadata = draft.metadata | {"archived_because": f"{QUARANTINED}{reason}"}
        self.passed.append(Add(draft=draft.model_copy(update={"status": "archived", "metadata": metadata})))
        self.notes.append(f"{shown} was quarantined: {reason}. `cheatsheet restore` with its id releases it.")

    def _is_held(self, id: str) -> bool:
        bullet = None if self._cause in _VOUCHED_FOR else self._past.any_status(id)
        return bullet is not None and bullet.status == "archived" and is_quarantined(bullet)

    def _is_served(self, words: str) -> bool:
        return any(fold(hit.value.content) == fold(words) for hit in near(words, self._memory, _NEARLY))


def is_quarantined(bullet: Bullet) -> bool:
    """Whether a bullet was archived by a quarantine."""
    return str(bullet.metadata.get("archived_because", "")).startswith(QUARANTINED)


def _proposal(bullet: Bullet, words: str) -> Draft:
    return Draft(section=bullet.section, content=words, metadata={PROPOSED_FOR: bullet.id})
