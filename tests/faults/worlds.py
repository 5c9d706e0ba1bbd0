"""What these tests say about every fault: the state before or after, and a sentence."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.faults.states import State

Told = Sequence[str]
"""What a child says of one thing that it tried: its name, `done` or a class of error, and the message."""

REMEDY = re.compile(
    r"[Ff]ree some space|make the file and its folder writable|restore a backup|Choose|Copy both files|Open it with the"
)


def is_sentence(told: Told, path: Path) -> bool:
    """Whether the memory itself tells what is wrong: which file, and what to do."""
    _, error, message = told
    return error.startswith("Store") and str(path) in message and REMEDY.search(message) is not None


def runs(calls: Sequence[Sequence[str]]) -> Iterator[int]:
    """The first and the last step of every row of calls that are alike: within a row, one is as another."""
    step = 0
    for _, alike in groupby(calls):
        length = len(list(alike))
        yield from sorted({step + 1, step + length})
        step += length


def spread(steps: Sequence[int], most: int) -> list[int]:
    """At most so many of them, the first and the last included."""
    if len(steps) <= most:
        return list(steps)
    return [steps[round(place * (len(steps) - 1) / (most - 1))] for place in range(most)]


def copy_of(memory: Path, folder: Path) -> Path:
    """A copy of a memory in a folder of its own, with the log that lies beside it."""
    folder.mkdir()
    for path in memory.parent.glob(f"{memory.name}*"):
        if not path.name.endswith("-shm"):
            shutil.copy(path, folder)
    return folder / memory.name


def before_or_after(found: State, before: State, after: State, *, acknowledged: bool) -> bool:
    """Whether a state is one that may be there."""
    return found == after or (not acknowledged and found == before)
