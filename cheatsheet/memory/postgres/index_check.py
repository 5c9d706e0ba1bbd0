"""How widely an index of vectors has to be searched, by comparing it with a scan."""

from __future__ import annotations

from threading import Event
from typing import Final

import numpy as np

from cheatsheet.errors import StoreError
from cheatsheet.memory.postgres.vector_table import VectorTable
from cheatsheet.memory.search.neighbours import Part
from indexes.vectors import Matrix, Vector, normalise

EF_SEARCH: Final = (200, 400, 700, 1_000)
"""Numbers of candidates that are tried; 1,000 are the most that pgvector keeps."""

ENOUGH: Final = 0.99
"""The share of the true nearest ten that is to be found."""

_K: Final = 10
_QUERIES: Final = 100


def needed_ef_search(table: VectorTable, space: int, part: Part, closed: Event) -> int:
    """How many candidates a search has to keep to find enough of what is near.

    Args:
        closed: is set where nobody wants to know any more.

    Returns:
        0 where the most are not enough: then the rows are scanned.

    Raises:
        StoreError: `closed` was set.
    """
    queries = _questions(table.sample(space, part, _QUERIES))

    def near(query: Vector, ef_search: int) -> set[int]:
        if closed.is_set():
            raise StoreError("The memory was closed.")
        return set(table.nearest(space, part, query, _K, ef_search=ef_search).numbers.tolist())

    truth = [near(query, 0) for query in queries]
    wanted = sum(map(len, truth))
    for ef_search in EF_SEARCH:
        found = (len(true & near(query, ef_search)) for true, query in zip(truth, queries, strict=True))
        if sum(found) >= ENOUGH * wanted:
            return ef_search
    return 0


def _questions(rows: Matrix) -> Matrix:
    """Unit rows at a cosine of about 0.7 to those given, as a question is to what answers it.

    A row itself would be found too well: when it came into the graph, it was linked with what is nearest to it.
    """
    noise = normalise(np.random.default_rng(0).standard_normal(rows.shape))
    return normalise(rows + noise)
