"""A memory in a SQLite file that can be killed at any moment, and runs made of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from cheatsheet.context.ledger import LedgerEntry
from cheatsheet.errors import ModelError
from cheatsheet.evaluation.runs.protocol import TurnView
from cheatsheet.evaluation.runs.spec import ArmSpec, RunSpec, TaskSpec
from cheatsheet.evaluation.task import Sample, Task
from cheatsheet.llm.model import Outcome, Usage
from cheatsheet.memory.experience import Feedback, Query

Moment = Literal["before-commit", "after-commit"]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Killed(BaseException):
    """Stands for the end of the process."""


@dataclass(frozen=True, kw_only=True)
class FakeRecall:
    text: str = "what is known"
    tokens: int = 7
    ledger: tuple[LedgerEntry, ...] = ()
    bullets: tuple[object, ...] = ()
    experiences: tuple[object, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FakeLesson:
    operations: tuple[object, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FakeTurn:
    answer: str
    reply_text: str
    feedback: Feedback
    recall: FakeRecall
    outcome: Outcome = Outcome.OK
    usage: Usage = field(default_factory=lambda: Usage(prompt_tokens=10, completion_tokens=2, calls=1, cost_usd=0.5))
    lesson: FakeLesson = FakeLesson()
    notes: tuple[str, ...] = ("a note",)
    seconds: float = 0.25


@dataclass(frozen=True, kw_only=True)
class FakeStats:
    bullets: int
    archived: int
    experiences: int
    version: int


@dataclass(kw_only=True)
class World:
    """What the fake memories of one test have in common.

    Attributes:
        kill: (turn id, moment) at which the process ends; taken out when it has happened.
        failures: the error that the model gives to a question's text.
        replies: the answer to a question's text; else the text itself in upper case.
        asked: the turn ids put to the model, in order.
    """

    kill: dict[str, tuple[Moment, BaseException]] = field(default_factory=dict)
    failures: dict[str, ModelError] = field(default_factory=dict)
    replies: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    opened: int = 0
    closed: int = 0

    def open(self, arm: ArmSpec, path: Path) -> FakeMemory:
        self.opened += 1
        return FakeMemory(path, self)


class FakeMemory:
    """Keeps promises R1 to R4. Every turn sees how many turns were learnt before it, so that order shows."""

    def __init__(self, path: Path, world: World) -> None:
        self._world = world
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE TABLE IF NOT EXISTS turns (n INTEGER PRIMARY KEY, id TEXT UNIQUE, record TEXT)")

    def solve(
        self,
        query: Query,
        *,
        judge: Callable[[str], Feedback],
        turn_id: str,
        record: Callable[[TurnView], dict[str, Any]],
    ) -> FakeTurn:
        world = self._world
        world.asked.append(turn_id)
        world.queries.append(query)
        if query.text in world.failures:
            raise world.failures[query.text]
        answer = world.replies.get(query.text, query.text.upper())
        shown = FakeRecall(experiences=tuple(self.turn_ids()))
        turn = FakeTurn(answer=answer, reply_text=f"I say: {answer}", feedback=judge(answer), recall=shown)
        self._die(turn_id, "before-commit")
        self._db.execute("INSERT INTO turns (id, record) VALUES (?, ?)", (turn_id, json.dumps(record(turn))))
        self._die(turn_id, "after-commit")
        return turn

    def turn_ids(self) -> list[str]:
        return [id for (id,) in self._db.execute("SELECT id FROM turns ORDER BY n")]

    def learnt(self, turn_id: str) -> bool:
        return turn_id in self.turn_ids()

    def recorded(self, turn_id: str) -> dict[str, Any] | None:
        found = self._db.execute("SELECT record FROM turns WHERE id = ?", (turn_id,)).fetchone()
        return None if found is None or found[0] is None else dict(json.loads(found[0]))

    def stats(self) -> FakeStats:
        turns = len(self.turn_ids())
        return FakeStats(bullets=0, archived=0, experiences=turns, version=turns)

    def close(self) -> None:
        self._world.closed += 1
        self._db.close()

    def _die(self, turn_id: str, moment: Moment) -> None:
        if turn_id in self._world.kill and self._world.kill[turn_id][0] == moment:
            raise self._world.kill.pop(turn_id)[1]


def task_of(texts: Mapping[str, str]) -> Task:
    """A task from questions and their targets; ids are 1, 2, …"""
    samples = tuple(
        Sample(id=str(place), input=text, target=target) for place, (text, target) in enumerate(texts.items(), start=1)
    )
    return Task(name="letters", samples=samples, sha256="0" * 64)


def letters(n: int) -> Task:
    """Questions a, b, c … of which the fake memory answers all but every third rightly."""
    return task_of({chr(97 + place): "?" if place % 3 == 2 else chr(65 + place) for place in range(n)})


def spec_for(task: Task, *modes: str, **changes: Any) -> RunSpec:
    fields: dict[str, Any] = {
        "task": TaskSpec.of(task),
        "arms": tuple(ArmSpec(mode=mode) for mode in modes or ("retrieval",)),
        "model": "fake/model",
        "embedder": "hashing",
        "version": "0.1.0",
        "created_at": NOON,
    }
    return RunSpec(**(fields | changes))


def memory_content(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT n, id, record FROM turns ORDER BY n").fetchall()
