"""Which id stands at which position, judged by a list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes import numbering
from indexes.numbering import MAX_ID, Numbering, last_of_each

ids = st.one_of(st.integers(0, 30), st.sampled_from([2**40, MAX_ID - 1, MAX_ID]))
changes = st.lists(st.tuples(st.booleans(), st.lists(ids, max_size=8, unique=True)), max_size=12)


@pytest.mark.parametrize("recent", [1, 5, 4096])
@given(changes=changes)
@settings(max_examples=60)
def test_it_numbers_like_a_list(recent: int, changes: list[tuple[bool, list[int]]]) -> None:
    """Whatever is still kept apart, and whatever is sorted in already."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "RECENT", recent)
        numbers, expected = Numbering(), list[int]()
        for adds, some in changes:
            if adds:
                new = [id for id in some if id not in expected]
                numbers.append(np.array(new, dtype=np.int64))
                expected += new
            else:
                drop(numbers, expected, some)
            check(numbers, expected)


def drop(numbers: Numbering, expected: list[int], some: list[int]) -> None:
    places = numbers.positions(some)
    movers, holes = numbers.moves(places)
    numbers.drop(places)
    moved = {expected[hole]: expected[mover] for mover, hole in zip(movers.tolist(), holes.tolist(), strict=True)}
    kept = len(expected) - len(places)
    expected[:] = [moved.get(id, id) for id in expected[:kept]]


def check(numbers: Numbering, expected: list[int]) -> None:
    assert numbers.ids.tolist() == expected
    absent = [id for id in (0, 31, 2**50) if id not in expected]
    every = np.array([*expected, *absent], dtype=np.int64)
    assert numbers.find(every).tolist() == [*range(len(expected)), *[-1] * len(absent)]
    assert numbers.positions({*expected, *absent}).tolist() == list(range(len(expected)))
    assert all(id in numbers for id in expected)
    assert not any(id in numbers for id in (*absent, -1, 2**80))


@given(st.lists(st.integers(0, 5), max_size=12))
def test_the_last_of_each_id_is_kept_in_order(given_ids: list[int]) -> None:
    last = {id: place for place, id in enumerate(given_ids)}
    assert last_of_each(np.array(given_ids, dtype=np.int64)).tolist() == sorted(last.values())


def test_many_ids_take_little_room() -> None:
    """A dict of Python numbers takes more than a hundred bytes an id."""
    numbers = Numbering()
    numbers.append(np.arange(200_000))
    assert numbers._recent == {}
    assert numbers._sorted.nbytes + numbers._places.nbytes == 16 * 200_000
