"""What every side of `benchmarks.perf.peers` can do."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from cheatsheet.errors import MissingExtraError
from indexes.embedder import Embedder
from indexes.vectors import Matrix

MOST_STEPS: Final = 10
"""That a side takes in a round."""


@dataclass(frozen=True, slots=True)
class Took:
    """What one step took.

    Attributes:
        ms: milliseconds of the wall.
        estimated: whether a part of it was measured, and the whole reckoned from that.
        parts: milliseconds of what it is made of, where that is known.
    """

    ms: float
    estimated: bool = False
    parts: Mapping[str, float] = field(default_factory=dict)


class Rival(Protocol):
    """A side: it is filled once, and then a new bullet comes with every step.

    `what` says what a step is. Every side has the same embedder and, for the bullets that it is filled with, the same
    vectors; what it does with them is its own. `steps` is how many steps a round takes: of a short one several.
    """

    name: str
    what: str
    steps: int

    def fill(self, bullets: Sequence[str], vectors: Matrix) -> None:
        """Take in the bullets; not timed."""
        ...

    def step(self, question: str, bullet: str) -> Took:
        """What the side does when a question has come and a bullet is learnt from it."""
        ...

    def close(self) -> None: ...


Maker = Callable[[Embedder, Path], Rival]
"""Makes a side with an embedder and an empty folder; raises MissingExtraError where its package is not installed."""


def clock_ms() -> float:
    """Milliseconds since a moment of its own."""
    return 1_000 * time.perf_counter()


def imported(module: str, package: str) -> Any:
    """A module of a package that need not be installed; its log is shut, as writing it would be timed, too.

    Raises:
        MissingExtraError: it is not.
    """
    root = module.partition(".")[0]
    if importlib.util.find_spec(root) is None:
        raise MissingExtraError(f"{package} is not installed")
    logging.getLogger(root).setLevel(logging.ERROR)
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{package} is not installed whole: {error}") from error
