"""Laws of fusing rankings by reciprocal rank."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.search.fusion import K, fused

RANKING = st.lists(st.integers(0, 12), unique=True, max_size=8)
RANKINGS = st.lists(RANKING, max_size=4)


def test_a_worked_example() -> None:
    """1/61 + 1/63 for 7, 1/62 + 1/61 for 5, 1/62 for 9."""
    assert K == 60
    assert fused([[7, 5], [5, 9, 7]]) == [5, 7, 9]


@pytest.mark.parametrize(("rankings", "expected"), [([], []), ([[], []], []), ([[3, 1, 2]], [3, 1, 2])])
def test_nothing_and_one_ranking(rankings: list[list[int]], expected: list[int]) -> None:
    assert fused(rankings) == expected


def test_ties_go_to_the_lowest_number() -> None:
    assert fused([[9, 4], [4, 9]]) == [4, 9]
    assert fused([[8], [2], [5]]) == [2, 5, 8]


@given(RANKINGS)
def test_everything_is_there_once_and_the_order_of_the_rankings_does_not_matter(rankings: list[list[int]]) -> None:
    found = fused(rankings)
    assert sorted(found) == sorted({number for ranking in rankings for number in ranking})
    assert found == fused(rankings[::-1])


@given(RANKINGS, st.integers(0, 12))
def test_what_is_first_everywhere_is_first(rankings: list[list[int]], first: int) -> None:
    led = [[first, *(number for number in ranking if number != first)] for ranking in rankings or [[]]]
    assert fused(led)[0] == first


@given(st.lists(RANKING, min_size=1, max_size=4), st.data())
def test_moving_up_in_a_ranking_never_moves_down_in_the_whole(rankings: list[list[int]], data: st.DataObject) -> None:
    ranking = max(rankings, key=len)
    if len(ranking) < 2:
        return
    place = data.draw(st.integers(1, len(ranking) - 1))
    before = fused(rankings).index(ranking[place])
    raised = [*ranking[: place - 1], ranking[place], ranking[place - 1], *ranking[place + 1 :]]
    after = fused([raised if each is ranking else each for each in rankings])
    assert after.index(ranking[place]) <= before


@given(RANKINGS)
def test_ranks_alone_count(rankings: list[list[int]]) -> None:
    """Renaming the numbers in their order renames the result."""
    renamed = fused([[3 * number + 1 for number in ranking] for ranking in rankings])
    assert renamed == [3 * number + 1 for number in fused(rankings)]
