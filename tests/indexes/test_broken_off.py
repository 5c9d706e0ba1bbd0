"""I8: a change that is broken off anywhere (Ctrl-C, no memory) can be made again, and is whole then."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import indexes
from indexes import numbering
from indexes.exact import ExactIndex
from indexes.vectors import Matrix, normalise
from tests.indexes.implementations import EarlyPQIndex, Index, NaiveIndex, assert_same_hits
from tests.indexes.test_faiss_codes import made_anew

DIM = 8
COUNT = 60
CHANGING = {"flat.py", "numbering.py", "rows.py", "quantised.py", "quantising.py", "faiss_codes.py"}
FOLDER = Path(indexes.__file__).parent

Change = Callable[[Any], object]


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return normalise(np.random.default_rng(1).standard_normal((2 * COUNT, DIM)))


def adding(matrix: Matrix) -> Change:
    """New rows, and others in place of some that are there."""
    ids = [*range(10, 20), *range(COUNT, COUNT + 30)]
    return lambda index: index.add(ids, matrix[-len(ids) :])


def removing(matrix: Matrix) -> Change:
    """From the middle and from the end."""
    return lambda index: index.remove([*range(5, 25), *range(COUNT - 3, COUNT)])


@contextmanager
def interrupted(after: int) -> Iterator[None]:
    """Raise after so many lines of what changes an index; what mends it is not interrupted as well."""
    left = after

    def at_line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if event == "line":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return at_line

    def at_call(frame: FrameType, *_: Any) -> Any:
        path = Path(frame.f_code.co_filename)
        return at_line if left > 0 and path.name in CHANGING and path.parent == FOLDER else None

    before = sys.gettrace()
    sys.settrace(at_call)
    try:
        yield
    finally:
        sys.settrace(before)


def assert_whole(index: Index) -> None:
    """As many rows as ids, and codes that are those of the rows."""
    assert len(index._rows) == len(index)
    if isinstance(index, EarlyPQIndex):
        assert index._codes is not None
        anew = made_anew(index._codes, index._rows[np.arange(len(index))])
        np.testing.assert_array_equal(index._codes.parts()["codes"], anew.parts()["codes"])


@pytest.mark.parametrize("make", [ExactIndex, EarlyPQIndex], ids=lambda make: make.kind)
@pytest.mark.parametrize("kind", [adding, removing])
def test_a_change_that_was_broken_off_is_made_again(
    make: type[Index], kind: Callable[[Matrix], Change], matrix: Matrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbering, "RECENT", 8)  # so that changes are sorted in as well
    change, judge = kind(matrix), NaiveIndex()
    judge.add(range(COUNT), matrix[:COUNT])
    change(judge)
    for after in range(1, 1_000):
        index = make(DIM)
        index.add(range(COUNT), matrix[:COUNT])
        try:
            with interrupted(after):
                change(index)
        except KeyboardInterrupt:
            assert len(index._rows) == len(index)
            assert len(index.search(matrix[0], 5).ids) == 5
            change(index)
        else:
            assert after > 20
            return
        assert_whole(index)
        assert sorted(judge.rows) == [id for id in range(2 * COUNT) if id in index]
        assert_same_hits(index.search(matrix[0], COUNT), judge.search(matrix[0], COUNT))
    pytest.fail("It never came to its end.")
