"""The past of a memory, read from its journal: as it was, why it is so, what changed, and the way back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Self

from cheatsheet.errors import OperationError
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Standing
from cheatsheet.memory.history.journal import Change, Committed, JournalEntry
from cheatsheet.memory.history.sheet import Sheet, Snapshot, replay
from cheatsheet.memory.operations import Operation, Remove, Restore
from cheatsheet.memory.values import in_utc

if TYPE_CHECKING:
    from cheatsheet.memory.store import MemoryStore  # which knows of compactions, that are made of a past

COUNTERS = ("helpful", "harmful", "uses")
_MOST_DIGITS = 18
_TOLD_BY_STATUS = ("archived_because", "merged_into")


@dataclass(frozen=True, slots=True)
class Pair:
    """One bullet at two times."""

    before: Bullet
    after: Bullet

    @property
    def edits(self) -> dict[str, tuple[object, object]]:
        """Properties that differ, with their old and new value; what the status says anyway is left out."""
        before, after = _properties(self.before), _properties(self.after)
        names = dict.fromkeys((*before, *after))
        return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What two sheets of one memory do not have in common, each part in the order of the bullets' numbers.

    Attributes:
        added: bullets that are only in the second, whatever their status there.
        gone: bullets that are only in the first, because the second is the older one.
        archived, restored, merged: bullets with that fate, as they are in the second.
        reworded: bullets with another content.
        recounted: bullets with other counters (`COUNTERS`).
        altered: bullets with another section, other tags or any other property.
        experiences_added, experiences_gone, experiences_archived, experiences_restored: ids of experiences.
    """

    added: tuple[Bullet, ...] = ()
    gone: tuple[Bullet, ...] = ()
    archived: tuple[Bullet, ...] = ()
    restored: tuple[Bullet, ...] = ()
    merged: tuple[Bullet, ...] = ()
    reworded: tuple[Pair, ...] = ()
    recounted: tuple[Pair, ...] = ()
    altered: tuple[Pair, ...] = ()
    experiences_added: tuple[str, ...] = ()
    experiences_gone: tuple[str, ...] = ()
    experiences_archived: tuple[str, ...] = ()
    experiences_restored: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__)


@dataclass(frozen=True, slots=True)
class History:
    """All that is known of the past of one namespace.

    Attributes:
        journal: its entries, oldest first.
        snapshot: from where they are replayed.
    """

    journal: Sequence[JournalEntry]
    snapshot: Snapshot = field(default_factory=Snapshot)

    @classmethod
    def of(cls, store: MemoryStore, namespace: str) -> Self:
        """The past of a namespace, read at one moment."""
        with store.pinned():
            return cls(store.journal(namespace), store.snapshot(namespace))

    @property
    def newest(self) -> int:
        """The version of the memory; 0 for a new one."""
        return self.journal[-1].version if self.journal else 0

    def as_of(self, version: int | None = None) -> Sheet:
        """The memory as it was after a version, as `version_at` gives it; as it is now for None."""
        return replay(self.journal, start=self.snapshot, until=version)

    def version_at(self, given: int | str | datetime) -> int:
        """The version that a place in the past means: the newest entry that it reaches, or 0 for the empty memory.

        Args:
            given: a version; a time, in ISO 8601 where it is a text, in UTC where it names no zone; or the id of a
                turn.

        Raises:
            OperationError: there is no such version, time or turn, or its past was compacted; the message tells which
                there are.
        """
        place = self._read(given.strip()) if isinstance(given, str) else given
        version = self._reached(place)
        if version < self.snapshot.version:
            raise OperationError(f"What was before version {self.snapshot.version} was compacted. {self._which()}")
        return version

    def reached_by(self, moment: datetime) -> int:
        """The version of the memory at a time; 0 where it had none yet."""
        return max((entry.version for entry in self.journal if entry.at <= in_utc(moment)), default=0)

    def _reached(self, place: int | datetime) -> int:
        if isinstance(place, datetime):
            version = self.reached_by(place)
            if not version:
                raise OperationError(f"The memory has nothing from {_minute(place)} or before. {self._which()}")
            return version
        if not 0 <= place <= self.newest:
            raise OperationError(f"There is no version {place}. {self._which()}")
        return max((entry.version for entry in self.journal if entry.version <= place), default=0)

    def _read(self, given: str) -> int | datetime:
        """A version, whether it is named by its number or by its turn, or else a time."""
        if given.isascii() and given.isdecimal() and len(given) <= _MOST_DIGITS:
            return int(given)
        of_turn = [entry.version for entry in self.journal if entry.turn_id == given != ""]
        try:
            return of_turn[0] if of_turn else in_utc(datetime.fromisoformat(given))
        except (ValueError, OverflowError):
            raise OperationError(f"{given!r} is neither a version nor a turn nor a time. {self._which()}") from None

    def _which(self) -> str:
        known = [entry for entry in self.journal if entry.version >= self.snapshot.version]
        if not known:
            return "This memory has no history yet: only version 0, the empty memory."
        first, last = known[0], known[-1]
        empty = "" if self.snapshot.version else ", 0 for the empty memory"
        return (
            f"Versions go from {first.version} ({_minute(first.at)}) to {last.version} ({_minute(last.at)}); give one "
            f"of them{empty}, a time such as {last.at:%Y-%m-%dT%H:%M}, or the id of a turn."
        )


