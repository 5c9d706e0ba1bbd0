"""A sandbox that gives the outputs it was told to give."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cheatsheet.sandbox.sandbox import Ending, Execution


class ScriptedSandbox:
    """Runs nothing, for tests and examples; deterministic.

    Args:
        results: outputs of programs that finish, or whole executions, one for each run.

    Attributes:
        ran: all programs so far, in order.
    """

    isolation = "nothing was run"

    def __init__(self, results: Sequence[str | Execution]) -> None:
        self._results = tuple(results)
        self._lock = threading.Lock()
        self.ran: list[str] = []

    def run(self, code: str) -> Execution:
        """The next result.

        Raises:
            AssertionError: all results were given.
        """
        with self._lock:
            self.ran.append(code)
            position = len(self.ran) - 1
        if position >= len(self._results):
            raise AssertionError(f"The sandbox has {len(self._results)} results, and this is program {position + 1}.")
        result = self._results[position]
        if isinstance(result, Execution):
            return result
        return Execution(output=result, ended=Ending.FINISHED, exit_code=0, isolation=self.isolation)
