"""What keeps a memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cheatsheet.memory.bullet import Bullet, Status
from cheatsheet.memory.experience import Experience, ExperienceStatus, Standing
from cheatsheet.memory.history.compaction import Compaction
from cheatsheet.memory.history.journal import Change, Committed, JournalEntry
from cheatsheet.memory.history.sheet import Snapshot
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.view import BulletOrder, ExperienceOrder
from indexes.cached import CacheKey, VectorCache
from indexes.vectors import Vector

DEFAULT_NAMESPACE = "default"

Then = Callable[[], Iterable[Operation]]
"""Makes further operations inside a transaction."""

Revise = Callable[[Change], Change]
"""Makes of a change what fits the memory as it is by now, inside the transaction that stores it."""

Progress = Callable[[int, int], None]
"""Told how much of something long is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Touched:
    """Whose text or status changed after some version: rows for the index.

    Attributes:
        version: up to where this reaches.
        bullets: number, content and whether it is active.
        experiences: number, query and whether it is active.
    """

    version: int
    bullets: Sequence[tuple[int, str, bool]]
    experiences: Sequence[tuple[int, str, bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What a store has given up of what nobody needs.

    Attributes:
        vectors: embeddings of texts that no bullet and no experience has any more, and those that were of no use.
        bytes_before, bytes_after: that the whole store takes, with all its namespaces.
    """

    vectors: int
    bytes_before: int
    bytes_after: int


class MemoryStore(VectorCache, Protocol):
    """Keeps bullets, experiences, the journal and embeddings, by namespace.

    K1  `commit` is one transaction: the change and its journal entry are there together, or neither is.
        Once it has returned, the change survives the death of the process.
    K2  Bullet and experience numbers grow within a namespace and are never given twice.
    K3  The journal replayed from its snapshot, which is nothing until `compact` is called, gives the stored bullets and
        the standings of experiences (`sheet.replay`), and replayed up to a version, those of that version.
    K4  An operation that does not fit the memory as it is now is left out and named; the others are applied.
    K5  A `turn_id` is committed at most once in a namespace.
    K6  Nothing of one namespace is ever seen in another. Embeddings belong to texts, not to namespaces.
    K7  Safe for several threads, and for several processes on one file.
    K8  An experience never changes once it is stored; whether it is served, and how often it was, does.
    K9  What a commit costs does not grow with the memory; nor does what `version`, `count_bullets()`, `sheet_tokens`
        and `count_experiences()` cost.
    K10 A change that was made from the version `seen` of the memory is revised in its transaction where the memory has
        changed since, so that nothing can come between the revision and the commit.
    K11 `compact` is one transaction, and changes nothing but the journal and its snapshot: bullets, experiences, ids,
        versions, their marks, turn ids and records stay.
    K12 What a thread reads inside `pinned` is of one moment, whatever is written meanwhile.
    """

    def commit(
        self,
        namespace: str,
        change: Change,
        *,
        seen: int | None = None,
        revise: Revise | None = None,
        then: Then | None = None,
        beside: Sequence[Change] = (),
    ) -> Committed:
        """Store a change, after those `beside` it, each with an entry of its own.

        Where the namespace has another version than `seen`, `revise` is asked first for the change to store instead.
        The experiences of the change are stored before its operations are applied; what it adds names them as sources.
        Then `then` is asked for more operations: it reads the memory as it is by now, and what it returns joins the
        same transaction and the same entry.
        """
        ...

    def version(self, namespace: str) -> int: ...

    def namespaces(self) -> Sequence[str]: ...

    def bullet(self, namespace: str, id: str) -> Bullet | None: ...

    def bullets(
        self,
        namespace: str,
        *,
        status: Status | None = "active",
        section: str | None = None,
        order: BulletOrder = "id",
        limit: int | None = None,
        harmful_weight: float = 1.0,
    ) -> Sequence[Bullet]: ...

    def bullets_by_number(self, namespace: str, numbers: Iterable[int]) -> Mapping[int, Bullet]: ...

    def count_bullets(self, namespace: str, status: Status | None = "active") -> int: ...

    def sheet_tokens(self, namespace: str) -> int:
        """Estimated tokens of all active bullets together (`estimate_tokens`)."""
        ...

    def experience(self, namespace: str, id: str, *, status: ExperienceStatus | None = None) -> Experience | None: ...

    def experiences(
        self,
        namespace: str,
        *,
        status: ExperienceStatus | None = "active",
        order: ExperienceOrder = "oldest",
        limit: int | None = None,
    ) -> Sequence[Experience]: ...

    def experiences_by_number(
        self, namespace: str, numbers: Iterable[int], *, status: ExperienceStatus | None = None
    ) -> Mapping[int, Experience]: ...

    def count_experiences(self, namespace: str, status: ExperienceStatus | None = "active") -> int: ...

    def standings(self, namespace: str) -> Mapping[str, Standing]:
        """How every experience stands, by id, in the order of their numbers."""
        ...

    def journal(
        self,
        namespace: str,
        *,
        after: int = 0,
        until: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Sequence[JournalEntry]:
        """Entries with a version above `after` and up to `until`; with `limit`, the first so many in that order."""
        ...

    def entry_of_turn(self, namespace: str, turn_id: str) -> JournalEntry | None: ...

    def touched(self, namespace: str, *, after: int) -> Touched: ...

    @property
    def read_only(self) -> bool:
        """True when it can be read but not written."""
        ...

    @property
    def reads_apart(self) -> bool:
        """Whether this thread may read another memory than other threads do: inside a commit of its own, or pinned."""
        ...

    def mark(self, namespace: str, version: int) -> str:
        """What tells the journal entry of that version from any other; empty where there is no such entry.

        A file of another memory, or one that was restored from a backup and went on from there, has other marks.
        """
        ...

    def matching_bullets(self, namespace: str, text: str, limit: int) -> Sequence[int]:
        """Numbers of active bullets that share words with a text, the best by BM25 first."""
        ...

    def matching_experiences(self, namespace: str, text: str, limit: int) -> Sequence[int]:
        """Numbers of active experiences whose query shares words with a text, the best by BM25 first."""
        ...

    # Its upkeep

    def pinned(self) -> AbstractContextManager[None]:
        """Let this thread read the memory as it is now, while the block lasts."""
        ...

    def snapshot(self, namespace: str) -> Snapshot:
        """From where the journal is replayed."""
        ...

    def compact(self, namespace: str, compaction: Compaction, *, still: Callable[[], bool]) -> bool:
        """Rewrite the journal as the compaction says.

        Args:
            still: asked inside the transaction whether the compaction still fits the memory; it reads what is there.

        Returns:
            Whether it did; where not, nothing was changed.
        """
        ...

    def next_numbers(self, namespace: str) -> tuple[int, int]:
        """The numbers that the next new bullet and the next experience will get."""
        ...

    def vectors(self) -> Iterator[tuple[CacheKey, Vector | None]]:
        """All embeddings, of every model; None where what is stored cannot be a vector."""
        ...

    def faults(self) -> Sequence[str]:
        """What is wrong with the place itself in which the memory is kept, one sentence each."""
        ...

    def shrink(self, unusable: Collection[CacheKey] = (), *, dry_run: bool = False) -> Shrunk:
        """Forget the embeddings that no text needs, and give back the room that is free.

        Args:
            unusable: further embeddings to forget; their texts are embedded again when they are needed.
            dry_run: only tell how many there are; nothing is changed.
        """
        ...

    def backup(self, path: Path, *, force: bool = False, progress: Progress | None = None) -> None:
        """Write the whole memory, with all its namespaces, as it is at one moment, while others read and write.

        Args:
            path: where to; there is a whole and sound copy afterwards, or what was there before.
            force: whether a file that is there is replaced.

        Raises:
            SetupError: a memory of this kind is not kept in a file, or there is one already.
            StoreError: it cannot be written.
        """
        ...

    def close(self) -> None: ...
