"""Recalls that were made, kept for when the same is asked of the same memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from cheatsheet.engine.results import Recall
from cheatsheet.llm.model import Usage
from cheatsheet.memory.experience import Query

_Key = tuple[int, str, tuple[str, ...], str, int]


class RecallCache:
    """The recalls of the newest version of a memory, least recently used first to go.

    A mode's recall depends on the query and the memory alone (promise M2), so that the same query at the same version
    gives the same context. One that changes the memory while it recalls is never kept.

    Args:
        size: how many are kept; 0 keeps none.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[_Key, Recall] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, query: Query, *, version: int, token_budget: int, make: Callable[[], Recall]) -> Recall:
        """The kept recall, marked as such, or the one that `make` makes."""
        key = (version, query.text, query.choices, repr(sorted(query.metadata.items(), key=str)), token_budget)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return replace(kept, query=query, cached=True, usage=Usage())
        recall = make()
        if not recall.operations:
            self._keep(key, recall)
        return recall

    def _keep(self, key: _Key, recall: Recall) -> None:
        with self._lock:
            self._kept[key] = recall
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
