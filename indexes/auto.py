"""The index that needs no choice: exact while that is fast, then a quantised scan refined by exact scores."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import ClassVar

from indexes.files import Part
from indexes.quantised import QuantisedIndex
from indexes.quantising import Quantising
from indexes.vectors import Matrix

RETRY = 2
"""After codes could not be made, they are tried again when there are so many times as many rows."""

_log = logging.getLogger("cheatsheet")


class AutoIndex(QuantisedIndex):
    """Exact below `threshold` rows, quantised from there on. Promises: see `VectorIndex`.

    The codes are made in a thread of their own while searches and changes go on. The thread stops at its next step,
    which is a matter of a second, when the index is closed and when the process ends. Without it, or where it fails,
    answers are as they were. FAISS is imported where there are codes, and not before.
    """

    kind: ClassVar[str] = "auto"
    # A search takes 0.19 ms with codes and 0.31 to 0.33 without at 10,000 rows, 0.06 either way at 1,000, 0.45 and
    # 4.7 to 5.2 at 100,000 (p50 of 400 questions, `python -m benchmarks.perf.index`, 2026-12-01).
    threshold: ClassVar[int] = 10_000

    def __init__(self, dim: int, *, fingerprint: str = "") -> None:
        super().__init__(dim, fingerprint=fingerprint)
        self._background = _Background()
        self._not_before = 0
        # Also at the end of the process: a thread that comes out of FAISS must still find an interpreter.
        weakref.finalize(self, self._background.stop)

    def add(self, ids: Sequence[int], rows: Matrix) -> None:
        super().add(ids, rows)
        self._begin_in_background()

    def close(self) -> None:
        self._background.stop()

    def settle(self) -> None:
        self._background.join()

    def _restore(self, parts: Mapping[str, Part]) -> None:
        with suppress(ImportError):  # of FAISS, which was there when the file was written; the next line tells of it
            super()._restore(parts)
        self._begin_in_background()

    def _due(self) -> bool:
        return super()._due() and len(self._rows) >= self._not_before and not self._background.stopped()

    def _begin_in_background(self) -> None:
        quantising = self._begin()
        if quantising is None:
            return
        try:
            self._background.start(partial(self._try, quantising))
        except RuntimeError as error:  # no more threads, or the process is ending
            self._abandon()
            self._tell(error)

    def _try(self, quantising: Quantising | None) -> None:
        try:
            while quantising is not None:
                self._quantise(quantising, stopped=self._background.stopped)
                quantising = self._begin()  # so many rows may have come meanwhile that they are due anew
        except Exception as error:
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        count = len(self._rows)
        self._not_before = RETRY * count
        _log.warning(
            "The search of %d rows could not be made faster (%s: %s).%s Its answers stay right, and take longer the "
            "more rows there are; it is tried again at %d.",
            count,
            type(error).__name__,
            error,
            " Run: pip install faiss-cpu." if isinstance(error, ImportError) else "",
            self._not_before,
        )


class _Background:
    """One thread at a time, which can be told to stop."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="cheatsheet-codes", daemon=True)
        thread.start()
        self._thread = thread

    def stopped(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        self._stopping.set()
        self.join()

    def join(self) -> None:
        # The thread itself comes here where it was the last to hold the index.
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
