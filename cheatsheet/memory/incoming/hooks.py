"""Hooks: what a domain does to every piece of advice before it becomes part of the memory.

A hook takes a draft and returns it, changed or not, or refuses it. Hooks see everything that brings new words: new
bullets, drafts that are merged into old ones and, where the memory is given, new words for old bullets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial, singledispatch
from typing import Any

from cheatsheet.errors import BulletError
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.incoming.kinds import properties_of
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Update
from cheatsheet.memory.values import in_utc
from cheatsheet.memory.view import MemoryView


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a hook returns instead of a draft that must not be kept.

    Attributes:
        reason: why, in a few words: it ends the sentence that tells of it.
    """

    reason: str


DraftHook = Callable[[Draft], Draft | Refusal | None]
"""Changes a draft, or refuses it: with a `Refusal`, with None, or by raising a `BulletError`. Other errors rise."""

Predicate = Callable[[Draft], bool]


@dataclass(frozen=True, slots=True)
class Hooked:
    """Operations after all hooks.

    Attributes:
        refused: one sentence for each thing that a hook refused.
        notes: one sentence for each thing that a hook changed.
    """

    operations: tuple[Operation, ...] = ()
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def apply_hooks(
    operations: Iterable[Operation], hooks: Sequence[DraftHook], memory: MemoryView | None = None
) -> Hooked:
    """Pass everything that brings new words through all hooks, in their order.

    Args:
        memory: where the bullets are whose words are to change; without it, `Update` and `Merge` pass as they are but
            for a merge's own draft.
    """
    if not hooks:
        return Hooked(tuple(operations))
    passed: list[Operation] = []
    refused: list[str] = []
    notes: list[str] = []
    for operation in operations:
        try:
            passed += _through(operation, partial(_run, hooks, notes), memory)
        except _RefusedError as refusal:
            refused.append(str(refusal))
    return Hooked(tuple(passed), tuple(refused), tuple(notes))


def expires(*, when: Predicate, at: Callable[[Draft], datetime | None]) -> DraftHook:
    """A hook that sets when a draft expires: a financial figure at the next earnings date.

    Args:
        when: which drafts.
        at: the moment; None for a draft that does not expire. Where the draft has one already, the earlier one holds.
    """

    def expires_hook(draft: Draft) -> Draft:
        moment = at(draft) if when(draft) else None
        if moment is None or (draft.expires_at is not None and draft.expires_at <= in_utc(moment)):
            return draft
        return draft.model_copy(update={"expires_at": in_utc(moment)})

    return expires_hook


def note_on(when: Predicate, text: str) -> DraftHook:
    """A hook that ends a draft with a note, once: "Not investment advice." on what speaks of shares."""

    def note_hook(draft: Draft) -> Draft:
        if text in draft.content or not when(draft):
            return draft
        return draft.model_copy(update={"content": f"{draft.content.rstrip()} {text}"})

    return note_hook


def refuse(when: Predicate, reason: str) -> DraftHook:
    """A hook that keeps drafts out of the memory."""

    def refuse_hook(draft: Draft) -> Draft | Refusal:
        return Refusal(reason) if when(draft) else draft

    return refuse_hook


def mentions(*phrases: str) -> Predicate:
    """Whether a draft has one of these words or phrases, whatever their case; `tax` is not in `taxi`."""
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, phrases)) + r")(?!\w)", re.IGNORECASE)

    def mentions_one(draft: Draft) -> bool:
        return bool(phrases) and pattern.search(draft.content) is not None

    return mentions_one


class _RefusedError(Exception):
    """A hook refused; the text is the whole sentence."""


def _run(hooks: Sequence[DraftHook], notes: list[str], draft: Draft) -> Draft:
    current = draft
    for hook in hooks:
        name = getattr(hook, "__name__", type(hook).__name__)
        try:
            outcome = hook(current)
        except BulletError as error:
            outcome = Refusal(str(error))
        if not isinstance(outcome, Draft):
            reason = outcome.reason if outcome else "it gave no reason"
            raise _RefusedError(f"{draft.content[:60]!r} was refused by the hook {name}: {reason.rstrip('.')}.")
        if outcome != current:
            changed = [name for name in Draft.model_fields if getattr(outcome, name) != getattr(current, name)]
            notes.append(f"{draft.content[:60]!r} was changed by the hook {name}: its {', '.join(changed)}.")
        current = outcome
    return current


Run = Callable[[Draft], Draft]


@singledispatch
def _through(operation: Any, run: Run, memory: MemoryView | None) -> list[Operation]:
    """The operation after the hooks, and what it brings with it."""
    return [operation]


@_through.register
def _add(operation: Add, run: Run, memory: MemoryView | None) -> list[Operation]:
    return [operation.model_copy(update={"draft": run(operation.draft)})]


@_through.register
def _update(operation: Update, run: Run, memory: MemoryView | None) -> list[Operation]:
    bullet = memory.bullet(operation.id) if memory and operation.content is not None else None
    if bullet is None:
        return [operation]
    given = operation.model_dump(exclude={"type", "id"}, exclude_none=True)
    before = _as_draft(bullet, given)
    return [operation.model_copy(update=_changed(before, run(before)))]


@_through.register
def _merge(operation: Merge, run: Run, memory: MemoryView | None) -> list[Operation]:
    if operation.draft is not None:
        operation = operation.model_copy(update={"draft": run(operation.draft)})
    bullet = memory.bullet(operation.into) if memory and operation.content is not None else None
    if bullet is None:
        return [operation]
    before = _as_draft(bullet, {"content": operation.content})
    changes = _changed(before, run(before))
    merge = operation.model_copy(update={"content": changes.pop("content", operation.content)})
    return [merge, Update(id=operation.into, **changes)] if changes else [merge]


def _as_draft(bullet: Bullet, given: dict[str, Any]) -> Draft:
    """A bullet with its new properties, in the form that hooks take."""
    known = properties_of(bullet) | given
    return Draft(**{name: known[name] for name in Draft.model_fields if name != "status"})


def _changed(before: Draft, after: Draft) -> dict[str, Any]:
    names = Update.model_fields.keys() & Draft.model_fields.keys()
    return {name: getattr(after, name) for name in sorted(names) if getattr(after, name) != getattr(before, name)}
