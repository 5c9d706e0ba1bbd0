"""Kinds of bullets: classes of your own, with fields and rules beside the advice itself.

A registered kind is a subclass of `Bullet`. Its own fields are stored in the bullet's metadata under their own names,
and are read from there: a process in which the kind is not registered sees a plain bullet that loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from cheatsheet.errors import BulletError, SetupError, nearest_name
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.operations import Draft, Update

B = TypeVar("B", bound=Bullet)

PLAIN = "bullet"

BOOKKEEPING = frozenset({"archived_because", "merged_into", "earlier_wording_of", "proposed_for"})
"""Names in the metadata that the memory itself writes; no field of a kind can have them."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A class, and what turns a stored value of each of its own fields into the value itself."""

    cls: type[Bullet]
    readers: Mapping[str, TypeAdapter[Any]]


_KINDS: dict[str, _Kind] = {PLAIN: _Kind(Bullet, {})}


def register_kind(kind: str) -> Callable[[type[B]], type[B]]:
    """A decorator that makes a subclass of `Bullet` the class of all bullets of this kind, in this process.

    Registering the same class again changes nothing; one that was defined anew in the same place, as in a notebook,
    takes the place of the old one.

    Raises:
        SetupError: another class has the kind, or the class cannot be one.
    """

    def register(cls: type[B]) -> type[B]:
        _check(kind, cls)
        # The names in its annotations are those of the module that defines it, three calls up from here.
        cls.model_rebuild(_parent_namespace_depth=3)
        _KINDS[kind] = _Kind(cls, _readers(cls))
        return cls

    return register


def registered_kinds() -> tuple[str, ...]:
    """The kinds that have a class in this process, the plain one first."""
    return tuple(_KINDS)


def bullet_class(kind: str) -> type[Bullet]:
    """The class of this kind; `Bullet` for a kind that is not registered here."""
    known = _KINDS.get(kind)
    return Bullet if known is None else known.cls


def draft_of(cls: type[Bullet], *, content: str, **properties: Any) -> Draft:
    """A draft of a bullet of this class, checked; its own fields stand in the draft's metadata.

    Args:
        cls: a registered class.
        properties: those of a `Draft`, and the class's own fields.

    Raises:
        SetupError: the class is not registered.
        BulletError: a property is unknown or not valid, or `validate` refuses the bullet.
    """
    kind = _kind_of(cls)
    given = {"content": content} | properties
    metadata = dict(given.pop("metadata", {}))
    ours = {name: value for name, value in given.items() if name in Draft.model_fields}
    theirs = {name: value for name, value in given.items() if name not in Draft.model_fields}
    _check_names(kind, theirs, own_fields(cls))
    try:
        draft = Draft(**ours | {"kind": kind})
    except ValidationError as error:
        raise _not_valid(kind, error) from error
    built = _built(cls, _as_bullet(draft) | theirs)
    return draft.model_copy(update={"metadata": metadata | _as_json(kind, built)})


def update_of(bullet: Bullet, **changes: Any) -> Update:
    """The operation that changes properties or own fields of a bullet, checked.

    Raises:
        BulletError: a property is unknown or not valid, or `validate` refuses the bullet.
    """
    cls = type(bullet)
    can = Update.model_fields.keys() - {"type", "id"}
    ours = {name: value for name, value in changes.items() if name in can}
    theirs = {name: value for name, value in changes.items() if name not in ours}
    _check_names(bullet.kind, theirs, own_fields(cls))
    try:
        update = Update(id=bullet.id, **ours)
    except ValidationError as error:
        raise _not_valid(bullet.kind, error) from error
    fields = {name: getattr(bullet, name) for name in cls.model_fields}
    built = _built(cls, fields | update.model_dump(exclude={"type", "id"}, exclude_none=True) | theirs)
    if not theirs:
        return update
    changed = {name: value for name, value in _as_json(bullet.kind, built).items() if name in theirs}
    return update.model_copy(update={"metadata": (update.metadata or {}) | changed})


def properties_of(bullet: Bullet) -> dict[str, Any]:
    """The properties that every bullet has, by name: what is stored. Fields of a kind are in `metadata` as well."""
    return {name: getattr(bullet, name) for name in Bullet.model_fields}


def of_its_kind(bullet: Bullet) -> Bullet:
    """The bullet as one of the class of its kind.

    Not checked, as what is stored was checked: where the metadata does not hold what the class needs, because the class
    has changed since, the bullet stays a plain one.
    """
    known = _KINDS.get(bullet.kind)
    if known is None or type(bullet) is known.cls:
        return bullet
    try:
        fields = _read_fields(known, bullet.metadata)
    except (KeyError, ValidationError):
        return bullet
    return known.cls.model_construct(**properties_of(bullet), **fields)


