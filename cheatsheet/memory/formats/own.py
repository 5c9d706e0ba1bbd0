"""Our own JSON: everything that a bullet has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from cheatsheet.memory.bullet import Bullet, section_key
from cheatsheet.memory.formats.format import Damage, Entry, Playbook, Written
from cheatsheet.memory.formats.items import MAX_DEPTH, Item
from cheatsheet.memory.formats.json_text import Located, read_json
from cheatsheet.memory.formats.losses import EVERYTHING, lost
from cheatsheet.memory.formats.signs import sign_of
from cheatsheet.memory.formats.spelling import Spelling, entry_of, left_out, metadata_of, properties_of
from cheatsheet.memory.formats.text import line_by_line, unique_ids

VERSION = 1

_SPELLING = Spelling(name="json", written={}, quiet={})
_PROPERTIES = tuple(
    "helpful harmful uses sources tags expires_at created_at last_used_at pinned kind status metadata".split()
)
_TAKEN = frozenset(Bullet.model_fields)


class OwnFormat:
    """Our own JSON, and a bare list of bullets as `cheatsheet show --json` prints it."""

    name = "json"
    title = "our own JSON, with everything that a bullet has"

    def recognises(self, text: str) -> bool:
        """Whether the outermost object has `bullets` in a list, or the text is a list of them."""
        return sign_of(text) == self.name

    def read(self, text: str) -> Playbook:
        """Read the bullets of the list."""
        document = read_json(text, is_entry=_is_bullet)
        damages = list(document.damages)
        listed = [*document.loose, *_listed(document.value, damages)]
        found = [_bullet(part, number, damages) for number, part in enumerate(listed, start=1)]
        entries = tuple(entry for entry in found if entry is not None)
        return Playbook(format=self.name, entries=entries, damages=line_by_line(damages, entries))

    def write(self, bullets: Sequence[Bullet]) -> Written:
        """Write every property of every bullet."""
        listed = [_written(id, bullet) for id, bullet in unique_ids(bullets)]
        whole = {"format": "cheatsheet", "version": VERSION, "bullets": listed}
        deep = {f"metadata nested deeper than {MAX_DEPTH} levels": lambda bullet: bool(left_out(bullet.metadata))}
        told = lost("Our JSON", bullets, carried=EVERYTHING, further=deep)
        return Written(text=json.dumps(whole, ensure_ascii=False, indent=2) + "\n", lost=told)


def _is_bullet(fields: Located) -> bool:
    return isinstance(fields.get("content"), str)


def _listed(value: Any, damages: list[Damage]) -> Iterator[Any]:
    version = value.get("version", VERSION) if isinstance(value, Located) else VERSION
    if version != VERSION:
        told = f"The file is of version {str(version)[:20]}, of which only what version {VERSION} has was read."
        damages.append(Damage(line=1, text=told))
    listed = value.get("bullets") if isinstance(value, Located) else value
    if isinstance(listed, list):
        yield from listed
    elif value is not None:
        damages.append(Damage(line=0, text="The file has no list of bullets."))


def _bullet(fields: Any, number: int, damages: list[Damage]) -> Entry | None:
    if not isinstance(fields, Located):
        damages.append(Damage(line=0, text=f"Part {number} of the list is no object; it was left out."))
        return None
    id = fields.get("id")
    owner = f"the bullet {id[:80]!r}" if isinstance(id, str) and id else f"bullet {number}"
    item = Item(fields, owner=owner, line=fields.line, damages=damages)
    id, section, content = item.text("id") or "", item.text("section") or "", item.text("content")
    item.take("updated_at")
    properties = properties_of(item, _PROPERTIES)
    for name in _PROPERTIES:
        item.take(name)
    metadata = properties.pop("metadata", {})
    for name in metadata:  # fields of a kind, which `show` prints beside the metadata that they are kept in
        item.take(name)
    metadata |= _SPELLING.kept(item, section=section)
    return entry_of(item, id=id, section=section, content=content, metadata=metadata, **properties)


def _written(id: str, bullet: Bullet) -> dict[str, Any]:
    known = _SPELLING.given_back(bullet, _TAKEN)
    metadata = {name: value for name, value in bullet.metadata.items() if name != _SPELLING.name or not known}
    written = bullet.model_dump(mode="json", include=set(_TAKEN) - {"metadata"})  # fields of a kind are metadata
    written |= {"id": id, "section": known.get("section", section_key(bullet.section))}
    written["metadata"] = metadata_of(metadata)
    return written | metadata_of({name: value for name, value in known.items() if name != "section"})
