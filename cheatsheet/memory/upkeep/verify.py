"""Verify: whether a memory is what its journal tells, and all that is kept beside it is right.

Everything is read in pages of one moment; only the sheet that the journal leads to, and the ids of turns, are held.
"""

from __future__ import annotations

from collections.abc import Iterator

from cheatsheet.errors import StoreCorruptError
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.upkeep.check_journal import JournalCheck, first_line
from cheatsheet.memory.upkeep.check_tables import check_tables
from cheatsheet.memory.upkeep.check_vectors import check_vectors
from cheatsheet.memory.upkeep.flaw import Flaw


def verify(store: MemoryStore) -> list[Flaw]:
    """Everything that is wrong with a store, in all its namespaces; nothing is changed."""
    try:
        with store.pinned():
            found = [Flaw(text=text) for text in store.faults()]
            found += check_vectors(store)
            for namespace in store.namespaces():
                found += verify_namespace(store, namespace)
    except StoreCorruptError as error:
        return [Flaw(text=str(error), remedy="")]
    return found


def verify_namespace(store: MemoryStore, namespace: str) -> Iterator[Flaw]:
    """What is wrong with one namespace: its journal against its tables, ids, numbers and sizes."""
    with store.pinned():
        try:
            journal = JournalCheck(store, namespace)
            yield from journal.flaws()
            if journal.sheet is not None:
                yield from check_tables(store, namespace, journal.sheet)
        except Exception as error:  # whatever damaged rows do to who reads them, is what is looked for here
            yield Flaw(namespace=namespace, text=f"It cannot be read: {first_line(error)}")
