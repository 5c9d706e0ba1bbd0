"""A change is looked at once more inside its transaction, where others wrote after it was prepared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cheatsheet.engine.intake import Taken, judged
from cheatsheet.engine.options import EngineOptions
from cheatsheet.memory.apply import survivor_of
from cheatsheet.memory.bullet import Bullet, number_of
from cheatsheet.memory.gate.meanwhile import Meanwhile, fit
from cheatsheet.memory.gate.newcomers import is_new, join_newcomers
from cheatsheet.memory.history.journal import Change, Committed
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.view import MemoryView
from indexes.cached import keys_of
from indexes.embedder import Embedder
from indexes.vectors import Vector


@dataclass(slots=True)
class Revision:
    """Makes of a change what fits the memory by now (promise K10). It embeds nothing, and asks no model.

    Attributes:
        seen: the version that the change was prepared by.
        whole: whether new bullets that came meanwhile as well are merged, and the guard judges, as before.
        skipped: one sentence for each thing that was left out the last time it was asked.
        notes: one sentence for each thing that was changed.
    """

    store: MemoryStore
    memory: MemoryView
    embedder: Embedder
    options: EngineOptions
    seen: int
    whole: bool = True
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __call__(self, change: Change) -> Change:
        since = Meanwhile.since(self.store, self.memory.namespace, self.seen)
        by_hand = change.cause == "user"
        fitted = fit(change.operations, since, self.memory.bullet, by_hand=by_hand)
        taken = Taken(fitted.operations, fitted.skipped, fitted.notes)
        if self.whole:
            taken = self._joined(taken, since)
            taken = taken if by_hand else judged(taken, self.memory, self.options)
        self.skipped, self.notes = taken.skipped, taken.notes
        told = (*change.notes, *taken.skipped, *taken.notes)
        return change.model_copy(update={"operations": taken.operations, "notes": told})

    def told(self, committed: Committed) -> Committed:
        """The outcome, with what became of the change on its way."""
        return replace(committed, skipped=(*self.skipped, *committed.skipped), notes=self.notes)

    def _joined(self, taken: Taken, since: Meanwhile) -> Taken:
        drafts = [operation.draft.content for operation in taken.operations if is_new(operation)]
        came = self._came(since) if drafts else []
        if not came:
            return taken
        vectors = self._vectors([*drafts, *(bullet.content for bullet in came)])
        grown = join_newcomers(taken.operations, came, vectors, threshold=self.options.grow_threshold)
        return replace(taken, operations=tuple(grown.operations), notes=(*taken.notes, *grown.notes))

    def _came(self, since: Meanwhile) -> list[Bullet]:
        """Active bullets that came or changed, and those in which others live on since."""
        changed = self.store.bullets_by_number(self.memory.namespace, sorted(since.changed)).values()
        merged = (bullet.id for bullet in changed if bullet.status == "merged")
        survivors = map(self.memory.bullet, {survivor_of(id, self.memory.bullet) for id in merged})
        found = {bullet.id: bullet for bullet in (*changed, *survivors) if bullet and bullet.status == "active"}
        return sorted(found.values(), key=lambda bullet: number_of(bullet.id) or 0)

    def _vectors(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Those that are known already."""
        keys = keys_of(texts, self.embedder)
        found = self.store.get_many(keys)
        return {text: found[key] for text, key in zip(texts, keys, strict=True) if key in found}
