"""Codes in the making, for rows that change meanwhile."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from indexes.locks import ReadWriteLock
from indexes.rows import BlockRows
from indexes.vectors import Matrix

if TYPE_CHECKING:
    from indexes.faiss_codes import Codes

SAMPLE = 8_192
"""Rows that codes are trained on, at most: 512 a centroid. Twice as many take twice as long and find little more."""

STEP = 4_096
"""Rows that are encoded at one time."""

SEED = 0
"""The same rows give the same codes."""


_importing = ReadWriteLock()


def codes_class() -> type[Codes]:
    """`Codes`, with which FAISS is imported: only where there are codes.

    A fork waits for the end of it. A module that another thread was importing stays half imported in the new process.
    """
    with _importing.writing():
        from indexes.faiss_codes import Codes
    return Codes


class _Work(NamedTuple):
    """Rows to encode, as they were at one moment.

    Attributes:
        start: how many codes are right, but for those of `changed`.
        changed: int64 `[c]`, positions before `start` where other rows stand now.
        rewritten: `[c, dim]`, these rows.
        following: `[m, dim]`, the rows from `start` on.
    """

    start: int
    changed: npt.NDArray[np.int64]
    rewritten: Matrix
    following: Matrix


class Quantising:
    """Makes codes of rows beside searches and changes, which wait no longer than it takes to copy a few rows.

    One thread calls `train` and `step`. Whoever changes a row tells it, with the lock held for writing; `finish` is
    called so as well.
    """

    def __init__(self, rows: BlockRows, lock: ReadWriteLock) -> None:
        self._rows = rows
        self._lock = lock
        self._done = 0
        self._changed: list[npt.NDArray[np.int64]] = []
        self._process = os.getpid()

    @property
    def is_orphaned(self) -> bool:
        """Whether the thread is in another process, from which this one was forked off."""
        return self._process != os.getpid()

    def changed(self, places: npt.NDArray[np.int64]) -> None:
        """Other rows stand at `places` now."""
        self._changed.append(places)

    def truncated(self, count: int) -> None:
        """Only `count` rows are left."""
        self._done = min(self._done, count)

    def train(self) -> Codes:
        """Codes for rows like those that are there; none are encoded yet."""
        make = codes_class()
        with self._lock.reading():
            count = len(self._rows)
            chosen = np.random.default_rng(SEED).choice(count, min(SAMPLE, count), replace=False)
            sample = self._rows[np.sort(chosen)]
        return make.trained(sample, count, seed=SEED)

    def step(self, codes: Codes) -> bool:
        """Encode some of the rows that have no code yet; False when there are no more of them."""
        with self._lock.reading():
            work = self._take()
        _encode(work, codes)
        return len(work.following) == STEP

    def finish(self, codes: Codes) -> None:
        """Encode what is left, so that `codes` are those of all rows as they are now."""
        while True:
            work = self._take()
            _encode(work, codes)
            if len(work.following) < STEP:
                return

    def _take(self) -> _Work:
        start, stop = self._done, min(self._done + STEP, len(self._rows))
        places = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *self._changed]))
        places = places[places < start]
        self._changed.clear()
        self._done = stop
        return _Work(start, places, self._rows[places], self._rows[np.arange(start, stop)])


def _encode(work: _Work, codes: Codes) -> None:
    codes.truncate(work.start)
    codes.put(work.changed, work.rewritten)
    codes.append(work.following)
