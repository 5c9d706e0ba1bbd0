"""Entities: names met in logs and turns, with counts and when they were last seen; shown when they are met again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from cheatsheet.context.fence import NOT_INSTRUCTIONS, one_line
from cheatsheet.context.home import home_lock, path_in, write_private
from cheatsheet.context.providers.day_log import DayLog, read_log
from cheatsheet.context.providers.entity_rules import EntityKind, find_names, name_key
from cheatsheet.context.providers.files import FileRead, read_file
from cheatsheet.context.providers.provider import ContextRequest, Note, Provided
from cheatsheet.context.section import Item, Section
from cheatsheet.errors import StoreCorruptError
from cheatsheet.safety.secrets import MASK, mask_secrets

ENTITIES_FILE: Final = "entities.json"
ENTITIES_PRIORITY: Final = 5
MAX_ENTITIES: Final = 5_000

_VERSION: Final = 1
_MAX_BYTES: Final = 16 * 1_048_576
_KEY_WORDS: Final = 8
_SEARCHED_CHARS: Final = 100_000
_UNSPACED: Final = (("\u3040", "\u30ff"), ("\u4e00", "\u9fff"), ("\uac00", "\ud7a3"))  # kana, Han, Hangul


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A name that was met.

    Attributes:
        key: by which two spellings are the same name.
        count: in how many texts it was met.
        last_seen: in UTC.
    """

    name: str
    key: str
    kind: EntityKind
    count: int
    first_seen: datetime
    last_seen: datetime


class EntityStore:
    """The entities of one home, in one file that several processes may use.

    Reading needs no lock: the file is replaced as a whole. When there are more than `max_entities`, those met least
    often, and of these the ones not seen for longest, are forgotten.
    """

    def __init__(self, home: Path, *, max_entities: int = MAX_ENTITIES) -> None:
        self._home = home
        self._max = max_entities

    def all(self) -> tuple[Entity, ...]:
        """Every entity, the most often met first.

        Raises:
            StoreCorruptError: the file is damaged; it is left as it is.
        """
        read = read_file(self._home, ENTITIES_FILE, max_bytes=_MAX_BYTES)
        if read.fact.health == "missing":
            return ()
        try:
            return _from_json(json.loads(_whole(read)))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise StoreCorruptError(
                f"{ENTITIES_FILE} in {self._home} is damaged ({error}). It was left as it is: mend it, or delete it to "
                f"start anew."
            ) from error

    def surface_relevant(self, text: str, *, limit: int = 8) -> tuple[Entity, ...]:
        """The entities whose names stand in a text, the most often met first.

        Raises:
            StoreCorruptError: the file is damaged.
        """
        return relevant(self.all(), text)[:limit]

    def record(self, text: str, now: datetime) -> tuple[Entity, ...]:
        """Count the names in a text, new ones and known ones; returns them as they are now.

        What looks like a key is masked before names are looked for.

        Raises:
            StoreCorruptError: the file is damaged; nothing is counted.
            StoreReadOnlyError, StoreBusyError: it cannot be written.
        """
        if not text.strip():
            return ()
        with home_lock(self._home):
            return self.record_locked(text, now)

    def record_locked(self, text: str, now: datetime) -> tuple[Entity, ...]:
        """As `record`, for callers that hold the `home_lock`."""
        known = {entity.key: entity for entity in self.all()}
        met = _met(mask_secrets(text), known, now.astimezone(UTC))
        if met:
            known |= met
            kept = sorted(known.values(), key=_rank)[: self._max]
            write_private(path_in(self._home, ENTITIES_FILE), _to_bytes(kept))
        return tuple(sorted(met.values(), key=_rank))


@dataclass(frozen=True, slots=True)
class EntitiesProvider:
    """One section with the entities that the query and today's log speak of, those of the query first."""

    name: str = "entities"

    def provide(self, request: ContextRequest) -> Provided:
        today = request.today or read_log(request.home, request.now.date())
        try:
            known = EntityStore(request.home).all()
        except StoreCorruptError as error:
            return Provided(notes=(Note(kind="damaged", provider=self.name, text=str(error)),))
        found = _spoken_of(known, request.query, today)[: request.limits.entities]
        return Provided(sections=(_section(found),) if found else ())


