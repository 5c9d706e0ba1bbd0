"""What each operation does to bullets: one meaning for the sheet in memory and for every store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import singledispatch
from typing import Any

from pydantic import ValidationError

from cheatsheet.errors import BulletError, CheatsheetError, OperationError
from cheatsheet.memory.bullet import Bullet, bullet_id, section_key
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update

Lookup = Callable[[str], Bullet | None]
"""Finds a bullet by id, whatever its status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a bullet may be, on whatever path it comes in.

    Attributes:
        max_bullet_chars: the longest content, in characters.
    """

    max_bullet_chars: int = 8_000


@dataclass(slots=True)
class Applied:
    """The outcome of a list of operations.

    Attributes:
        operations: those that took effect, with the ids that new bullets were given.
        bullets: every bullet that changed, in its last state, by id.
        skipped: one sentence for each operation that did not take effect.
        next_number: the number for the next new bullet.
    """

    next_number: int
    operations: list[Operation] = field(default_factory=list)
    bullets: dict[str, Bullet] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)


def apply_operations(
    operations: Iterable[Operation], find: Lookup, *, next_number: int, at: datetime, limits: Limits | None = None
) -> Applied:
    """Apply operations one after the other; one that cannot be applied is skipped with its reason.

    New bullets are numbered from `next_number` on. An `Add` that already has an id with just that number, as in a
    replayed journal, keeps it.
    """
    applied = Applied(next_number=next_number)

    def current(id: str) -> Bullet | None:
        return applied.bullets.get(id) or find(id)

    for operation in operations:
        try:
            numbered = _numbered(operation, applied.next_number)
            changed = effects(numbered, current, at)
            _check_limits(changed, limits or Limits())
        except CheatsheetError as error:
            applied.skipped.append(f"{operation.type}: {error}")
            continue
        applied.operations.append(numbered)
        applied.bullets.update((bullet.id, bullet) for bullet in changed)
        applied.next_number += isinstance(numbered, Add)
    return applied


def from_experience(operations: Iterable[Operation], experience_id: str) -> Iterator[Operation]:
    """The operations, with the experience named as a source of what they add."""
    for operation in operations:
        draft = operation.draft if isinstance(operation, Add | Merge) else None
        if draft is None:
            yield operation
        else:
            sources = _united([draft.sources, (experience_id,)])
            yield operation.model_copy(update={"draft": draft.model_copy(update={"sources": sources})})


def _numbered(operation: Operation, number: int) -> Operation:
    if isinstance(operation, Add):
        return operation.model_copy(update={"id": bullet_id(operation.draft.section, number)})
    return operation


def _check_limits(bullets: Iterable[Bullet], limits: Limits) -> None:
    for bullet in bullets:
        if len(bullet.content) > limits.max_bullet_chars:
            raise BulletError(
                f"The content has {len(bullet.content):,} characters; at most {limits.max_bullet_chars:,} are allowed "
                f"(setting max_bullet_chars). Split it into several bullets."
            )


@singledispatch
def effects(operation: Operation, find: Lookup, at: datetime) -> Sequence[Bullet]:
    """The bullets that one operation changes, in their new state.

    Raises:
        OperationError: it names a bullet that is not there, or one whose status forbids it.
        BulletError: it would make a bullet that breaks a rule.
    """
    raise TypeError(f"{type(operation).__name__} is not an operation.")


@effects.register
def _add(operation: Add, find: Lookup, at: datetime) -> Sequence[Bullet]:
    draft = operation.draft
    properties = {name: getattr(draft, name) for name in Draft.model_fields}
    return [
        _bullet(**properties | {"section": section_key(draft.section)}, id=operation.id, created_at=at, updated_at=at)
    ]


@effects.register
def _update(operation: Update, find: Lookup, at: datetime) -> Sequence[Bullet]:
    bullet = _active(operation.id, find)
    given = operation.model_dump(exclude={"type", "id"}, exclude_none=True)
    if "section" in given:
        given["section"] = section_key(given["section"])
    return [_changed(bullet, at, **given)]


@effects.register
def _tag(operation: Tag, find: Lookup, at: datetime) -> Sequence[Bullet]:
    bullet = _present(operation.id, find)
    counters = {name: getattr(bullet, name) + getattr(operation, name) for name in ("helpful", "harmful", "uses")}
    if operation.uses:
        counters["last_used_at"] = at
    return [bullet.model_copy(update=counters)]


@effects.register
def _merge(operation: Merge, find: Lookup, at: datetime) -> Sequence[Bullet]:
    survivor = _active(operation.into, find)
    if operation.into in operation.absorbed or len(set(operation.absorbed)) < len(operation.absorbed):
        raise OperationError(f"A merge into {operation.into!r} must name other bullets, each once.")
    absorbed = [_active(id, find) for id in operation.absorbed]
    parts: list[Bullet | Draft] = [survivor, *absorbed, *([operation.draft] if operation.draft else [])]
    if len(parts) == 1:
        raise OperationError(f"A merge into {operation.into!r} names nothing to merge.")
    united = _changed(
        survivor,
        at,
        content=survivor.content if operation.content is None else operation.content,
        helpful=sum(part.helpful for part in parts),
        harmful=sum(part.harmful for part in parts),
        uses=survivor.uses + sum(bullet.uses for bullet in absorbed),
        last_used_at=max((b.last_used_at for b in (survivor, *absorbed) if b.last_used_at), default=None),
        sources=_united(part.sources for part in parts),
        tags=_united(part.tags for part in parts),
        pinned=any(part.pinned for part in parts),
    )
    gone = [
        _changed(bullet, at, status="merged", metadata=bullet.metadata | {"merged_into": survivor.id})
        for bullet in absorbed
    ]
    return [united, *gone]


@effects.register
def _remove(operation: Remove, find: Lookup, at: datetime) -> Sequence[Bullet]:
    bullet = _active(operation.id, find)
    reason = {"archived_because": operation.reason} if operation.reason else {}
    return [_changed(bullet, at, status="archived", metadata=bullet.metadata | reason)]


@effects.register
def _restore(operation: Restore, find: Lookup, at: datetime) -> Sequence[Bullet]:
    bullet = _present(operation.id, find)
    if bullet.status != "archived":
        where = f"was merged into {bullet.metadata.get('merged_into')}" if bullet.status == "merged" else "is active"
        raise OperationError(f"Bullet {bullet.id!r} {where}; only an archived bullet can be restored.")
    metadata = {key: value for key, value in bullet.metadata.items() if key != "archived_because"}
    return [_changed(bullet, at, status="active", metadata=metadata)]


def _present(id: str, find: Lookup) -> Bullet:
    bullet = find(id)
    if bullet is None:
        raise OperationError(f"There is no bullet {id!r} in this memory.")
    return bullet


def _active(id: str, find: Lookup) -> Bullet:
    bullet = _present(id, find)
    if bullet.status != "active":
        raise OperationError(f"Bullet {id!r} is {bullet.status}; restore it first, or leave it as it is.")
    return bullet


def _changed(bullet: Bullet, at: datetime, **changes: Any) -> Bullet:
    return _bullet(**bullet.model_dump() | changes | {"updated_at": at})


def _bullet(**properties: Any) -> Bullet:
    try:
        return Bullet(**properties)
    except ValidationError as error:
        first = error.errors()[0]
        field_name = ".".join(str(part) for part in first["loc"]) or "bullet"
        raise BulletError(f"A bullet's {field_name} is not valid: {first['msg']}.") from error


def _united(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for group in groups for item in group))
