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
from cheatsheet.memory.experience import Standing, is_experience_id
from cheatsheet.memory.incoming.kinds import BOOKKEEPING, PLAIN, check_kind, from_state, of_its_kind, properties_of
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update

Lookup = Callable[[str], Bullet | None]
"""Finds a bullet by id, whatever its status."""

StandingLookup = Callable[[str], Standing | None]
"""Finds how an experience stands in the memory, by its id, whatever its status."""


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
        next_number: the number for the next new bullet.
        operations: those that took effect, with the ids that new bullets were given.
        bullets: every bullet that changed, in its last state, by id.
        standings: how every experience that was tagged, archived or restored stands now, by id.
        skipped: one sentence for each operation that did not take effect.
    """

    next_number: int
    operations: list[Operation] = field(default_factory=list)
    bullets: dict[str, Bullet] = field(default_factory=dict)
    standings: dict[str, Standing] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def take(self, operation: Operation, changed: Iterable[Bullet | Standing]) -> None:
        """Note an operation that took effect."""
        self.operations.append(operation)
        self.next_number += isinstance(operation, Add)
        for value in changed:
            if isinstance(value, Bullet):
                self.bullets[value.id] = value
            else:
                self.standings[value.id] = value


@dataclass(frozen=True, slots=True)
class Scene:
    """What an operation meets.

    Attributes:
        replayed: the operation took effect before, and is read from a journal. Ids are given already, and no rule is
            asked again: what was stored is stored.
    """

    bullet: Lookup
    standing: StandingLookup
    at: datetime
    replayed: bool = False


def apply_operations(
    operations: Iterable[Operation],
    find: Lookup,
    standing: StandingLookup = lambda id: None,
    *,
    next_number: int,
    at: datetime,
    limits: Limits | None = None,
    replayed: bool = False,
) -> Applied:
    """Apply operations one after the other; one that cannot be applied is skipped with its reason.

    Args:
        next_number: from which on new bullets are numbered.
        replayed: the operations are those of a journal entry; see `Scene`.
    """
    applied = Applied(next_number=next_number)
    scene = Scene(
        bullet=lambda id: applied.bullets.get(id) or find(id),
        standing=lambda id: applied.standings.get(id) or standing(id),
        at=at,
        replayed=replayed,
    )
    for operation in operations:
        try:
            settled = operation if replayed else _settled(operation, applied.next_number, scene)
            changed = effects(settled, scene)
            if not replayed:
                _check_limits(settled, changed, scene, limits or Limits())
                _check_kind(settled, changed)
        except CheatsheetError as error:
            applied.skipped.append(f"{operation.type}: {error}")
            continue
        applied.take(settled, changed)
    return applied


def from_experiences(operations: Iterable[Operation], ids: Sequence[str]) -> Iterator[Operation]:
    """The operations, with the experiences named as sources of what they add, unless it names some already."""
    for operation in operations:
        draft = operation.draft if isinstance(operation, Add | Merge) else None
        if draft is None or any(map(is_experience_id, draft.sources)):
            yield operation
        else:
            sources = _united([draft.sources, ids])
            yield operation.model_copy(update={"draft": draft.model_copy(update={"sources": sources})})


def survivor_of(id: str, find: Lookup) -> str:
    """The id of the bullet in which a merged one lives on; that of any other bullet is its own."""
    seen: set[str] = set()
    current = id
    while (bullet := find(current)) is not None and bullet.status == "merged" and current not in seen:
        seen.add(current)
        current = str(bullet.metadata.get("merged_into", ""))
    return current if bullet is not None and bullet.status != "merged" else id


def _settled(operation: Operation, number: int, scene: Scene) -> Operation:
    """The operation as it is to stand in the journal, where it means the same whenever it is replayed.

    A turn may name a bullet that was merged while the turn was on its way; what it says counts for the survivor.
    """
    if isinstance(operation, Add):
        return operation.model_copy(update={"id": bullet_id(operation.draft.section, number)})
    if isinstance(operation, Tag):
        return operation.model_copy(update={"id": survivor_of(operation.id, scene.bullet)})
    if isinstance(operation, Merge):
        return operation.model_copy(update={"into": survivor_of(operation.into, scene.bullet)})
    if isinstance(operation, Update) and operation.metadata is not None:
        return operation.model_copy(update={"metadata": _kept_metadata(operation.id, scene) | operation.metadata})
    return operation


def _kept_metadata(id: str, scene: Scene) -> dict[str, Any]:
    """What an update of the metadata leaves as it is: it may be fields of a kind that is not registered here."""
    bullet = scene.bullet(id)
    return bullet.metadata if bullet is not None and bullet.kind != PLAIN else {}


def _check_limits(operation: Operation, changed: Iterable[Bullet | Standing], scene: Scene, limits: Limits) -> None:
    """Check new words; those that are stored already stay, also where the limit was lowered since."""
    if not isinstance(operation, Add | Update | Merge):
        return
    for bullet in changed:
        if not isinstance(bullet, Bullet) or len(bullet.content) <= limits.max_bullet_chars:
            continue
        before = scene.bullet(bullet.id)
        if before is None or before.content != bullet.content:
            raise BulletError(
                f"The content has {len(bullet.content):,} characters; at most {limits.max_bullet_chars:,} are allowed "
                f"(setting max_bullet_chars). Split it into several bullets."
            )


def _check_kind(operation: Operation, changed: Sequence[Bullet | Standing]) -> None:
    """Hold what gets new words or properties to the rules of its kind."""
    if isinstance(operation, Add | Update | Merge) and isinstance(changed[0], Bullet):
        check_kind(changed[0])


@singledispatch
def effects(operation: Operation, scene: Scene) -> Sequence[Bullet | Standing]:
    """The bullets, or the standing of the experience, that one operation changes, in their new state.

    Raises:
        OperationError: it names what is not there, or what has a status that forbids it.
        BulletError: it would make a bullet that breaks a rule.
    """
    raise TypeError(f"{type(operation).__name__} is not an operation.")


@effects.register
def _add(operation: Add, scene: Scene) -> Sequence[Bullet | Standing]:
    draft = operation.draft
    properties = {name: getattr(draft, name) for name in Draft.model_fields} | {
        "id": operation.id,
        "section": section_key(draft.section),
        "created_at": draft.created_at or scene.at,
        "updated_at": scene.at,
    }
    return [_bullet(scene, properties)]


@effects.register
def _update(operation: Update, scene: Scene) -> Sequence[Bullet | Standing]:
    bullet = _active(operation.id, scene)
    given = operation.model_dump(exclude={"type", "id"}, exclude_none=True)
    if "section" in given:
        given["section"] = section_key(given["section"])
    return [_changed(bullet, scene, **given)]


@effects.register
def _tag(operation: Tag, scene: Scene) -> Sequence[Bullet | Standing]:
    value = _bullet_or_standing(operation.id, scene)
    if isinstance(value, Standing) and (operation.helpful or operation.harmful):
        raise OperationError(f"{value.id!r} is an experience; it counts its uses, not what helped or harmed.")
    counted = ("uses",) if isinstance(value, Standing) else ("helpful", "harmful", "uses")
    counters = {name: getattr(value, name) + getattr(operation, name) for name in counted}
    if operation.uses:
        counters["last_used_at"] = scene.at
    return [value.model_copy(update=counters)]


@effects.register
def _merge(operation: Merge, scene: Scene) -> Sequence[Bullet | Standing]:
    survivor = _active(operation.into, scene)
    if operation.into in operation.absorbed or len(set(operation.absorbed)) < len(operation.absorbed):
        raise OperationError(f"A merge into {operation.into!r} must name other bullets, each once.")
    absorbed = [_active(id, scene) for id in operation.absorbed]
    parts: list[Bullet | Draft] = [survivor, *absorbed, *([operation.draft] if operation.draft else [])]
    if len(parts) == 1:
        raise OperationError(f"A merge into {operation.into!r} names nothing to merge.")
    beside = operation.draft.metadata if operation.draft else {}
    united = _changed(
        survivor,
        scene,
        content=survivor.content if operation.content is None else operation.content,
        helpful=sum(part.helpful for part in parts),
        harmful=sum(part.harmful for part in parts),
        uses=sum(part.uses for part in parts),
        last_used_at=max((part.last_used_at for part in parts if part.last_used_at), default=None),
        sources=_united(part.sources for part in parts),
        tags=_united(part.tags for part in parts),
        pinned=any(part.pinned for part in parts),
        metadata={name: value for name, value in beside.items() if name not in BOOKKEEPING} | survivor.metadata,
    )
    gone = [
        _changed(bullet, scene, status="merged", metadata=bullet.metadata | {"merged_into": survivor.id})
        for bullet in absorbed
    ]
    return [united, *gone]


@effects.register
def _remove(operation: Remove, scene: Scene) -> Sequence[Bullet | Standing]:
    value = _bullet_or_standing(operation.id, scene)
    if isinstance(value, Standing):
        if value.status != "active":
            raise OperationError(f"The experience {value.id!r} is archived already.")
        return [value.model_copy(update={"status": "archived"})]
    bullet = _active(operation.id, scene)
    reason = {"archived_because": operation.reason} if operation.reason else {}
    return [_changed(bullet, scene, status="archived", metadata=bullet.metadata | reason)]


@effects.register
def _restore(operation: Restore, scene: Scene) -> Sequence[Bullet | Standing]:
    value = _bullet_or_standing(operation.id, scene)
    if operation.state is not None:
        return [_as_it_was(value, operation.state)]
    if value.status != "archived":
        where = "is active"
        if isinstance(value, Bullet) and value.status == "merged":
            where = f"was merged into {value.metadata.get('merged_into')}"
        raise OperationError(f"{_named(value)} {where}; only what is archived can be restored.")
    if isinstance(value, Standing):
        return [value.model_copy(update={"status": "active"})]
    metadata = {key: kept for key, kept in value.metadata.items() if key != "archived_because"}
    return [_changed(value, scene, status="active", metadata=metadata)]


def _as_it_was(value: Bullet | Standing, state: dict[str, Any]) -> Bullet | Standing:
    try:
        then = from_state(state) if isinstance(value, Bullet) else Standing.model_validate(state)
    except ValidationError as error:
        raise OperationError(f"The state to which {value.id!r} is to return is not valid: {_first(error)}.") from error
    if then.id != value.id:
        raise OperationError(f"The state to which {value.id!r} is to return is that of {then.id!r}.")
    return then


def _bullet_or_standing(id: str, scene: Scene) -> Bullet | Standing:
    # A bullet goes first: files of the first schema may hold one whose id looks like that of an experience.
    found = scene.bullet(id) or (scene.standing(id) if is_experience_id(id) else None)
    if found is None:
        raise OperationError(f"There is no {'experience' if is_experience_id(id) else 'bullet'} {id!r} in this memory.")
    return found


def _active(id: str, scene: Scene) -> Bullet:
    bullet = scene.bullet(id)
    if bullet is None:
        raise OperationError(f"There is no bullet {id!r} in this memory.")
    if bullet.status == "merged":
        raise OperationError(f"Bullet {id!r} was merged; it lives on in {survivor_of(id, scene.bullet)!r}: name that.")
    if bullet.status != "active":
        raise OperationError(f"Bullet {id!r} is {bullet.status}; restore it first, or leave it as it is.")
    return bullet


def _changed(bullet: Bullet, scene: Scene, **changes: Any) -> Bullet:
    return _bullet(scene, properties_of(bullet) | changes | {"updated_at": scene.at})


def _bullet(scene: Scene, properties: dict[str, Any]) -> Bullet:
    """Every bullet that an operation makes or changes is made here."""
    if scene.replayed:
        return of_its_kind(Bullet.model_construct(**properties))
    try:
        return of_its_kind(Bullet(**properties))
    except ValidationError as error:
        raise BulletError(f"A bullet's {_first(error)}.") from error


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place or 'properties'} is not valid: {first['msg']}"


def _named(value: Bullet | Standing) -> str:
    return f"{'Bullet' if isinstance(value, Bullet) else 'The experience'} {value.id!r}"


def _united(groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for group in groups for item in group))
