"""The playbook of the CASS memory system, in YAML (Dicklesworthstone/cass_memory_system, src/types.ts)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cheatsheet.memory.bullet import Bullet, section_key
from cheatsheet.memory.formats.format import Damage, Entry, Playbook, Written
from cheatsheet.memory.formats.items import MAX_DEPTH, Item
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

if TYPE_CHECKING:
    from cheatsheet.memory.formats.yaml_text import YamlItem

_WRITTEN = {"scope": "global", "type": "rule", "isNegative": False, "kind": "stack_pattern", "feedbackEvents": []}
_QUIET = {"helpfulEvents": [], "harmfulEvents": [], "sourceAgents": [], "confidenceDecayHalfLifeDays": 90}
_SERVED = Spelling(
    name="cass",
    section="category",
    written={**_WRITTEN, "state": "active", "maturity": "candidate", "deprecated": False},
    quiet=_QUIET,
)
_RETIRED = Spelling(
    name="cass",
    section="category",
    written={**_WRITTEN, "state": "retired", "maturity": "deprecated", "deprecated": True},
    quiet=_QUIET,
)
_TAKEN = frozenset(
    {"id", "category", "content", "helpfulCount", "harmfulCount", "pinned", "tags"}
    | {"sourceSessions", "createdAt", "updatedAt", "embedding"}
)
_EXTENDED = ("uses", "last_used_at", "expires_at", "kind", "metadata")
_WHOLE_FILE = {
    "deprecatedPatterns": "The deprecated patterns of the playbook belong to no bullet; they were left out.",
}
# Newer releases demand ids of this form, and contents of so many characters.
_OUR_ID = re.compile(r"b-([a-z]+-\d{5,})")
_SHORTEST, _LONGEST = 10, 500
_NO_TIME = "1970-01-01T00:00:00+00:00"  # of a playbook without bullets


class CassFormat:
    """CASS's playbook. Its own fields carry counters, tags, pins, sessions and times."""

    name = "cass"
    title = "the playbook of the CASS memory system (Dicklesworthstone/cass_memory_system), YAML"

    def recognises(self, text: str) -> bool:
        """Whether the first telling line is `schema_version`, or a list of `bullets` with fields."""
        return sign_of(text) == self.name

    def read(self, text: str) -> Playbook:
        """Read bullets in their order; where the YAML is damaged, one by one."""
        from cheatsheet.memory.formats.yaml_text import read_yaml_list  # every recall imports this format, and no YAML

        document = read_yaml_list(text, "bullets")
        damages = list(document.damages)
        found = [_bullet(part, damages) for part in document.items]
        entries = tuple(entry for entry in found if entry is not None)
        damages += [Damage(line=0, text=told) for name, told in _WHOLE_FILE.items() if document.others.get(name)]
        return Playbook(format=self.name, entries=entries, damages=line_by_line(damages, entries))

    def write(self, bullets: Sequence[Bullet]) -> Written:
        """Write a playbook of schema version 2."""
        from cheatsheet.memory.formats.yaml_text import dump_yaml

        times = sorted(bullet.created_at.isoformat() for bullet in bullets)
        whole = {
            "schema_version": 2,
            "name": "playbook",
            "description": "Exported by cheatsheet",
            "metadata": {
                "createdAt": times[0] if times else _NO_TIME,
                "totalReflections": 0,
                "totalSessionsProcessed": 0,
            },
            "deprecatedPatterns": [],
            "bullets": [_written(id, bullet) for id, bullet in unique_ids(bullets)],
        }
        deep = {f"metadata nested deeper than {MAX_DEPTH} levels": lambda bullet: bool(left_out(bullet.metadata))}
        told = lost("CASS's playbook", bullets, carried=EVERYTHING, further=deep)
        return Written(text=dump_yaml(whole), lost=(*told, *_refused(bullets)))


def _bullet(part: YamlItem, damages: list[Damage]) -> Entry | None:
    id = str(part.fields.get("id") or "")
    item = Item(part.fields, owner=f"the bullet {id[:80]!r}", line=part.line, damages=damages)
    section = item.text("category") or ""
    archived = _archived(part.fields)
    ours = _OUR_ID.fullmatch(id)
    properties: dict[str, Any] = {
        "id": ours[1] if ours else item.text("id") or "",
        "content": item.text("content"),
        "helpful": item.count("helpfulCount"),
        "harmful": item.count("harmfulCount"),
        "pinned": item.flag("pinned"),
        "tags": item.texts("tags"),
        "sources": item.texts("sourceSessions"),
        "created_at": item.moment("createdAt"),
        "status": "archived" if archived else "active",
    }
    for name in ("id", "updatedAt"):
        item.take(name)
    if item.take("embedding") is not None:
        item.say(f"The embedding of {item.owner} was left out; this memory makes its own.")
    extended = properties_of(item.inner(EXTENSION), _EXTENDED)
    kept = (_RETIRED if archived else _SERVED).kept(item, section=section)
    metadata = extended.pop("metadata", {}) | kept
    return entry_of(item, section=section, metadata=metadata, **properties | extended)


def _archived(fields: Mapping[Any, Any]) -> bool:
    """Whether a bullet is retired, by any of the three fields that say so."""
    return (
        fields.get("state") == "retired" or fields.get("maturity") == "deprecated" or fields.get("deprecated") is True
    )


def _written(id: str, bullet: Bullet) -> dict[str, Any]:
    archived = bullet.status != "active"
    spelling = _RETIRED if archived else _SERVED
    known = spelling.given_back(bullet, _TAKEN)
    if _archived({**spelling.written, **known}) != archived:
        known = {}
    elsewhere = {name: value for name, value in bullet.metadata.items() if name != spelling.name or not known}
    written = {
        "id": f"b-{id}" if _OUR_ID.fullmatch(f"b-{id}") else id,
        "category": known.get("category", section_key(bullet.section)),
        "content": bullet.content,
        **spelling.written,
        "helpfulCount": bullet.helpful,
        "harmfulCount": bullet.harmful,
        "createdAt": bullet.created_at.isoformat(),
        "updatedAt": bullet.updated_at.isoformat(),
        "pinned": bullet.pinned,
        "sourceSessions": list(bullet.sources),
        "tags": list(bullet.tags),
    }
    further = {name: value for name, value in known.items() if name != "category"}
    return written | metadata_of(further) | extension(bullet, _EXTENDED, metadata=elsewhere)


def _refused(bullets: Sequence[Bullet]) -> Iterator[str]:
    count = sum(not _SHORTEST <= len(bullet.content) <= _LONGEST for bullet in bullets)
    if count:
        yield (
            f"Newer releases of CASS refuse contents of under {_SHORTEST} or over {_LONGEST} characters, "
            f"and the file with them: bullets with such contents: {count}."
        )
