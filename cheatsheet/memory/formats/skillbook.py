"""The skillbook of `ace-framework`, in JSON (kayba-ai/agentic-context-engine, ace/core/skillbook.py)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cheatsheet.memory.bullet import Bullet, number_of, section_key
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

_SPELLING = Spelling(
    name="skillbook",
    written={"justification": None, "evidence": None},
    # Of the older forms, and of the one that follows (`schema_version` 2).
    quiet={
        "neutral": 0,
        "neutral_count": 0,
        "embedding": None,
        "insight": None,
        "keywords": [],
        "occurrences": [],
        "sources": [],
    },
)
_TAKEN = frozenset(
    {"id", "section", "content", "helpful", "harmful", "created_at", "updated_at", "status", "active", "embedding"}
    | {"helpful_count", "harmful_count"}
)
_EXTENDED = ("uses", "last_used_at", "tags", "expires_at", "pinned", "kind", "metadata")
_OURS = "cheatsheet"  # the source system of what is no trace of theirs
_TRACE_NAMES = ("trace_uid", "trace_id", "sample_id", "item_id", "task_id", "id", "display_name")
_WHOLE_FILE = {
    "similarity_decisions": "The decisions on similar skills were left out; this memory judges that itself.",
}


class SkillbookFormat:
    """The skillbook: skills by id. All forms are read; the one with `status` and `sources` is written.

    Read are `skills` with `justification`, `evidence` and `status` (written as well); `skills` with counters; the first
    one, `bullets` with counters; and the later one with `issue` and `insight` for a content. Its loaders pass over
    fields that they do not know, so that counters are written too, and what skills have no field for, in one field.
    """

    name = "skillbook"
    title = "the skillbook of ace-framework (kayba-ai/agentic-context-engine), JSON"

    def recognises(self, text: str) -> bool:
        """Whether the outermost object has `skills`, or `bullets` by id."""
        return sign_of(text) == self.name

    def read(self, text: str) -> Playbook:
        """Read skills in the order in which they stand."""
        document = read_json(text, is_entry=_is_skill)
        damages = list(document.damages)
        top = document.value if isinstance(document.value, Located) else Located((), 1)
        sections = _sections_of(top)
        found = [_skill(id, skill, sections, damages) for id, skill in _skills(top, document.loose, damages)]
        entries = tuple(entry for entry in found if entry is not None)
        damages += [Damage(line=0, text=told) for name, told in _WHOLE_FILE.items() if top.get(name)]
        return Playbook(format=self.name, entries=entries, damages=line_by_line(damages, entries))

    def write(self, bullets: Sequence[Bullet]) -> Written:
        """Write the skills in their order, and their ids by section."""
        skills = {id: _written(id, bullet) for id, bullet in unique_ids(bullets)}
        sections: dict[str, list[str]] = defaultdict(list)
        for id, skill in skills.items():
            sections[skill["section"]].append(id)
        whole = {
            "skills": skills,
            "sections": sections,
            "next_id": max((number_of(bullet.id) or 0 for bullet in bullets), default=0),
            "similarity_decisions": {},
        }
        deep = {f"metadata nested deeper than {MAX_DEPTH} levels": lambda bullet: bool(left_out(bullet.metadata))}
        told = lost("The skillbook", bullets, carried=EVERYTHING, further=deep)
        return Written(text=json.dumps(whole, ensure_ascii=False, indent=2) + "\n", lost=told)


def _is_skill(fields: Located) -> bool:
    return any(isinstance(fields.get(name), str) for name in ("content", "issue", "insight"))


def _skills(top: Located, loose: Sequence[Located], damages: list[Damage]) -> Iterator[tuple[str, Located]]:
    """Every skill with its id, those of a repeated id as well."""
    for skill in loose:
        yield str(skill.get("id") or ""), skill
    name = "skills" if "skills" in top else "bullets"
    group = top.get(name)
    if top and not isinstance(group, Located | list):
        damages.append(Damage(line=top.line, text="The file has neither skills nor bullets in it."))
    for id, skill in _pairs(group):
        if isinstance(skill, Located):
            yield id or str(skill.get("id") or ""), skill
        else:
            damages.append(Damage(line=0, text=f"The skill {id[:80]!r} is no object; it was left out."))


def _pairs(group: Any) -> Sequence[tuple[str, Any]]:
    if isinstance(group, Located):
        return group.pairs
    return [("", skill) for skill in group] if isinstance(group, list) else []


def _sections_of(top: Located) -> dict[str, str]:
    """The section of each id, from the list that the file keeps beside the skills."""
    groups = top.get("sections")
    pairs = groups.items() if isinstance(groups, Mapping) else ()
    return {id: section for section, ids in pairs if isinstance(ids, list) for id in ids if isinstance(id, str)}


def _skill(id: str, fields: Located, sections: Mapping[str, str], damages: list[Damage]) -> Entry | None:
    item = Item(fields, owner=f"the skill {id[:80]!r}", line=fields.line, damages=damages)
    id = item.text("id") or id
    section = item.text("section") or sections.get(id, "")
    content = item.text("content") if "content" in item else _issue_and_insight(fields)
    properties: dict[str, Any] = {
        "helpful": item.count("helpful" if "helpful" in item else "helpful_count"),
        "harmful": item.count("harmful" if "harmful" in item else "harmful_count"),
        "created_at": item.moment("created_at"),
        "uses": item.count("used_count"),
        "status": _status(item),
        "sources": _names(fields),
    }
    for name in ("updated_at", "helpful", "harmful", "helpful_count", "harmful_count"):
        item.take(name)
    if item.take("embedding") is not None:
        item.say(f"The embedding of {item.owner} was left out; this memory makes its own.")
    extended = properties_of(item.inner(EXTENSION), _EXTENDED)
    kept = _SPELLING.kept(item, section=section)
    _keep_traces(kept, item)
    metadata = extended.pop("metadata", {}) | kept
    return entry_of(item, id=id, section=section, content=content, metadata=metadata, **properties | extended)


def _status(item: Item) -> str:
    status, active = item.text("status"), item.take("active")
    if status not in (None, "active", "invalid"):
        item.say(
            f"The field status of {item.owner} is {str(status)[:40]!r}, neither active nor invalid; it is active now."
        )
    return "archived" if status == "invalid" or active is False else "active"


def _issue_and_insight(fields: Mapping[str, Any]) -> str | None:
    parts = [fields.get("issue"), fields.get("insight")]
    texts = list(dict.fromkeys(part.strip() for part in parts if isinstance(part, str) and part.strip()))
    return "\n".join(texts) or None


def _names(fields: Mapping[str, Any]) -> tuple[str, ...]:
    sources = fields.get("sources")
    names = map(_trace_name, sources) if isinstance(sources, list) else ()
    return tuple(str(storable(name)) for name in names if name is not None)


def _trace_name(source: Any) -> str | None:
    """The name of one source: of a trace of theirs, or of whatever this memory wrote there."""
    if isinstance(source, Mapping):
        return next((str(source[name]) for name in _TRACE_NAMES if isinstance(source.get(name), str | int)), None)
    return source if isinstance(source, str) else None


def _trace(name: str) -> dict[str, str]:
    return {"trace_uid": name, "source_system": _OURS, "trace_id": name}


def _ours(source: Any) -> bool:
    """Whether a source says no more than its name."""
    name = _trace_name(source)
    return source == name or (name is not None and source == _trace(name))


def _keep_traces(kept: dict[str, Any], item: Item) -> None:
    """Keep the sources that say more than their name."""
    rest = kept.pop(_SPELLING.name, {})
    sources = rest.pop("sources", [])
    listed = sources if isinstance(sources, list) else [sources]
    theirs = [source for source in listed if not _ours(source)]
    named = [source for source in theirs if _trace_name(source) is not None]
    if len(named) < len(theirs):
        item.say(f"The field sources of {item.owner} has parts that name nothing; they were left out.")
    if named or rest:
        kept[_SPELLING.name] = rest | ({"sources": named} if named else {})


def _written(id: str, bullet: Bullet) -> dict[str, Any]:
    known = _SPELLING.given_back(bullet, _TAKEN)
    sources = _written_sources(bullet, known)
    if [source for source in sources if not _ours(source)] != known.get("sources", []):
        known, sources = {}, [_trace(name) for name in bullet.sources]
    elsewhere = {name: value for name, value in bullet.metadata.items() if name != _SPELLING.name or not known}
    skill = {
        "id": id,
        "section": known.get("section", section_key(bullet.section)),
        "content": bullet.content,
        **_SPELLING.written,
        "created_at": bullet.created_at.isoformat(),
        "updated_at": bullet.updated_at.isoformat(),
        "status": "active" if bullet.status == "active" else "invalid",
        "sources": sources,
        "helpful": bullet.helpful,
        "harmful": bullet.harmful,
    }
    further = {name: value for name, value in known.items() if name not in ("section", "sources")}
    return skill | metadata_of(further) | extension(bullet, _EXTENDED, metadata=elsewhere)


def _written_sources(bullet: Bullet, known: Mapping[str, Any]) -> list[Any]:
    theirs: dict[str | None, list[Any]] = defaultdict(list)
    sources = known.get("sources")
    for source in sources if isinstance(sources, list) else ():
        theirs[_trace_name(source)].append(source)
    return [theirs[name].pop(0) if theirs[name] else _trace(name) for name in bullet.sources]
