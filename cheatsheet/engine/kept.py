"""A memory that is open, apart from its turns: changed by hand, looked back at, brought in and given out."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cheatsheet.engine.intake import Taken, cleaned, judged, take_in, usage_of
from cheatsheet.engine.options import Clock, EngineOptions
from cheatsheet.engine.outside import bring, due, last_refresh
from cheatsheet.engine.playbooks import Imported, import_playbook, read_file
from cheatsheet.engine.results import MemoryStats
from cheatsheet.engine.revision import Revision
from cheatsheet.engine.upkeep import Upkeep
from cheatsheet.errors import SetupError
from cheatsheet.events import CommitEvent, Events, Metrics, log
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.evict import evict
from cheatsheet.memory.formats import Written, write_playbook
from cheatsheet.memory.gate.meanwhile import Meanwhile
from cheatsheet.memory.history.blame import Touch, blame
from cheatsheet.memory.history.journal import Cause, Change, Committed, JournalEntry
from cheatsheet.memory.history.past import Difference, History, difference, roll_back
from cheatsheet.memory.history.past_view import PastView
from cheatsheet.memory.history.sheet import Sheet
from cheatsheet.memory.likeness.consolidate import consolidate
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.refine import refine
from cheatsheet.memory.search.retriever import Retriever
from cheatsheet.memory.store import DEFAULT_NAMESPACE, MemoryStore, Progress
from cheatsheet.memory.store_view import StoreView
from indexes.embedder import Embedder

Moment = int | str | datetime
"""A place in the past of a memory: a version, a time, or the id of a turn."""


_FILE_NAME = re.compile(r"[^\n]{1,250}\.(?:md|txt|json|jsonl|ya?ml)", re.IGNORECASE)


def utc_now() -> datetime:
    """The system's clock."""
    return datetime.now(UTC)


