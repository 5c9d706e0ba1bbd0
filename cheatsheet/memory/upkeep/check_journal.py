"""A journal read entry by entry: what in it cannot be, and the sheet that it leads to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cheatsheet.errors import StoreCorruptError
from cheatsheet.memory.bullet import number_of
from cheatsheet.memory.experience import experience_id
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.history.sheet import Replaying, Sheet
from cheatsheet.memory.operations import Add
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.upkeep.flaw import Flaw, named

_AT_ONCE: Final = 500


class JournalCheck:
    """One pass over the journal of a namespace; it holds the sheet, and not the entries.

    Attributes:
        sheet: None where the journal could not be replayed to its end.
    """

    def __init__(self, store: MemoryStore, namespace: str) -> None:
        self.sheet: Sheet | None = None
        self._namespace = namespace
        self._next_bullet, self._next_experience = store.next_numbers(namespace)
        snapshot = store.snapshot(namespace)
        self._replaying = Replaying(snapshot)
        self._numbers = {number_of(id) for id in snapshot.sheet.bullets}
        self._turns: set[str] = set()
        self._lived: set[str] = set()
        self._twice: dict[str, list[str]] = {}
        self._read_up_to = 0
        self._broken: list[Flaw] = []
        self._run(store)

    def flaws(self) -> Iterator[Flaw]:
        yield from self._broken
        for what, ids in self._twice.items():
            yield self._flaw(f"The journal holds {what} twice: {named(ids)}.")
        yield from self._above("bullets", max((number or 0 for number in self._numbers), default=0), self._next_bullet)
        highest = max((number_of(id) or 0 for id in self._lived), default=0)
        yield from self._above("experiences", highest, self._next_experience)
        odd = [id for id in self._lived if id != experience_id(number_of(id) or 0)]
        if odd:
            yield self._flaw(f"The journal names experiences by ids that they cannot have: {named(sorted(odd))}.")

    def _run(self, store: MemoryStore) -> None:
        try:
            for entry in self._entries(store):
                self._take(entry)
        except Exception as error:  # whatever a damaged row does to who reads it, is what is looked for here
            told = f"The journal cannot be read after version {self._read_up_to}: {first_line(error)}"
            self._broken.append(self._flaw(told))
        if not self._broken:
            self.sheet = self._replaying.sheet()

    def _entries(self, store: MemoryStore) -> Iterator[JournalEntry]:
        while page := store.journal(self._namespace, after=self._read_up_to, limit=_AT_ONCE):
            yield from page
            self._read_up_to = page[-1].version

    def _take(self, entry: JournalEntry) -> None:
        if entry.turn_id:
            self._once("a turn", entry.turn_id, self._turns)
        for id in entry.experience_ids:
            self._once("an experience", id, self._lived)
        for operation in entry.operations:
            if isinstance(operation, Add):
                number = number_of(operation.id)
                if number in self._numbers:
                    self._twice.setdefault("the number of a bullet", []).append(operation.id)
                self._numbers.add(number)
        try:
            if not self._broken:
                self._replaying.step(entry)
        except StoreCorruptError as error:
            self._broken.append(self._flaw(str(error)))

    def _once(self, what: str, id: str, known: set[str]) -> None:
        if id in known:
            self._twice.setdefault(what, []).append(id)
        known.add(id)

    def _above(self, what: str, highest: int, following: int) -> Iterator[Flaw]:
        if highest >= following:
            yield self._flaw(
                f"The next of the {what} would get the number {following:,}, but {highest:,} was given already."
            )

    def _flaw(self, text: str) -> Flaw:
        return Flaw(namespace=self._namespace, text=text)


def first_line(error: Exception) -> str:
    """What an error says, on one line that ends as a sentence does."""
    return f"{(str(error) or type(error).__name__).splitlines()[0].rstrip('.')}."