def from_state(state: Mapping[str, Any]) -> Bullet:
    """The bullet of which this is `model_dump(mode="json")`, in this process or in one that knew its kind.

    Raises:
        ValidationError: it is none.
    """
    beyond = {name: value for name, value in state.items() if name not in Bullet.model_fields}
    if not beyond or state.get("kind", PLAIN) == PLAIN:
        return of_its_kind(Bullet.model_validate(state))
    plain = {name: value for name, value in state.items() if name in Bullet.model_fields}
    return of_its_kind(Bullet.model_validate(plain | {"metadata": beyond | plain.get("metadata", {})}))


def check_kind(bullet: Bullet) -> None:
    """Hold a bullet to the fields and the rules of its kind, where it is registered here.

    Raises:
        BulletError: it breaks them.
    """
    cls = bullet_class(bullet.kind)
    if cls is not Bullet:
        fields = {name: bullet.metadata[name] for name in own_fields(cls) if name in bullet.metadata}
        _built(cls, properties_of(bullet) | fields)


def differing_fields(kind: str, one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    """Fields of a kind that differ between two metadata; of a kind that is not registered, any name may be a field."""
    if kind == PLAIN:
        return []
    known = _KINDS.get(kind)
    names: Iterable[str] = known.readers if known else sorted((one.keys() | two.keys()) - BOOKKEEPING)
    return [name for name in names if one.get(name) != two.get(name)]


def own_fields(cls: type[Bullet]) -> tuple[str, ...]:
    """The fields that a class has beyond those of `Bullet`."""
    return tuple(name for name in cls.model_fields if name not in Bullet.model_fields)


def _check(kind: str, cls: type[Bullet]) -> None:
    known = bullet_class(kind) if kind in _KINDS else cls
    if not re.fullmatch(r"[\w.-]{1,64}", kind):
        raise SetupError(f"The kind {kind!r} cannot be kept. Use up to 64 letters, digits, '_', '-' and '.'.")
    if not (isinstance(cls, type) and issubclass(cls, Bullet)):
        raise SetupError(f"{cls!r} cannot be the class of a kind of bullets. Make it a subclass of Bullet.")
    if known is not cls and _place(known) != _place(cls):
        raise SetupError(f"The kind {kind!r} has the class {_place(known)} already. Give {_place(cls)} another kind.")
    taken = sorted(BOOKKEEPING & set(cls.model_fields))
    if taken:
        raise SetupError(f"A field of {_place(cls)} cannot be named {taken[0]!r}: the memory itself writes that name.")


def _place(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _kind_of(cls: type[Bullet]) -> str:
    found = next((kind for kind, known in _KINDS.items() if known.cls is cls), None)
    if found is None:
        raise SetupError(f"{_place(cls)} is not registered. Put @register_kind('a name') above the class.")
    return found


def _check_names(kind: str, given: Mapping[str, Any], fields: tuple[str, ...]) -> None:
    for name in given:
        if name not in fields:
            allowed = (*fields, *Draft.model_fields)
            close = nearest_name(name, allowed)
            hint = f" Did you mean {close!r}?" if close else ""
            raise BulletError(f"A {kind!r} bullet has no property {name!r}.{hint} It can have {', '.join(allowed)}.")


def _built(cls: type[B], values: Mapping[str, Any]) -> B:
    """The bullet, held to all rules of its class."""
    kind = values["kind"]
    try:
        built = cls.model_validate(values)
        built.validate()
    except ValidationError as error:
        raise _not_valid(kind, error) from error
    except BulletError:
        raise
    except (ValueError, AssertionError) as error:
        raise BulletError(f"A {kind!r} bullet is not valid: {error}") from error
    return built


def _not_valid(kind: str, error: ValidationError) -> BulletError:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"]) or "properties"
    return BulletError(f"A {kind!r} bullet's {place} is not valid: {first['msg'].removeprefix('Value error, ')}.")


def _as_bullet(draft: Draft) -> dict[str, Any]:
    """Properties of the bullet that a draft could become, for its checks."""
    properties = {name: getattr(draft, name) for name in Draft.model_fields}
    return properties | {"id": "", "created_at": draft.created_at or _EPOCH, "updated_at": _EPOCH}


def _as_json(kind: str, bullet: Bullet) -> dict[str, Any]:
    try:
        return bullet.model_dump(mode="json", include=set(own_fields(type(bullet))))
    except PydanticSerializationError as error:
        raise BulletError(f"A {kind!r} bullet cannot be stored, because a field is not JSON: {error}.") from error


def _read_fields(known: _Kind, metadata: Mapping[str, Any]) -> dict[str, Any]:
    fields = known.cls.model_fields
    return {
        name: reader.validate_python(metadata[name])
        for name, reader in known.readers.items()
        if name in metadata or fields[name].is_required()
    }


def _readers(cls: type[Bullet]) -> dict[str, TypeAdapter[Any]]:
    """Rules that the class has beside the types of its fields are not asked when a stored bullet is read."""
    readers: dict[str, TypeAdapter[Any]] = {}
    for name in own_fields(cls):
        field = cls.model_fields[name]
        kept: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        readers[name] = TypeAdapter(kept)
    return readers