class KeptMemory(Upkeep):
    """One namespace of a store, open to be changed and looked at."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        retriever: Retriever,
        embedder: Embedder,
        namespace: str = DEFAULT_NAMESPACE,
        options: EngineOptions | None = None,
        clock: Clock = utc_now,
        changed_by: str = "",
    ) -> None:
        self.namespace = namespace
        self.options = options or EngineOptions()
        self.metrics = Metrics()
        self.events = Events([self.metrics])
        self._store = store
        self._retriever = retriever
        self._embedder = embedder
        self._clock = clock
        self._changed_by = changed_by
        self._asked_outside: datetime | None = None
        weight = self.options.refine.order_weight
        self.memory = StoreView(store, retriever, namespace=namespace, harmful_weight=weight)

    # Changing it by hand

    def apply(
        self,
        operations: Iterable[Operation],
        *,
        cause: Cause = "user",
        grow_adds: bool = True,
        seen: int | None = None,
    ) -> Committed:
        """Change the memory by hand, in one transaction.

        Args:
            cause: what comes from a person is taken as it is; all else is judged by the guard, and what is decided by
                words that others changed meanwhile is left out and told.
            grow_adds: whether new bullets that are known already are merged instead of added.
            seen: the version of the memory by which the operations were made; by default, the newest.
        """
        seen = self.memory.version if seen is None else seen
        if grow_adds:
            return self._commit_taken(self._take_in(operations, cause=cause, seen=seen), cause)
        taken = replace(cleaned(operations, self.options), seen=seen)
        return self._commit_taken(taken, cause, whole=False)

    def refine(self, *, full: bool = False) -> Committed | None:
        """Archive what is expired, harmful or over the limits now; None when there is nothing to do.

        Args:
            full: also merge bullets that say the same, as after an import or with another threshold.
        """
        now = self._clock()
        merged = self._consolidated(now) if full else Taken(())
        if not merged.operations and not self._due(now):
            return None
        return self._commit_taken(merged, "refine", at=now)

    def import_playbook(
        self,
        source: str | Path,
        *,
        format: str = "auto",
        tags: Sequence[str] = (),
        pin: bool = False,
        dry_run: bool = False,
        name: str = "",
        progress: Progress | None = None,
    ) -> Imported:
        """Learn every piece of advice in a playbook; what is known already is merged.

        A large one takes several transactions. Whoever is stopped in between leaves whole ones, and goes on behind them
        with the same call.

        Args:
            source: a file, or the text itself.
            format: the name of one of `cheatsheet.memory.formats.FORMATS`; `auto` recognises it from the content;
                `text` reads prose: each paragraph and list item is a bullet.
            tags: given to every new bullet.
            pin: whether the new bullets are pinned.
            dry_run: only tell what would happen.
            name: where it comes from, for the bullets' sources; by default the file's name.
            progress: told after each of several transactions how many entries are dealt with, and how many there are.

        Raises:
            UnknownNameError: no such format.
            SetupError: the file cannot be read, a text is the name of a file, or no format fits the content.
        """
        if isinstance(source, str) and _FILE_NAME.fullmatch(source):
            raise SetupError(
                f"{source!r} looks like the name of a file, and a text is expected. Give Path({source!r})."
            )
        return import_playbook(
            read_file(source) if isinstance(source, Path) else source,
            format=format,
            source=name or (source.name if isinstance(source, Path) else "import"),
            tags=tags,
            pin=pin,
            memory=self.memory,
            apply=None if dry_run else lambda operations: self.apply(operations, cause="import"),
            progress=progress,
        )

    def refresh(self) -> tuple[str, ...]:
        """Bring knowledge from outside where a source was given and its time has come; `learn` and `solve` do it too.

        A source that fails stops no turn: it is logged, told, and asked again when its time comes again.

        Returns:
            One sentence on what was brought or what failed; none where nothing was due.
        """
        outside = self.options.outside
        if outside is None:
            return ()
        now = self._clock()
        if self._asked_outside is None:
            self._asked_outside = last_refresh(self._store.journal(self.namespace), outside.name)
        if not due(self._asked_outside, now, outside.refresh_after):
            return ()
        self._asked_outside, seen = now, self.memory.version
        try:
            brought = bring(outside, self.memory)
        except Exception as error:
            log.exception("The source %r failed.", outside.name)
            return (f"The source {outside.name!r} failed and brought nothing: {error}",)
        taken = self._take_in(brought.operations, cause="import", seen=seen)
        self._commit_taken(taken, "import", at=now, record=brought.record)
        return (f"The source {outside.name!r} brought {len(brought.operations)} new pieces of advice.",)

    def export_playbook(self, *, format: str = "json", bullets: Sequence[Bullet] | None = None) -> Written:
        """The active bullets, or those given, as a text in one of the formats; it tells what the format cannot carry.

        Raises:
            UnknownNameError: no such format.
        """
        return write_playbook(self.memory.bullets() if bullets is None else bullets, format)

    # Its past

    def history(self, *, limit: int | None = None, after: int = 0) -> Sequence[JournalEntry]:
        """The journal, newest first."""
        return self._store.journal(self.namespace, after=after, limit=limit, newest_first=True)

    def as_of(self, to: Moment) -> Sheet:
        """All bullets as they were then.

        Raises:
            OperationError: the memory has no such version, time or turn, or its past was compacted.
        """
        past = self._past()
        return past.as_of(past.version_at(to))

    def past(self, to: Moment) -> PastView:
        """The memory as it was then, to be read: a mode can recall from it.

        Raises:
            OperationError: the memory has no such version, time or turn.
        """
        past = self._past()
        version = past.version_at(to)
        return PastView(
            self._store,
            past.as_of(version),
            self._embedder,
            namespace=self.namespace,
            version=version,
            harmful_weight=self.options.refine.order_weight,
        )

    def blame(self, bullet_id: str) -> Sequence[Touch]:
        """What made a bullet what it is: every change, oldest first, with its turn, model and feedback.

        Raises:
            OperationError: there never was such a bullet.
        """
        return blame(self._store, self.namespace, bullet_id)

    def diff(self, before: Moment, after: Moment | None = None) -> Difference:
        """What changed between two places in the past, or from one until now."""
        return difference(self.as_of(before), self.as_of(self.memory.version if after is None else after))

    def rollback(self, to: Moment) -> Committed:
        """Make the memory what it was then, by a new entry in the journal; what came later is archived, not lost."""
        version = self._past().version_at(to)
        started = time.perf_counter()
        committed = roll_back(self._store, self.namespace, version, at=self._clock(), mode=self._changed_by)
        self._tell(committed, time.perf_counter() - started)
        return committed

    def learnt(self, turn_id: str) -> bool:
        """Whether a turn of this name is in the journal."""
        return self._store.entry_of_turn(self.namespace, turn_id) is not None

    def recorded(self, turn_id: str) -> dict[str, Any] | None:
        """What `record` made of a turn, as it was stored with it."""
        entry = self._store.entry_of_turn(self.namespace, turn_id)
        return None if entry is None else entry.record

    def stats(self) -> MemoryStats:
        """How large the memory is."""
        return MemoryStats(
            bullets=self.memory.count_bullets(),
            archived=self.memory.count_bullets("archived"),
            merged=self.memory.count_bullets("merged"),
            experiences=self.memory.count_experiences(),
            version=self.memory.version,
        )

    def measures(self) -> dict[str, float]:
        """What the metrics have counted since the memory was opened, and what it holds now.

        `ace_bullets_total` are its active bullets; `ace_bullet_utility` gives their utility at the quantiles 0, 0.25,
        0.5, 0.75 and 1, where there are any.
        """
        utilities = sorted(map(self.options.refine.utility, self.memory.bullets()))
        last = len(utilities) - 1
        quantiles = {
            f'ace_bullet_utility{{quantile="{quantile}"}}': utilities[round(quantile * last)]
            for quantile in (0, 0.25, 0.5, 0.75, 1)
            if utilities
        }
        return {"ace_bullets_total": len(utilities), **self.metrics.as_dict(), **quantiles}

    def close(self) -> None:
        """Close the memory; closing twice is closing once."""
        self._retriever.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _past(self) -> History:
        return History.of(self._store, self.namespace)

    def _take_in(self, operations: Iterable[Operation], *, cause: Cause, seen: int) -> Taken:
        """Prepare operations that were made from a version of the memory."""
        since = Meanwhile.since(self._store, self.namespace, seen)
        return take_in(operations, self.memory, self._embedder, self.options, cause=cause, since=since)

    def _consolidated(self, now: datetime) -> Taken:
        policy, seen = self.options.refine, self.memory.version
        utility = {bullet.id: policy.utility_at(bullet, now) for bullet in self.memory.bullets()}
        found = consolidate(
            self.memory, threshold=self.options.grow_threshold, merger=self.options.merger, utility=utility
        )
        usage = usage_of(self.options.merger)
        taken = Taken(tuple(found.operations), notes=tuple(found.notes), usage=usage, seen=seen)
        return judged(taken, self.memory, self.options)

    def _commit_taken(
        self,
        taken: Taken,
        cause: Cause,
        *,
        at: datetime | None = None,
        record: dict[str, Any] | None = None,
        whole: bool = True,
    ) -> Committed:
        """Store what was prepared, as a change of its own."""
        change = Change(
            at=at or self._clock(),
            cause=cause,
            mode=self._changed_by,
            operations=taken.operations,
            record=record,
            notes=(*taken.skipped, *taken.notes),
        )
        return self._commit(change, seen=taken.seen, whole=whole)

    def _commit(
        self,
        change: Change,
        *,
        seen: int | None,
        whole: bool = True,
        beside: Sequence[Change] = (),
        reflections: int = 0,
    ) -> Committed:
        """Store a change, revised where others wrote since it was prepared, and refined, in one transaction.

        Args:
            seen: the version by which it was prepared; None where it depends on none.
            whole: whether it went through the whole intake, and does so again where others wrote.
            beside: entries of the same transaction that stand before it.
            reflections: how many stand behind it, for the metrics.
        """
        started = time.perf_counter()
        revision = Revision(self._store, self.memory, self._embedder, self.options, seen=seen or 0, whole=whole)
        committed = self._store.commit(
            self.namespace,
            change,
            seen=seen,
            revise=None if seen is None else revision,
            then=lambda: self._due(change.at),
            beside=beside,
        )
        committed = revision.told(committed)
        self._tell(committed, time.perf_counter() - started, reflections)
        return committed

    def _due(self, now: datetime) -> list[Operation]:
        """What is to be archived now."""
        return [*refine(self.memory, self.options.refine, now=now), *evict(self.memory, self.options.evict)]

    def _tell(self, committed: Committed, seconds: float, reflections: int = 0) -> None:
        self.events.emit(
            CommitEvent(namespace=self.namespace, entry=committed.entry, seconds=seconds, reflections=reflections)
        )
