"""The playbook of Ax's ACE, in JSON (ax-llm/ax, src/ax/dsp/optimizers/aceTypes.ts)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cheatsheet.memory.bullet import Bullet, section_key
from cheatsheet.memory.formats.format import Damage, Entry, Playbook, Written
from cheatsheet.memory.formats.items import MAX_DEPTH, Item
from cheatsheet.memory.formats.json_text import Located, read_json
from cheatsheet.memory.formats.losses import EVERYTHING, lost
from cheatsheet.memory.formats.signs import sign_of
from cheatsheet.memory.formats.spelling import (
    EXTENSION,
    Spelling,
    entry_of,
    extension,
    left_out,
    metadata_of,
    properties_of,
)
from cheatsheet.memory.formats.text import line_by_line, unique_ids
from cheatsheet.memory.values import storable

_SPELLING = Spelling(name="axace", written={}, quiet={})
_TAKEN = frozenset(
    {"id", "section", "content", "helpfulCount", "harmfulCount", "createdAt", "updatedAt", "tags", "metadata"}
)
_EXTENDED = ("uses", "last_used_at", "sources", "expires_at", "pinned", "kind", "status")
_CHARS_A_TOKEN = 4  # as Ax estimates them
_NO_TIME = "1970-01-01T00:00:00+00:00"  # of a playbook without bullets


class AxAceFormat:
    """Ax's playbook: bullets by section. Its own fields carry counters, tags, times and metadata."""

    name = "axace"
    title = "the playbook of Ax's ACE (ax-llm/ax), JSON"

    def recognises(self, text: str) -> bool:
        """Whether the outermost object has `sections` and no skills, or is an artifact with a `playbook`."""
        return sign_of(text) == self.name

    def read(self, text: str) -> Playbook:
        """Read bullets section by section; of a saved optimisation, its playbook."""
        document = read_json(text, is_entry=_is_bullet)
        damages = list(document.damages)
        top = document.value if isinstance(document.value, Located) else Located((), 1)
        playbook = top["playbook"] if isinstance(top.get("playbook"), Located) else top
        found = [_bullet(name, part, damages) for name, part in _bullets(playbook, document.loose, damages)]
        entries = tuple(entry for entry in found if entry is not None)
        if playbook.get("description"):
            damages.append(
                Damage(line=0, text="The description of the playbook belongs to no bullet; it was left out.")
            )
        return Playbook(format=self.name, entries=entries, damages=line_by_line(damages, entries))

    def write(self, bullets: Sequence[Bullet]) -> Written:
        """Write bullets by section, in the order in which the sections first come."""
        sections: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for id, bullet in unique_ids(bullets):
            written = _written(id, bullet)
            sections[written["section"]].append(written)
        whole = {
            "version": 1,
            "sections": sections,
            "stats": _stats(bullets),
            "updatedAt": max((bullet.updated_at.isoformat() for bullet in bullets), default=_NO_TIME),
        }
        deep = {f"metadata nested deeper than {MAX_DEPTH} levels": lambda bullet: bool(left_out(bullet.metadata))}
        told = lost("Ax's playbook", bullets, carried=EVERYTHING, further=deep)
        return Written(
            text=json.dumps(whole, ensure_ascii=False, indent=2) + "\n", lost=(*told, *_order(bullets, sections))
        )


def _is_bullet(fields: Located) -> bool:
    return isinstance(fields.get("content"), str)


def _bullets(playbook: Located, loose: Sequence[Located], damages: list[Damage]) -> Iterator[tuple[str, Located]]:
    """Every bullet, with the name of its section."""
    for part in loose:
        yield str(storable(part["section"])) if isinstance(part.get("section"), str) else "", part
    sections = playbook.get("sections")
    if playbook and not isinstance(sections, Located):
        damages.append(Damage(line=playbook.line, text="The file has no sections in it."))
    for name, parts in sections.pairs if isinstance(sections, Located) else ():
        for part in parts if isinstance(parts, list) else (parts,):
            if isinstance(part, Located):
                yield str(storable(name)), part
            else:
                told = f"The section {name[:80]!r} holds what is no object; it was left out."
                damages.append(Damage(line=0, text=told))


def _bullet(section: str, fields: Located, damages: list[Damage]) -> Entry | None:
    id = str(fields.get("id") or "")
    item = Item(fields, owner=f"the bullet {id[:80]!r}", line=fields.line, damages=damages)
    properties: dict[str, Any] = {
        "content": item.text("content"),
        "id": item.text("id") or "",
        "helpful": item.count("helpfulCount"),
        "harmful": item.count("harmfulCount"),
        "created_at": item.moment("createdAt"),
        "tags": item.texts("tags"),
    }
    for name in ("section", "updatedAt"):
        item.take(name)
    metadata = item.mapping("metadata")
    extended = properties_of(item.inner(EXTENSION), _EXTENDED)
    kept = _SPELLING.kept(item, section=section)
    return entry_of(item, section=section, metadata=metadata | kept, **properties | extended)


def _written(id: str, bullet: Bullet) -> dict[str, Any]:
    known = _SPELLING.given_back(bullet, _TAKEN)
    metadata = {name: value for name, value in bullet.metadata.items() if name != _SPELLING.name or not known}
    written: dict[str, Any] = {
        "id": id,
        "section": known.get("section", section_key(bullet.section)),
        "content": bullet.content,
        "helpfulCount": bullet.helpful,
        "harmfulCount": bullet.harmful,
        "createdAt": bullet.created_at.isoformat(),
        "updatedAt": bullet.updated_at.isoformat(),
    }
    if bullet.tags:
        written["tags"] = list(bullet.tags)
    if metadata:
        written["metadata"] = metadata_of(metadata)
    further = {name: value for name, value in known.items() if name != "section"}
    status = {"status": "archived"} if bullet.status == "merged" else {}
    return written | metadata_of(further) | extension(bullet.model_copy(update=status), _EXTENDED, metadata={})


def _stats(bullets: Sequence[Bullet]) -> dict[str, int]:
    return {
        "bulletCount": len(bullets),
        "helpfulCount": sum(bullet.helpful for bullet in bullets),
        "harmfulCount": sum(bullet.harmful for bullet in bullets),
        "tokenEstimate": sum(-(-len(bullet.content) // _CHARS_A_TOKEN) for bullet in bullets),
    }


def _order(bullets: Sequence[Bullet], sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    written = [bullet["id"] for section in sections.values() for bullet in section]
    if written != [id for id, _ in unique_ids(bullets)]:
        yield "Ax's playbook holds no order across sections: bullets of one section come together."
