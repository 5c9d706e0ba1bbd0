"""What is proposed goes through cleaning, hooks, compression, quarantine, what came meanwhile, grow and the guard."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from cheatsheet.engine.options import EngineOptions
from cheatsheet.llm.model import Usage
from cheatsheet.memory.gate.guard import guard
from cheatsheet.memory.gate.meanwhile import Fitted, Meanwhile, fit
from cheatsheet.memory.history.journal import Cause
from cheatsheet.memory.incoming.clean import cleaned_operations
from cheatsheet.memory.incoming.compress import compress
from cheatsheet.memory.incoming.hooks import apply_hooks
from cheatsheet.memory.incoming.quarantine import quarantine
from cheatsheet.memory.likeness.grow import grow
from cheatsheet.memory.likeness.merger import Merger
from cheatsheet.memory.operations import Add, Merge, Operation, Update
from cheatsheet.memory.view import MemoryView
from cheatsheet.roles.model_merger import ModelMerger
from indexes.embedder import Embedder


@dataclass(frozen=True, slots=True)
class Taken:
    """What may be stored.

    Attributes:
        skipped: one sentence for each thing that was refused.
        notes: one sentence for each thing that was merged, kept apart or otherwise changed.
        usage: of a model that found the words of merges.
        seen: the version of the memory that all this was decided by; None where none was looked at.
    """

    operations: tuple[Operation, ...]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seen: int | None = None


def take_in(
    proposed: Iterable[Operation],
    memory: MemoryView,
    embedder: Embedder,
    options: EngineOptions,
    *,
    cause: Cause,
    since: Meanwhile | None = None,
) -> Taken:
    """Prepare what a mode, an importer or a person proposes.

    Args:
        cause: what a person does by hand is cleaned like all else, but neither held back nor judged by the guard.
        since: what others changed since the memory was read for it; None where nobody else writes.
    """
    clean = cleaned(proposed, options)
    hooked = apply_hooks(clean.operations, options.hooks, memory)
    shortened = [_compressed(operation, options) for operation in hooked.operations]
    held = quarantine(shortened, memory, options.quarantine, cause=cause)
    by_hand = cause == "user"
    fitted = fit(held.operations, since, memory.bullet, by_hand=by_hand) if since else Fitted(tuple(held.operations))
    grown = grow(fitted.operations, memory, embedder, threshold=options.grow_threshold, merger=options.merger)
    taken = Taken(
        tuple(grown.operations),
        (*hooked.refused, *fitted.skipped),
        (*clean.notes, *hooked.notes, *held.notes, *fitted.notes, *grown.notes),
        usage_of(options.merger),
        since.version if since else None,
    )
    return taken if by_hand else judged(taken, memory, options)


def cleaned(operations: Iterable[Operation], options: EngineOptions) -> Taken:
    """What is stored as it stands, but without secrets and without characters that nobody sees."""
    kept, told = cleaned_operations(operations, secrets=options.mask_secrets, known=options.secrets)
    return Taken(kept, notes=told)


def judged(taken: Taken, memory: MemoryView, options: EngineOptions) -> Taken:
    """What the guard lets through."""
    verdict = guard(taken.operations, memory, options.guard)
    refused = tuple(item.text for item in verdict.refused)
    return replace(taken, operations=tuple(verdict.operations), skipped=(*taken.skipped, *refused))


def usage_of(merger: Merger | None) -> Usage:
    """What a model that finds the words of merges has used since it was last asked."""
    return merger.take_usage() if isinstance(merger, ModelMerger) else Usage()


def _compressed(operation: Operation, options: EngineOptions) -> Operation:
    if not options.compress:
        return operation
    if isinstance(operation, Add):
        content = compress(operation.draft.content, acronyms=options.acronyms)
        return operation.model_copy(update={"draft": operation.draft.model_copy(update={"content": content})})
    if isinstance(operation, Update | Merge) and operation.content is not None:
        return operation.model_copy(update={"content": compress(operation.content, acronyms=options.acronyms)})
    return operation
