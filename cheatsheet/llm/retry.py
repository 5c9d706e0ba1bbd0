"""Asking again, within a bounded time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often to ask again, and how long to wait in between.

    Waits grow exponentially from half a second, shortened at random by up to a half so that many clients do not
    return at once ("equal jitter", M. Brooker, Exponential Backoff And Jitter, AWS Architecture Blog 2015).

    Attributes:
        retries: tries after the first one.
        max_wait_s: all waits of one call together; a wait that would pass it ends the tries.
    """

    retries: int = 3
    max_wait_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random  # in [0, 1)

    def __post_init__(self) -> None:
        if self.retries < 0 or self.max_wait_s < 0:
            raise ValueError(f"retries and max_wait_s are 0 or more, not {self.retries} and {self.max_wait_s}.")

    def wait(self, tries: int, waited_s: float, retry_after_s: float | None = None) -> float | None:
        """Wait before the next try; None, at once, when there must be no further one.

        Args:
            tries: how many were made.
            waited_s: what was waited before in this call.
            retry_after_s: the provider's own wish; a shorter wait would only be refused again.

        Returns:
            The seconds waited.
        """
        grown: float = min(FIRST_WAIT_S * 2 ** min(tries - 1, 16), LONGEST_WAIT_S)
        seconds = max(grown * (1 - self.jitter() / 2), retry_after_s or 0.0)
        if tries > self.retries or waited_s + seconds > self.max_wait_s:
            return None
        self.sleep(seconds)
        return seconds
