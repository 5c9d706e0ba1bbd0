"""How another project's JSON or YAML spells an entry: its own fields, and one field for what it has none for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from cheatsheet.memory.bullet import DEFAULT_SECTION, Bullet, section_key
from cheatsheet.memory.formats.format import Entry
from cheatsheet.memory.formats.items import Item, plain
from cheatsheet.memory.formats.text import without_text
from cheatsheet.memory.operations import Draft

EXTENSION = "cheatsheet"
"""The field for what a project has no field for. Readers of these projects pass over fields that they do not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What a format has of its own, and how it comes back.

    Attributes:
        name: the format's; under it, what the format alone knows is kept in a bullet's metadata.
        section: the field for the section.
        written: fields that the format wants and we do not know, with the values that we write.
        quiet: further fields, and values of theirs that say nothing.
    """

    name: str
    section: str = "section"
    written: Mapping[str, Any]
    quiet: Mapping[str, Any]

    def kept(self, item: Item, *, section: str) -> dict[str, Any]:
        """What the format alone knows of an entry, as metadata; to be asked after all else was taken.

        Args:
            section: as the file spells it, where that tells more than its key.
        """
        rest = {name: value for name, value in item.rest().items() if not self._says_nothing(name, value)}
        if section.strip() and section_key(section) != section:
            rest[self.section] = section
        return {self.name: rest} if rest else {}

    def given_back(self, bullet: Bullet, taken: Set[str]) -> dict[str, Any]:
        """What was kept, as fields to be written; empty where `kept` would not make the same of them again.

        Args:
            taken: the fields that are written from the bullet's own properties.
        """
        known = bullet.metadata.get(self.name)
        if not isinstance(known, dict) or not all(isinstance(name, str) for name in known):
            return {}
        section = known.get(self.section, "")
        respelt = isinstance(section, str) and section_key(section) == section_key(bullet.section) != section
        others = known.keys() - {self.section}
        if others & {*taken, EXTENSION} or (self.section in known and not respelt):
            return {}
        if any(self._says_nothing(name, value) for name, value in known.items()) or left_out(known):
            return {}
        return dict(known)

    def _says_nothing(self, name: str, value: Any) -> bool:
        return any(name in values and value == values[name] for values in (self.written, self.quiet))


def entry_of(item: Item, *, id: str, section: str, content: str | None, **properties: Any) -> Entry | None:
    """The entry that was read; None, and a sentence, where it has no words."""
    if content is None or not content.strip():
        item.say(without_text(item.owner, item.line).text)
        return None
    draft = Draft(section=section if section.strip() else DEFAULT_SECTION, content=content, **properties)
    return Entry(draft=draft, id=id, line=item.line)


def properties_of(item: Item, names: Iterable[str]) -> dict[str, Any]:
    """Properties of a draft that an entry has under our own names for them."""
    return {name: _TAKERS[name](item, name) for name in names if name in item}


def extension(bullet: Bullet, names: Iterable[str], *, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The extension field with the properties that are not what they are by default; empty where all are.

    Args:
        metadata: the part of the metadata that is written nowhere else.
    """
    values = bullet.model_dump(mode="json", include=set(names) - {"metadata"})
    values["metadata"] = metadata_of(metadata)
    found = {name: values[name] for name in names if values[name] not in _DEFAULTS[name]}
    return {EXTENSION: found} if found else {}


def metadata_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata as JSON can hold it, without what is `left_out`."""
    gone = left_out(metadata)
    return {str(name): plain(value) for name, value in metadata.items() if name not in gone}


def left_out(metadata: Mapping[str, Any]) -> set[str]:
    """The names of what is nested so deeply that it could not be read back."""
    return {name for name, value in metadata.items() if not _fits(value)}


def _fits(value: Any) -> bool:
    try:
        plain(value)
    except ValueError:
        return False
    return True


def _status(item: Item, name: str) -> str:
    status = item.text(name) or "active"
    if status not in ("active", "archived", "merged"):
        item.say(
            f"The field {name} of {item.owner} is {status[:40]!r}, not active, archived or merged; it is active now."
        )
        return "active"
    return "active" if status == "active" else "archived"


def _kind(item: Item, name: str) -> str:
    return item.text(name) or "bullet"


_TAKERS: dict[str, Callable[[Item, str], Any]] = {
    "helpful": Item.count,
    "harmful": Item.count,
    "uses": Item.count,
    "sources": Item.texts,
    "tags": Item.texts,
    "expires_at": Item.moment,
    "created_at": Item.moment,
    "last_used_at": Item.moment,
    "pinned": Item.flag,
    "kind": _kind,
    "status": _status,
    "metadata": Item.mapping,
}
_DEFAULTS: dict[str, tuple[Any, ...]] = {
    "uses": (0,),
    "sources": ([],),
    "tags": ([],),
    "expires_at": (None,),
    "last_used_at": (None,),
    "pinned": (False,),
    "kind": ("bullet",),
    "status": ("active",),
    "metadata": ({},),
}
