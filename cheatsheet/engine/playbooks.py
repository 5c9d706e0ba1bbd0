"""Bringing the playbooks of others into a memory: entries become operations, and what became of them is told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cheatsheet.errors import SetupError, UnknownNameError
from cheatsheet.memory.experience import is_experience_id
from cheatsheet.memory.formats import AUTO, FORMATS, Damage, Entry, Playbook, read_playbook, read_prose
from cheatsheet.memory.formats.markdown import PROSE
from cheatsheet.memory.history.journal import Committed
from cheatsheet.memory.operations import Add, Draft, Merge, Operation
from cheatsheet.memory.store import Progress
from cheatsheet.memory.view import MemoryView

BATCH = 1_000
"""So many entries are learnt in one transaction; a larger playbook takes several, and what was stored stays stored."""

Apply = Callable[[Sequence[Operation]], Committed]
"""Takes operations into a memory, through all that guards it, in one transaction."""

IMPORTED_ID = "imported_id"
"""Name in the metadata for the id that a bullet has in the file that it comes from."""

_DIGEST_CHARS = 12
# Names in the metadata under which a memory keeps ids of its own bullets; those of another memory mean nothing here.
_IDS_OF_ANOTHER_MEMORY = frozenset({"merged_into", "earlier_wording_of", "proposed_for"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of a playbook.

    Attributes:
        format: the one that it was read in.
        source: its name, which is among the sources of every bullet that it brought.
        entries: how many pieces of advice it has.
        known: how many of them were imported from the same source before, and so were passed over.
        added: ids of the new bullets.
        merged: ids of the bullets that took an entry in.
        operations: those that took effect.
        archived: what the memory archived in the same transaction, to keep its limits.
        skipped: one sentence for each entry that could not be stored.
        notes: what was refused, merged, kept apart or changed, one sentence each.
        damages: of the file, in the order of its lines.
        version: of the memory afterwards; 0 where nothing was written.
        batches: in how many transactions.
        dry_run: whether it was only told what there is.
    """

    format: str
    source: str
    entries: int
    known: int = 0
    added: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()
    archived: tuple[Operation, ...] = ()
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    damages: tuple[Damage, ...] = ()
    version: int = 0
    batches: int = 0
    dry_run: bool = False


def import_playbook(
    text: str,
    *,
    format: str = AUTO,
    source: str,
    apply: Apply | None,
    memory: MemoryView | None = None,
    tags: Sequence[str] = (),
    pin: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Learn what stands in a playbook, `BATCH` entries in a transaction.

    Whoever is stopped in between leaves whole batches; the same call goes on behind them, as what is known is passed
    over.

    Args:
        format: one of `FORMATS`; `auto` recognises it; `text` reads paragraphs and lists that people wrote for people.
        source: where the text comes from, such as the name of its file.
        apply: None only tells what there is.
        memory: what is in it from the same source is passed over, so that a file can be imported again when it changed.
        tags: given to every entry.
        pin: whether all entries are pinned.
        progress: told after each of several batches how many entries are dealt with, and how many there are.

    Raises:
        UnknownNameError: there is no format of that name.
        SetupError: no format was recognised.
    """
    playbook = read_as(text, format)
    operations = entries_as_operations(playbook, source=source, tags=tags, pin=pin)
    fresh = new_only(operations, memory)
    told = Imported(
        format=playbook.format,
        source=source,
        entries=len(operations),
        known=len(operations) - len(fresh),
        damages=playbook.damages,
        dry_run=apply is None,
    )
    return told if apply is None else _applied(told, fresh, apply, progress)


def read_as(text: str, format: str) -> Playbook:
    """Read a text in a named format, in the one that is recognised, or as prose.

    Raises:
        UnknownNameError: there is no format of that name.
        SetupError: no format was recognised.
    """
    name = format.strip().casefold()
    if name == PROSE:
        return read_prose(text)
    names = [AUTO, PROSE, *(known.name for known in FORMATS)]
    if name not in names:
        raise UnknownNameError("format", format, names)
    return read_playbook(text, name)


def read_file(path: Path) -> str:
    """The text of a file in UTF-8 or, where it says so itself, UTF-16; bytes that are neither become U+FFFD.

    Raises:
        SetupError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SetupError(f"{path} cannot be read: {error.strerror or error}. Give the path of a file.") from error
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return data.decode(encoding, errors="replace")


def entries_as_operations(
    playbook: Playbook, *, source: str, tags: Sequence[str] = (), pin: bool = False
) -> tuple[Add, ...]:
    """Each entry as a new bullet.

    It has the source among its own, and the source with a digest of its words, by which it is known again even when it
    was merged into another bullet. The id that it has in the file stands in the metadata.
    """
    return tuple(Add(draft=_draft(entry, source, tags, pin)) for entry in playbook.entries)


def new_only(operations: Iterable[Add], memory: MemoryView | None) -> tuple[Add, ...]:
    """The operations without those whose source and words some bullet has already, whatever its status."""
    if memory is None:
        return tuple(operations)
    known = {source for bullet in memory.bullets(status=None) for source in bullet.sources}
    return tuple(operation for operation in operations if operation.draft.sources[-1] not in known)


def mark(source: str, content: str) -> str:
    """The name of one passage of a source."""
    digest = hashlib.sha256(content.encode()).hexdigest()[:_DIGEST_CHARS]
    return f"{source}#{digest}"


def _draft(entry: Entry, source: str, tags: Sequence[str], pin: bool) -> Draft:
    draft = entry.draft
    own = (f"{source}/{name}" if is_experience_id(name) else name for name in draft.sources)
    return draft.model_copy(
        update={
            "sources": (*dict.fromkeys([*own, source]), mark(source, draft.content)),
            "tags": tuple(dict.fromkeys([*draft.tags, *tags])),
            "pinned": draft.pinned or pin,
            "metadata": _metadata(draft.metadata, entry.id),
        }
    )


def _metadata(metadata: Mapping[str, Any], id: str) -> dict[str, Any]:
    renamed = {f"imported_{name}" if name in _IDS_OF_ANOTHER_MEMORY else name: metadata[name] for name in metadata}
    return renamed | ({IMPORTED_ID: id} if id else {})


def _applied(told: Imported, fresh: Sequence[Add], apply: Apply, progress: Progress | None) -> Imported:
    for start in range(0, len(fresh), BATCH):
        batch = fresh[start : start + BATCH]
        told = _with_outcome(told, apply(batch))
        if progress is not None and len(fresh) > BATCH:
            progress(told.known + start + len(batch), told.entries)
    return told


def _with_outcome(told: Imported, committed: Committed) -> Imported:
    """What was told so far, with what came of one more batch."""
    entry = committed.entry
    own = entry.operations[: len(entry.operations) - len(committed.followed)]
    merged = (operation.into for operation in own if isinstance(operation, Merge))
    return replace(
        told,
        added=told.added + tuple(operation.id for operation in own if isinstance(operation, Add)),
        merged=tuple(dict.fromkeys((*told.merged, *merged))),
        operations=told.operations + own,
        archived=told.archived + committed.followed,
        skipped=told.skipped + committed.skipped,
        notes=told.notes + entry.notes,
        version=entry.version,
        batches=told.batches + 1,
    )
