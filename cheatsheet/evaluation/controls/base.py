"""What a control is: an arm that any claim about memory must beat."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import BatchMode, Learned, LearnedBatch, Recalled
from cheatsheet.roles.role import Attempt, Generator
from cheatsheet.tokens import TokenCounter

_AS_RETRIEVAL: Final[Mapping[str, Any]] = {"synthesis": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a control is made of.

    Attributes:
        retrieval: shows and learns what the arm `retrieval` of the same settings shows and learns.
        counter: by which the engine measures contexts.
        seed: of the run: another one draws other things.
    """

    retrieval: BatchMode
    counter: TokenCounter
    seed: int = 0


class MakeControl(Protocol):
    """Makes the mode of a control."""

    def __call__(self, ground: Ground, /) -> BatchMode: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """An arm that differs from `retrieval` in one thing, so that a difference of their scores has one reason.

    Attributes:
        name: under which `eval --modes` knows it.
        tests: the claim that stands only where memory beats this control.
        make: its mode, which learns as retrieval does.
        settings: that make it what it is; they cannot be set otherwise.
        generator: answers in place of a model; None where the model is asked.
    """

    name: str
    tests: str
    make: MakeControl
    settings: Mapping[str, Any] = field(default_factory=lambda: dict(_AS_RETRIEVAL))
    generator: Callable[[], Generator] | None = None

    @property
    def asks(self) -> bool:
        """Whether its questions go to a model."""
        return self.generator is None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverRetrieval:
    """A mode that learns what retrieval learns, and shows what is made of that which retrieval would show.

    M1 to M6 of `cheatsheet/mode.py` hold. All that looks like chance is drawn by a hash of the question, so that the
    same memory shows the same again (M2), in any process and on any version of Python.
    """

    ground: Ground

    def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
        return self.ground.retrieval.learn(attempt, memory)

    def learn_batch(self, attempts: Sequence[Attempt], memory: MemoryView) -> LearnedBatch:
        return self.ground.retrieval.learn_batch(attempts, memory)

    def _found(self, query: Query, memory: MemoryView) -> Recalled:
        return self.ground.retrieval.recall(query, memory)


def drawn(*parts: object) -> int:
    """A number of 64 bits that looks like chance, the same for the same parts."""
    text = "\0".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
