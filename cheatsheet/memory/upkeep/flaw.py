"""What is wrong with a memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from cheatsheet.memory.experience import experience_id

Severity = Literal["warning", "error"]
"""`warning`: nothing is lost, and nothing wrong is answered; `error`: the memory is not what its journal tells."""

RESTORE: Final = "Something else than Cheatsheet has changed it, or the disk has: restore a backup."

_NAMED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One thing that is wrong.

    Attributes:
        namespace: in which it was found; empty where it concerns the whole store.
        text: one sentence that says what.
        remedy: what to do about it.
    """

    severity: Severity = "error"
    namespace: str = ""
    text: str
    remedy: str = RESTORE


def named(names: Iterable[object]) -> str:
    """A few of them, and how many there are in all: `a, b (2)`."""
    every = [str(name) for name in names]
    more = ", …" if len(every) > _NAMED else ""
    return f"{', '.join(islice(every, _NAMED))}{more} ({len(every):,})"


def told_altered(experiences: Iterable[tuple[str, int]]) -> Sequence[str]:
    """A sentence on experiences that are not as they were stored, each by its namespace and number."""
    ids = [f"{experience_id(number)} in {namespace!r}" for namespace, number in experiences]
    return [f"Experiences were changed by something else: {named(ids)}."] if ids else []
