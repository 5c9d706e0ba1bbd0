"""Saved indexes against the store that they were made from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cheatsheet.errors import IndexFileError
from cheatsheet.memory.search.index_file import IndexFile, IndexFolder, Reached
from cheatsheet.memory.search.neighbours import IndexKind, Part
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.upkeep.flaw import Flaw, named

_PARTS: Final[tuple[Part, ...]] = ("bullets", "experiences")
_REBUILT: Final = "Nothing has to be done: it is built anew when something is next looked for."


def check_indexes(store: MemoryStore, namespace: str, folder: IndexFolder, make_index: IndexKind) -> Iterator[Flaw]:
    """Whether each saved index of a namespace can be read, is of this memory, and holds what was active."""
    for part in _PARTS:
        file = IndexFile(folder, store, namespace=namespace, part=part)
        try:
            reached = file.read(make_index, fingerprint=None) if file.path.exists() else None
        except (IndexFileError, OSError) as error:
            yield Flaw(severity="warning", namespace=namespace, text=str(error), remedy=_REBUILT)
            continue
        if reached is not None:
            yield from _check(reached, store, namespace, file, part)
            reached.index.close()


def _check(reached: Reached, store: MemoryStore, namespace: str, file: IndexFile, part: Part) -> Iterator[Flaw]:
    """What was touched since the index was saved is put right at the next search, and is left out here."""
    with store.pinned():
        rows, since = (store.touched(namespace, after=version) for version in (0, reached.version))
    found = {"bullets": (rows.bullets, since.bullets), "experiences": (rows.experiences, since.experiences)}[part]
    later = {number for number, _, _ in found[1]}
    wrong = [
        number for number, _, active in found[0] if number not in later and (number in reached.index) is not active
    ]
    known = sum(number in reached.index for number, _, _ in found[0])
    if wrong or known < len(reached.index):
        strays = f", and {len(reached.index) - known:,} rows of none" if known < len(reached.index) else ""
        yield Flaw(
            namespace=namespace,
            text=f"The index {file.path} does not hold what is active among the {part}: {named(wrong)}{strays}.",
            remedy=f"Delete {file.path}; it is built anew.",
        )