def difference(before: Sheet, after: Sheet) -> Difference:
    """What changed from one sheet to the other, of the same memory."""
    pairs = [Pair(bullet, after.bullets[bullet.id]) for bullet in before if bullet.id in after.bullets]
    edits = [(pair, pair.edits.keys()) for pair in pairs]
    fates = {
        status: tuple(p.after for p in pairs if p.after.status == status != p.before.status)
        for status in ("active", "archived", "merged")
    }
    return Difference(
        added=tuple(bullet for bullet in after if bullet.id not in before.bullets),
        gone=tuple(bullet for bullet in before if bullet.id not in after.bullets),
        archived=fates["archived"],
        restored=fates["active"],
        merged=fates["merged"],
        reworded=tuple(pair for pair, names in edits if "content" in names),
        recounted=tuple(pair for pair, names in edits if names & set(COUNTERS)),
        altered=tuple(pair for pair, names in edits if names - {"content", *COUNTERS}),
        experiences_added=tuple(id for id in after.standings if id not in before.standings),
        experiences_gone=tuple(id for id in before.standings if id not in after.standings),
        experiences_archived=_now_with("archived", before, after),
        experiences_restored=_now_with("active", before, after),
    )


def rollback_operations(now: Sheet, then: Sheet, *, reason: str = "rolled back") -> tuple[Operation, ...]:
    """What makes a memory that is `now` what it was `then`, as operations of a new entry of its journal.

    Every bullet and every experience's standing that existed then becomes what it was. What came later is archived,
    not lost, so that rolling back to `now` brings the present back. A later bullet that lives on in another one stays
    so where that one is later as well; where that one becomes what it was without it, it is archived on its own.

    Args:
        now, then: two sheets of one memory, `then` the older one or the same.
        reason: kept with what is archived.
    """
    return (*_bullets_back(now, then, reason), *_standings_back(now, then, reason))


def roll_back(store: MemoryStore, namespace: str, version: int, *, at: datetime, mode: str = "") -> Committed:
    """Make a memory what it was after a version, by one new entry of its journal (`rollback_operations`).

    The memory is read inside the transaction, so that nothing can come in between.

    Args:
        version: as `History.version_at` gives it.
        at: when this happens, in UTC.
        mode: of whoever asks for it.
    """

    def way_back() -> Iterable[Operation]:
        history = History.of(store, namespace)
        then = history.as_of(history.version_at(version))
        return rollback_operations(history.as_of(), then, reason=f"rolled back to version {version}")

    notes = (f"The memory became what it was after version {version}.",)
    return store.commit(namespace, Change(at=at, cause="rollback", mode=mode, notes=notes), then=way_back)


def _bullets_back(now: Sheet, then: Sheet, reason: str) -> Iterable[Operation]:
    for bullet in now:
        past = then.bullets.get(bullet.id)
        if past is not None:
            if past != bullet:
                yield Restore(id=bullet.id, state=past.model_dump(mode="json"))
        elif bullet.status == "active":
            yield Remove(id=bullet.id, reason=reason)
        elif bullet.status == "merged" and bullet.metadata.get("merged_into") in then.bullets:
            yield Restore(id=bullet.id, state=_archived(bullet, reason).model_dump(mode="json"))


def _standings_back(now: Sheet, then: Sheet, reason: str) -> Iterable[Operation]:
    for id, standing in now.standings.items():
        past = then.standings.get(id)
        if past is not None:
            if past != standing:
                yield Restore(id=id, state=past.model_dump(mode="json"))
        elif standing.status == "active":
            yield Remove(id=id, reason=reason)


def _archived(bullet: Bullet, reason: str) -> Bullet:
    kept = {name: value for name, value in bullet.metadata.items() if name not in _TOLD_BY_STATUS}
    return bullet.model_copy(update={"status": "archived", "metadata": kept | {"archived_because": reason}})


def _properties(bullet: Bullet) -> dict[str, object]:
    values = {name: getattr(bullet, name) for name in type(bullet).model_fields}
    metadata = {name: value for name, value in bullet.metadata.items() if name not in _TOLD_BY_STATUS}
    return {name: value for name, value in values.items() if name not in ("status", "updated_at", "last_used_at")} | {
        "metadata": metadata
    }


def _now_with(status: str, before: Sheet, after: Sheet) -> tuple[str, ...]:
    def was(id: str) -> Standing | None:
        return before.standings.get(id)

    return tuple(
        id
        for id, now in after.standings.items()
        if now.status == status and (past := was(id)) and past.status != status
    )


def _minute(moment: datetime) -> str:
    return f"{in_utc(moment):%Y-%m-%d %H:%M}"
