"""What all indexes that keep every row whole have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from indexes.errors import VectorError
from indexes.files import Part, SavedIndex, read_index, write_index
from indexes.index import Hits
from indexes.locks import ReadWriteLock
from indexes.numbering import Numbering, as_ids, last_of_each
from indexes.ranking import NO_HITS, best
from indexes.reach import may_reach
from indexes.rows import BlockRows
from indexes.vectors import Matrix, Vector, as_matrix, check_dimension, normalise


class FlatIndex(ABC):
    """A `VectorIndex` over rows at the positions 0 … n-1.

    It numbers, keeps, locks, checks, ranks and saves; an implementation proposes the candidates of a search. A
    removal fills the gap with the last row, so that it costs the same in an index of any size. The methods with an
    underscore are called with the lock held.

    Args:
        dim: length of a row, at least 1.
        fingerprint: what makes the rows, for example model and dimension. It is saved with the
            index, and `load` refuses a file with another one.
    """

    kind: ClassVar[str]
    """The name of the implementation in its files."""

    def __init__(self, dim: int, *, fingerprint: str = "") -> None:
        if dim < 1:
            raise VectorError(f"The dimension of an index must be at least 1, not {dim}.")
        self._dim = dim
        self._fingerprint = fingerprint
        self._watermark = ""
        self._numbering = Numbering()
        self._rows = BlockRows(dim)
        self._lock = ReadWriteLock()

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def watermark(self) -> str:
        return self._watermark

    def __len__(self) -> int:
        return len(self._numbering)

    def __contains__(self, id: int) -> bool:
        with self._lock.reading():
            return id in self._numbering

    def add(self, ids: Sequence[int], rows: Matrix) -> None:
        numbers, unit = as_ids(ids), self._checked(rows, "rows")
        if len(numbers) != len(unit):
            raise VectorError(f"{len(numbers)} ids were given for {len(unit)} rows; give one id a row.")
        last = last_of_each(numbers)
        if len(last) < len(numbers):
            numbers, unit = numbers[last], unit[last]
        with self._changing():
            places = self._numbering.find(numbers)
            new = places < 0
            self._append(unit if new.all() else unit[new])
            self._replace(places[~new], unit[~new])
            self._numbering.append(numbers[new])

    def remove(self, ids: Collection[int]) -> int:
        with self._changing():
            places = self._numbering.positions(ids)
            movers, holes = self._numbering.moves(places)
            self._put(holes, self._rows[movers])
            self._numbering.drop(places)
            self._truncate(len(self._numbering))
        return len(places)

    def search(self, query: Vector, k: int, *, among: Collection[int] | None = None) -> Hits:
        if np.ndim(query) != 1:
            raise VectorError(f"A query is one vector [dim], not an array of shape {np.shape(query)}.")
        unit = self._checked(query, "query")[0]
        with self._lock.reading():
            within = None if among is None else self._numbering.positions(among)
            limit = min(k, len(self._numbering) if within is None else len(within))
            if limit <= 0:
                return NO_HITS
            # A zero query ties with every row; there is nothing to multiply.
            candidates = self._candidates(unit, limit, within) if unit.any() else self._lowest(limit, within)
            return best(self._rows, self._numbering.ids, candidates, unit, limit)

    def may_reach(self, queries: Matrix, least: float, *, rows_wanted: int = 1) -> npt.NDArray[np.bool_]:
        units = self._checked(queries, "queries")
        with self._lock.reading():
            rows = self._rows.snapshot()
        # Without the lock, as in `save`: it takes seconds.
        return may_reach(rows.blocks, units, least, rows_wanted=rows_wanted)

    def save(self, path: Path, *, watermark: str = "") -> None:
        self.saver(watermark=watermark)(path)

    def saver(self, *, watermark: str = "") -> Callable[[Path], None]:
        with self._lock.reading():
            ids, rows, parts = self._numbering.ids.copy(), self._rows.snapshot(), self._parts()

        def save(path: Path) -> None:
            # Without the lock: a writer that waits for a reader lets no other reader in, and writing takes seconds.
            write_index(path, SavedIndex(self.kind, self._dim, self._fingerprint, watermark, ids, rows.blocks, parts))

        return save

    @classmethod
    def load(cls, path: Path, *, fingerprint: str | None = None) -> Self:
        saved = read_index(path, kind=cls.kind, fingerprint=fingerprint)
        index = cls(saved.dim, fingerprint=saved.fingerprint)
        index._watermark = saved.watermark
        # As they are: normalising a second time could change their last bits, and with them the order of ties.
        index._rows = BlockRows.of(saved.dim, saved.rows)
        index._numbering.append(saved.ids)
        index._restore(saved.parts)
        return index

    def settle(self) -> None:
        return  # nothing goes on in the background

    def close(self) -> None:
        return  # nothing goes on in the background

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold the lock alone. A change that is broken off (no memory, an interrupt) leaves as many rows as ids.

        The rows change first and the ids last, so that the same change can be made again, and is whole then.
        """
        with self._lock.writing():
            try:
                yield
            except BaseException:
                self._numbering.mend()
                self._truncate(len(self._numbering))
                raise

    def _lowest(self, limit: int, within: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
        """The positions of the `limit` lowest ids."""
        places = np.arange(len(self._numbering)) if within is None else within
        return places[np.argpartition(self._numbering.ids[places], limit - 1)[:limit]]

    def _checked(self, rows: npt.ArrayLike, what: str) -> Matrix:
        matrix = as_matrix(rows)
        check_dimension(matrix, self._dim, what)
        return normalise(matrix)

    def _replace(self, places: npt.NDArray[np.int64], rows: Matrix) -> None:
        """Put unit rows `[m, dim]` at `places`; those that stand there already cost nothing more."""
        if len(places):
            differs = (self._rows[places] != rows).any(axis=1)
            self._put(places[differs], rows[differs])

    def _put(self, places: npt.NDArray[np.int64], rows: Matrix) -> None:
        """Put unit rows `[m, dim]` in place of those at `places`."""
        self._rows[places] = rows

    def _append(self, rows: Matrix) -> None:
        """Put unit rows `[m, dim]` behind those that are there."""
        self._rows.append(rows)

    def _truncate(self, count: int) -> None:
        """Keep the first `count` rows."""
        self._rows.truncate(count)

    def _parts(self) -> Mapping[str, Part]:
        """What is to be saved besides the rows; what is returned does not change any more."""
        return {}

    def _restore(self, parts: Mapping[str, Part]) -> None:
        """Take back what `_parts` has given; the rows are there."""
        return

    @abstractmethod
    def _candidates(self, query: Vector, limit: int, within: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
        """Positions that hold at least the true top of `limit`, in any order.

        Args:
            query: `[dim]`, a unit vector.
            limit: from 1 to the number of rows that may be found.
            within: the only positions that may be found, ascending; None for all.
        """
