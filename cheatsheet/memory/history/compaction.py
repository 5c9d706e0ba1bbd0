"""What of a journal may be forgotten up to a version, so that all that lives can still be explained.

Bullets that were ever merged with each other are one family. A family lives while one of its bullets is served, at that
version or at any time since; all its changes stay, so that `blame` tells the same as before. Two things go: what only
families that no longer live have gone through, and single uses, of which those in a row become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.history.past import History
from cheatsheet.memory.history.sheet import Replaying, Sheet, Snapshot
from cheatsheet.memory.operations import Add, Merge, Operation, Tag


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """How a journal is to be rewritten.

    Attributes:
        seen: version of the memory when this was decided.
        snapshot: from where the rewritten journal is replayed.
        changed: entries with fewer operations than they have.
        gone: versions of entries that go altogether.
        operations: how many operations go.
        forgotten: ids of the bullets whose past goes.
    """

    seen: int
    snapshot: Snapshot
    changed: Sequence[JournalEntry] = ()
    gone: Sequence[int] = ()
    operations: int = 0
    forgotten: frozenset[str] = frozenset()

    @property
    def worth_it(self) -> bool:
        """Whether anything goes; where nothing does, the whole past is better kept."""
        return bool(self.changed or self.gone)

    def fits(self, since: Iterable[JournalEntry]) -> bool:
        """Whether nothing has come to life again since that was forgotten.

        Args:
            since: entries after `seen`.
        """
        return all(self.forgotten.isdisjoint(_named(operation)) for entry in since for operation in entry.operations)


def compaction_of(history: History, version: int) -> Compaction:
    """Decide what goes of a journal up to a version, as `History.version_at` gives it.

    An entry stays while it has operations, a turn id or a record: turns are learnt once, and what a caller stored with
    one is found by its id. So does the entry of that version itself. Notes go with the last operation of their entry.
    """
    past = _Past(history, version)
    kept = past.of_the_living()
    by_entry: dict[int, list[Operation]] = {}
    for step in kept:
        by_entry.setdefault(step.version, []).append(step.operation)
    changed, gone = _rewritten(past.entries, by_entry, version)
    return Compaction(
        seen=history.newest,
        snapshot=past.snapshot(adds=sum(isinstance(step.operation, Add) for step in kept)),
        changed=changed,
        gone=gone,
        operations=sum(len(entry.operations) for entry in past.entries) - len(kept),
        forgotten=past.forgotten,
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """One operation of the compacted part, and the ids of the bullets that it changed; none where it only changed how
    experiences stand.
    """

    version: int
    operation: Operation
    bullets: tuple[str, ...]

    @property
    def uses(self) -> int:
        """How many uses it counts, where it does nothing else."""
        operation = self.operation
        return operation.uses if isinstance(operation, Tag) and not (operation.helpful or operation.harmful) else 0

    def counting(self, earlier: _Step) -> _Step:
        """The step with the uses that an earlier one counted."""
        return replace(self, operation=self.operation.model_copy(update={"uses": earlier.uses + self.uses}))


class _Past:
    """A journal read once: the steps up to a version, how things stood there, and which families live.

    Attributes:
        entries: those up to the version.
        forgotten: ids of bullets of families that no longer live.
    """

    def __init__(self, history: History, version: int) -> None:
        self.entries = [entry for entry in history.journal if entry.version <= version]
        self._version = version
        self._start = history.snapshot.sheet
        self._families = _Families()
        self._steps: list[_Step] = []
        replaying = Replaying(history.snapshot)
        for entry in self.entries:
            self._steps += self._steps_of(entry, replaying)
        self._then = replaying.sheet()
        served = {bullet.id for bullet in self._then if bullet.status == "active"}
        served |= self._served_since(history.journal[len(self.entries) :], replaying)
        living = {self._families.of(id) for id in served}
        self.forgotten = frozenset(id for id in self._then.bullets if self._families.of(id) not in living)

    def of_the_living(self) -> list[_Step]:
        """The steps that changed a bullet of a family that lives, with uses in a row as one."""
        told = (step for step in self._steps if step.bullets and step.bullets[0] not in self.forgotten)
        return _with_uses_in_rows(told, self._families.of)

    def snapshot(self, *, adds: int) -> Snapshot:
        """What the kept steps do not tell.

        Args:
            adds: how many of them make a bullet.
        """
        bullets = {id: self._then.bullets[id] for id in self._then.bullets if id in self.forgotten}
        bullets |= {id: bullet for id, bullet in self._start.bullets.items() if id not in self.forgotten}
        sheet = Sheet(bullets, self._then.next_number - adds, self._then.standings)
        return Snapshot(self._version, sheet)

    def _steps_of(self, entry: JournalEntry, replaying: Replaying) -> Iterator[_Step]:
        replaying.begin(entry)
        for operation in entry.operations:
            changed = [after for _, after in replaying.apply(operation, entry) if isinstance(after, Bullet)]
            for bullet in changed:
                if bullet.status == "merged":
                    self._families.unite(bullet.id, str(bullet.metadata.get("merged_into", bullet.id)))
            yield _Step(entry.version, operation, tuple(bullet.id for bullet in changed))

    def _served_since(self, entries: Iterable[JournalEntry], replaying: Replaying) -> set[str]:
        served: set[str] = set()
        for entry in entries:
            replaying.begin(entry)
            for operation in entry.operations:
                for _, after in replaying.apply(operation, entry):
                    if isinstance(after, Bullet) and after.status == "active":
                        served.add(after.id)
        return served


class _Families:
    """Which bullets belong together: a union-find, in which ids that were never united stand alone."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def of(self, id: str) -> str:
        """One id for all of a family."""
        while (above := self._above.get(id, id)) != id:
            self._above[id] = self._above.get(above, above)
            id = self._above[id]
        return id

    def unite(self, one: str, two: str) -> None:
        self._above[self.of(one)] = self.of(two)


def _with_uses_in_rows(steps: Iterable[_Step], family_of: Callable[[str], str]) -> list[_Step]:
    """The steps, in which uses of one bullet are counted by the last of them, where nothing else has changed one of its
    family in between.

    So every other change finds the bullets as they were, with the same counters and the same last use.
    """
    kept: dict[int, _Step] = {}
    last_uses: dict[str, dict[str, int]] = {}  # by family and bullet: its place
    for place, step in enumerate(steps):
        kept[place] = step
        family = family_of(step.bullets[0])
        if not step.uses:
            last_uses.pop(family, None)
            continue
        places = last_uses.setdefault(family, {})
        if (before := places.get(step.bullets[0])) is not None:
            kept[place] = step.counting(kept.pop(before))
        places[step.bullets[0]] = place
    return list(kept.values())


def _rewritten(
    entries: Iterable[JournalEntry], operations: Mapping[int, Sequence[Operation]], version: int
) -> tuple[list[JournalEntry], list[int]]:
    """The entries that become others, and the versions of those that go."""
    changed: list[JournalEntry] = []
    gone: list[int] = []
    for entry in entries:
        left = tuple(operations.get(entry.version, ()))
        if not (left or entry.turn_id or entry.record is not None or entry.version == version):
            gone.append(entry.version)
        elif left != entry.operations or (entry.notes and not left):
            changed.append(entry.model_copy(update={"operations": left, "notes": entry.notes if left else ()}))
    return changed, gone


def _named(operation: Operation) -> tuple[str, ...]:
    """Ids that an operation of a journal names."""
    if isinstance(operation, Merge):
        return (operation.into, *operation.absorbed)
    return (operation.id,)
