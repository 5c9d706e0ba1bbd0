"""Asking again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.llm.retry import LONGEST_WAIT_S, RetryPolicy


@given(
    retries=st.integers(0, 2000),
    max_wait_s=st.floats(0, 500),
    jitter=st.floats(0, 1, exclude_max=True),
    wishes=st.lists(st.none() | st.floats(0, 100), min_size=1, max_size=8),
)
def test_waits_never_pass_the_cap(retries: int, max_wait_s: float, jitter: float, wishes: list[float | None]) -> None:
    slept: list[float] = []
    policy = RetryPolicy(retries=retries, max_wait_s=max_wait_s, sleep=slept.append, jitter=lambda: jitter)
    waited, tries = 0.0, 0
    while True:
        wish = wishes[tries % len(wishes)]
        tries += 1
        wait = policy.wait(tries, waited, wish)
        if wait is None:
            break
        assert wait >= (wish or 0.0)
        assert wait <= max(LONGEST_WAIT_S, wish or 0.0)
        waited += wait
    assert tries <= retries + 1
    assert sum(slept) == pytest.approx(waited)
    assert waited <= max_wait_s


def test_waits_grow() -> None:
    slept: list[float] = []
    policy = RetryPolicy(retries=9, max_wait_s=1000, sleep=slept.append, jitter=lambda: 0.0)
    for tries in range(1, 9):
        policy.wait(tries, 0.0)
    assert slept == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0]


@pytest.mark.parametrize("options", [{"retries": -1}, {"max_wait_s": -1.0}])
def test_negative_numbers_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        RetryPolicy(**options)  # type: ignore[arg-type]  # one of the two
