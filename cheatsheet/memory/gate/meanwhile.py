"""What others changed while a change was made, and what of the change still fits.

A turn reads the memory, asks a model, and writes; the model takes seconds, and others write meanwhile. A store that
then writes what it read loses what they wrote, however well it is locked while it writes (odysseus-dev/odysseus#1940).
Operations are small, so that most of them fit whatever came: votes are counted and new bullets are added. What is
decided by words that are no longer there is left out and told, and nothing that was said with it is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from cheatsheet.memory.apply import Lookup
from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.experience import is_experience_id
from cheatsheet.memory.gate.archiving import archived_proposal
from cheatsheet.memory.gate.guard_policy import EARLIER_WORDING_OF
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.likeness.sameness import fold
from cheatsheet.memory.operations import Add, Merge, Operation, Remove, Tag, Update
from cheatsheet.memory.store import MemoryStore


@dataclass(frozen=True)
class Meanwhile:
    """What changed in a memory since it was seen.

    Attributes:
        version: up to where this reaches.
        changed: numbers of the bullets that have other words, or another status, by now.
        read_journal: reads what was written since.
    """

    version: int
    changed: frozenset[int]
    read_journal: Callable[[], Iterable[JournalEntry]]

    @classmethod
    def since(cls, store: MemoryStore, namespace: str, seen: int) -> Meanwhile:
        """What changed in a namespace of a store since the version `seen`."""
        touched = store.touched(namespace, after=seen)
        return cls(
            touched.version,
            frozenset(number for number, _, _ in touched.bullets),
            lambda: store.journal(namespace, after=seen),
        )

    @cached_property
    def confirmed(self) -> frozenset[str]:
        """Ids of the bullets that were found helpful, or learnt once more."""
        operations = [operation for entry in self.read_journal() for operation in entry.operations]
        tagged = {operation.id for operation in operations if isinstance(operation, Tag) and operation.helpful}
        return frozenset(tagged | {operation.into for operation in operations if isinstance(operation, Merge)})


@dataclass(frozen=True, slots=True)
class Fitted:
    """What may be applied, what was left out, and what was applied all the same, one sentence each."""

    operations: tuple[Operation, ...]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def fit(operations: Iterable[Operation], since: Meanwhile, find: Lookup, *, by_hand: bool) -> Fitted:
    """Look at operations again where what they speak of changed since it was seen.

    - New words for a bullet whose words or status changed are archived, and its words stay.
    - A bullet that changed, or was found helpful, is not removed.
    - Bullets of which one changed are not merged. A draft that was to join a bullet that changed is a new bullet again;
      whether it still says the same is decided anew (`grow`).
    - All else passes: votes and uses, new bullets, other properties than words.

    Fitting what was fitted changes nothing.

    Args:
        find: the bullet as it is now, whatever its status.
        by_hand: a person asked for it: nothing is left out, but it is told.
    """
    pending = list(operations)
    if not since.changed and not any(isinstance(operation, Remove) for operation in pending):
        return Fitted(tuple(pending))
    fitting = _Fitting(since, find, by_hand)
    for operation in pending:
        fitting.take(operation)
    kept = [operation for operation in fitting.passed if not fitting.is_pointless(operation)]
    return Fitted(tuple(kept), tuple(fitting.skipped), tuple(fitting.notes))


class _Fitting:
    """One batch of operations on its way."""

    def __init__(self, since: Meanwhile, find: Lookup, by_hand: bool) -> None:
        self.passed: list[Operation] = []
        self.skipped: list[str] = []
        self.notes: list[str] = []
        self._since = since
        self._find = find
        self._by_hand = by_hand
        self._keeping: set[str] = set()  # ids of bullets that keep their words
        self._undone: list[Operation] = []  # what belonged to merges that were taken apart

    def take(self, operation: Operation) -> None:
        """Let one operation pass, changed where it must be, or leave it out."""
        if isinstance(operation, Update) and operation.content is not None:
            self._take_words(operation, operation.content)
        elif isinstance(operation, Merge):
            self._take_merge(operation)
        elif isinstance(operation, Remove) and not is_experience_id(operation.id):
            self._take_removal(operation)
        else:
            self.passed.append(operation)

    def is_pointless(self, operation: Operation) -> bool:
        """Whether it only went with another one that was left out."""
        if isinstance(operation, Add):
            return operation.draft.metadata.get(EARLIER_WORDING_OF) in self._keeping
        return operation in self._undone

    def _take_words(self, operation: Update, content: str) -> None:
        bullet = self._changed(operation.id)
        if bullet is None or fold(content) == fold(bullet.content):
            self.passed.append(operation)
        elif self._by_hand:
            self.notes.append(f"{bullet.id} had been changed since it was read; its words were replaced all the same.")
            self.passed.append(operation)
        else:
            since = "it was changed since it was read"
            self.skipped.append(f"{bullet.id} keeps its words: {since}. Those proposed for it are archived.")
            self._archive(bullet, content, f"{bullet.id} was changed since it was read")
            rest = operation.model_copy(update={"content": None})
            if rest.model_dump(exclude={"type", "id"}, exclude_none=True):
                self.passed.append(rest)

    def _take_removal(self, operation: Remove) -> None:
        reason = self._why_it_stays(operation.id)
        if not reason:
            self.passed.append(operation)
        elif self._by_hand:
            self.notes.append(f"{operation.id} was removed, although {reason} since it was read.")
            self.passed.append(operation)
        else:
            self.skipped.append(f"{operation.id} stays active: {reason} since it was read.")

    def _why_it_stays(self, id: str) -> str:
        bullet = self._changed(id)
        if bullet is not None:
            return "it was changed" if bullet.status == "active" else ""
        return "it was found helpful" if id in self._since.confirmed else ""

    def _take_merge(self, operation: Merge) -> None:
        changed = next(filter(None, map(self._changed, (operation.into, *operation.absorbed))), None)
        if changed is None:
            self.passed.append(operation)
        elif self._by_hand and operation.absorbed:
            self.notes.append(f"{changed.id} had been changed since it was read; it was merged all the same.")
            self.passed.append(operation)
        else:
            self._take_apart(operation, changed)

    def _take_apart(self, operation: Merge, changed: Bullet) -> None:
        into, reason = operation.into, f"{changed.id} was changed since it was read"
        if operation.absorbed:
            self.skipped.append(f"{', '.join(operation.absorbed)} was not merged into {into}: {reason}.")
        if operation.draft is not None:
            self.passed.append(Add(draft=operation.draft))
            self._undone.append(Update(id=into, expires_at=operation.draft.expires_at))
        if operation.content is not None and not self._says(operation, operation.content):
            self.skipped.append(f"The words that were found for a merge into {into} are archived: {reason}.")
            self._archive(self._find(into) or changed, operation.content, reason)

    def _changed(self, id: str) -> Bullet | None:
        """The bullet as it is now, where it changed; the store names an id that there is not."""
        bullet = self._find(id)
        return bullet if bullet is not None and number_of(id) in self._since.changed else None

    def _says(self, operation: Merge, content: str) -> bool:
        """Whether the draft, or one of the bullets as it is now, has these words."""
        bullets = map(self._find, (operation.into, *operation.absorbed))
        parts = [operation.draft, *bullets]
        return any(part is not None and fold(part.content) == fold(content) for part in parts)

    def _archive(self, bullet: Bullet, content: str, reason: str) -> None:
        self._keeping.add(bullet.id)
        self.passed.append(archived_proposal(bullet, content, reason))