def relevant(entities: Iterable[Entity], text: str) -> tuple[Entity, ...]:
    """Those whose names stand in the text as whole words, in their order; case and punctuation do not matter.

    Scripts without spaces have no words to tell; there a name counts wherever it stands.
    """
    folded = name_text(text)
    runs = _word_runs(folded)
    return tuple(
        entity for entity in entities if entity.key in runs or (_is_unspaced(entity.key) and entity.key in folded)
    )


def name_text(text: str) -> str:
    """A text in the form of an entity's key."""
    return name_key(text[:_SEARCHED_CHARS])


def _spoken_of(known: tuple[Entity, ...], query: str, today: DayLog) -> list[Entity]:
    asked = relevant(known, query) if query.strip() else ()
    logged = relevant(known, today.text[-_SEARCHED_CHARS:]) if today.text.strip() else ()
    return list(dict.fromkeys((*asked, *logged)))


def _met(text: str, known: dict[str, Entity], at: datetime) -> dict[str, Entity]:
    """The entities of a text, counted once more."""
    mentions = {m.key: m for m in find_names(text) if MASK.strip("[]") not in m.key}
    again = {entity.key: entity for entity in relevant(known.values(), text)}
    met: dict[str, Entity] = {}
    for key in sorted(mentions.keys() | again.keys()):
        if (before := known.get(key)) is not None:
            met[key] = _counted(before, at)
        else:
            mention = mentions[key]
            met[key] = Entity(name=mention.name, key=key, kind=mention.kind, count=1, first_seen=at, last_seen=at)
    return met


def _counted(entity: Entity, at: datetime) -> Entity:
    return replace(
        entity, count=entity.count + 1, first_seen=min(entity.first_seen, at), last_seen=max(entity.last_seen, at)
    )


def _word_runs(folded: str) -> frozenset[str]:
    """Every run of up to eight words of a text; a handle is also found by its name alone."""
    words = folded.split()
    plain = [word.lstrip("@#") for word in words]
    return frozenset(
        " ".join(of[start : start + length])
        for of in (words, plain)
        for start in range(len(of))
        for length in range(1, min(_KEY_WORDS, len(of) - start) + 1)
    )


def _is_unspaced(key: str) -> bool:
    """Whether a name is of two or more characters of a script without spaces, or with endings stuck to its names."""
    return len(key) > 1 and all(any(first <= char <= last for first, last in _UNSPACED) for char in key)


def _rank(entity: Entity) -> tuple[int, float, str]:
    return -entity.count, -entity.last_seen.timestamp(), entity.key


def _section(found: list[Entity]) -> Section:
    return Section(
        name="entities",
        priority=ENTITIES_PRIORITY,
        text=f"# Known names that matter now\n{NOT_INSTRUCTIONS}\n",
        items=tuple(Item(text=_line(entity)) for entity in found),
        shorten="drop-last",
    )


def _line(entity: Entity) -> str:
    times = "once" if entity.count == 1 else f"{entity.count:,} times"
    return f"- {one_line(entity.name, max_chars=80)} ({entity.kind}): met {times}, last on {entity.last_seen.date()}"


def _to_bytes(entities: list[Entity]) -> bytes:
    rows = [
        asdict(e) | {"first_seen": e.first_seen.isoformat(), "last_seen": e.last_seen.isoformat()} for e in entities
    ]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f'{{"version": {_VERSION}, "entities": [\n{lines}\n]}}\n'.encode("utf-8", "replace")


def _whole(read: FileRead) -> str:
    """The text of a file that is as it should be."""
    if read.fact.health != "ok":
        raise ValueError(read.fact.why)
    return read.text


def _from_json(values: Any) -> tuple[Entity, ...]:
    """Raises ValueError, TypeError or KeyError for anything that is no list of entities."""
    if values["version"] != _VERSION:
        raise ValueError(f"its version is {values['version']!r}")
    return tuple(sorted((_entity(row) for row in values["entities"]), key=_rank))


def _entity(row: dict[str, Any]) -> Entity:
    kinds: tuple[EntityKind, ...] = ("name", "identifier", "handle", "tag", "quoted")
    if row["kind"] not in kinds:
        raise ValueError(f"an entity of the kind {row['kind']!r}")
    return Entity(
        name=str(row["name"]),
        key=str(row["key"]),
        kind=row["kind"],
        count=int(row["count"]),
        first_seen=_moment(row["first_seen"]),
        last_seen=_moment(row["last_seen"]),
    )


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
