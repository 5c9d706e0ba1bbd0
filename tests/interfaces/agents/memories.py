"""Memories for agents in tests: a real one, and one that can be held up."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import cheatsheet
from cheatsheet.engine.engine import Engine
from cheatsheet.engine.lived import Answered
from cheatsheet.engine.results import Lesson


def open_memory(path: str = ":memory:", **settings: Any) -> Engine:
    values: dict[str, Any] = {"embedder": "hashing", "index": "exact", "reflector": "rules", "curator": "rules"}
    return cheatsheet.open(path, **(values | settings))


class HeldMemory:
    """Learns nothing, and only while its gate is open; keeps what it was given.

    Args:
        open: whether the gate is open from the beginning.
        fails: answers that cannot be learnt, each with its error.
    """

    def __init__(self, *, open: bool = True, fails: dict[str, BaseException] | None = None) -> None:
        self.gate = threading.Event()
        self.begun = threading.Event()
        self.batches: list[list[str]] = []
        self._fails = fails or {}
        if open:
            self.gate.set()

    @property
    def learnt(self) -> list[str]:
        return [answer for batch in self.batches for answer in batch]

    def learn_batch(self, turns: Sequence[Answered]) -> list[Lesson]:
        self.begun.set()
        assert self.gate.wait(60)
        answers = [turn.answer or "" for turn in turns]
        for answer in answers:
            if answer in self._fails:
                raise self._fails[answer]
        self.batches.append(answers)
        return [Lesson(notes=(answer,)) for answer in answers]
