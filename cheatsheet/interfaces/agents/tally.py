"""Counts of what became of turns, for several threads."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=str)


class Tally(Generic[Name]):
    """Counts by name.

    Args:
        names: all that are counted, so that a count of nothing is told as 0.
    """

    def __init__(self, *names: Name) -> None:
        self._counts: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._lock = threading.Lock()

    def add(self, name: Name) -> int:
        """Count one more; returns how many there are by now."""
        with self._lock:
            self._counts[name] += 1
            return self._counts[name]

    def as_dict(self) -> dict[str, int]:
        """All counts, in the order of the names."""
        with self._lock:
            return dict(self._counts)
