"""What is known of a memory from outside: what its processes acknowledged, and whether that is still there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cheatsheet.errors import CheatsheetError
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.search.index_file import IndexFolder
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.upkeep.check_index import check_indexes
from cheatsheet.memory.upkeep.verify import verify
from indexes.auto import AutoIndex

# Actions that change nothing of what a memory is.
_SILENT = frozenset({"recall", "backup", "vacuum", "reopen"})


@dataclass(slots=True, kw_only=True)
class Ledger:
    """All that was acknowledged over the lives of one memory.

    Attributes:
        turns: id and question of the experience of every acknowledged turn, by the turn's name.
        bullets: ids of all acknowledged bullets.
        version: the newest that was acknowledged, or seen.
        backups: those that were acknowledged.
        flying: what was announced and not acknowledged, in the newest life.
        actions: how many were acknowledged.
    """

    namespace: str
    turns: dict[str, tuple[str, str]] = field(default_factory=dict)
    bullets: set[str] = field(default_factory=set)
    version: int = 0
    backups: list[str] = field(default_factory=list)
    flying: Mapping[str, Any] = field(default_factory=dict)
    actions: int = 0

    def hear(self, said: Sequence[Mapping[str, Any]]) -> None:
        """Take down what a child said before it died."""
        self.flying = {}
        for told in said:
            if "doing" in told:
                self.flying = told
                continue
            self.flying = {}
            self.actions += 1
            self.turns |= {name: (id, query) for name, (id, query) in told.get("turns", {}).items()}
            self.bullets |= set(told.get("bullets", ()))
            self.backups += [told["backup"]] if "backup" in told else []
            self.version = max(self.version, told["version"])

    def missing(self, store: MemoryStore) -> Iterator[str]:
        """Whatever was acknowledged and is not there, and whatever is there that nobody announced."""
        if store.version(self.namespace) < self.version:
            yield f"version {self.version} was acknowledged, and the memory has {store.version(self.namespace)}"
        for name, (id, query) in self.turns.items():
            experience = store.experience(self.namespace, id)
            if experience is None or experience.query != query:
                yield f"the turn {name} was acknowledged as {id}, and is not there"
            if store.entry_of_turn(self.namespace, name) is None:
                yield f"the turn {name} was acknowledged, and is not in the journal"
        known = {bullet.id for bullet in store.bullets(self.namespace, status=None)}
        yield from (f"the bullet {id} was acknowledged, and is not there" for id in sorted(self.bullets - known))
        yield from self._unannounced(store.journal(self.namespace, after=self.version))

    def landed(self, store: MemoryStore) -> bool:
        """Whether what was in flight is there; the ledger counts it as seen from now on."""
        newest = store.version(self.namespace)
        had, self.version = self.version, max(self.version, newest)
        return newest > had

    def _unannounced(self, entries: Sequence[JournalEntry]) -> Iterator[str]:
        """Entries beyond the acknowledged ones may be those of one action in flight, all of them or none."""
        names = [entry.turn_id for entry in entries]
        if entries and (not self.flying or self.flying["doing"] in _SILENT):
            yield f"the memory has {len(entries)} entries that nobody announced"
        elif entries and names != list(self.flying.get("turns", [""])):
            yield f"of what was in flight ({dict(self.flying)}), only the turns {names} are there"


def flaws_of(store: MemoryStore) -> list[str]:
    """What `verify` finds."""
    return [flaw.text for flaw in verify(store)]


def flaws_of_indexes(store: MemoryStore, namespace: str, path: str) -> list[str]:
    """What is wrong with the indexes beside a memory file; that a vacuum has made one useless is nothing wrong."""
    flaws = check_indexes(store, namespace, IndexFolder(Path(f"{path}.index")), AutoIndex)
    return [flaw.text for flaw in flaws if "vacuum" not in flaw.text]


def unsound_backups(ledger: Ledger, beside: Path) -> Iterator[str]:
    """What is wrong with the backups of a memory: acknowledged and gone, or damaged. All of them are deleted."""
    there = sorted(beside.glob("*.backup"))
    for lost in sorted(set(ledger.backups) - {str(path) for path in there}):
        yield f"the backup {Path(lost).name} was acknowledged, and is not there"
    for path in there:
        yield from (f"the backup {path.name}: {text}" for text in _flaws_in(path))
        path.unlink()
    ledger.backups.clear()


def _flaws_in(path: Path) -> list[str]:
    try:
        store = SqliteStore(path)
    except CheatsheetError as error:
        return [str(error)]
    try:
        return flaws_of(store)
    finally:
        store.close()
