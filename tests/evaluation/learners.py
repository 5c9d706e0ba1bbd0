"""A memory that can be adapted, in a SQLite file, whose process can end between any two of its steps."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cheatsheet.errors import ModelError
from cheatsheet.evaluation.adaptation.adapt import adapt
from cheatsheet.evaluation.adaptation.course import Adaptation
from cheatsheet.evaluation.runs.protocol import TurnView
from cheatsheet.evaluation.task import Sample, Task
from cheatsheet.memory.experience import Feedback, Query
from tests.evaluation.fakes import NOON, FakeRecall, FakeStats, FakeTurn, Killed

TABLE = (
    "CREATE TABLE IF NOT EXISTS journal (version INTEGER PRIMARY KEY, cause, turn_id TEXT, record TEXT, lessons INT)"
)


@dataclass(frozen=True, kw_only=True)
class Entry:
    version: int
    cause: str
    turn_id: str


@dataclass(kw_only=True)
class School:
    """What the memories of one test have in common.

    Attributes:
        answers: the answer to a question, given how many lessons the memory holds.
        failures: the error that the model gives to a question's text.
        kill_at: the moment, counted from 1, at which the process ends; 0 is never.
        moments: what happened so far, one name a moment.
        asked: every call of the model.
    """

    answers: Callable[[str, int], str] = lambda text, lessons: text.upper()
    failures: dict[str, ModelError] = field(default_factory=dict)
    kill_at: int = 0
    kill_with: BaseException = field(default_factory=Killed)
    moments: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def moment(self, name: str) -> None:
        self.moments.append(name)
        if len(self.moments) == self.kill_at:
            raise self.kill_with

    def ask(self, text: str, lessons: int) -> str:
        self.asked.append(text)
        if text in self.failures:
            raise self.failures[text]
        return self.answers(text, lessons)


class FakeLearner:
    """Keeps promises R1 to R7. Each turn is one lesson more."""

    def __init__(self, path: Path, school: School) -> None:
        self.school = school
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute(TABLE)

    def solve(
        self,
        query: Query,
        *,
        judge: Callable[[str], Feedback],
        turn_id: str,
        record: Callable[[TurnView], dict[str, Any]],
    ) -> FakeTurn:
        return self.solve_batch([query], judges=[judge], turn_ids=[turn_id], records=[record])[0]

    def solve_batch(
        self,
        queries: Sequence[Query],
        *,
        judges: Sequence[Callable[[str], Feedback]],
        turn_ids: Sequence[str],
        records: Sequence[Callable[[TurnView], dict[str, Any]]],
    ) -> list[FakeTurn]:
        turns = [self._turn(query, judge) for query, judge in zip(queries, judges, strict=True)]
        self.school.moment("answered")
        self._db.execute("BEGIN")
        for turn, turn_id, record in zip(turns, turn_ids, records, strict=True):
            self._enter("turn", turn_id, json.dumps(record(turn)), self._lessons() + 1)
        self._db.execute("COMMIT")
        self.school.moment("committed")
        return turns

    def answer(self, query: Query, *, judge: Callable[[str], Feedback]) -> FakeTurn:
        turn = self._turn(query, judge)
        self.school.moment("judged")
        return turn

    def rollback(self, to: int) -> None:
        self.school.moment("before rollback")
        (lessons,) = self._db.execute(
            "SELECT coalesce(max(lessons), 0) FROM journal WHERE version = ?", (to,)
        ).fetchone()
        self._enter("rollback", "", None, lessons)
        self.school.moment("after rollback")

    def write_as_another(self, cause: str = "user") -> None:
        self._enter(cause, "", None, self._lessons() + 1)

    def history(self, *, after: int = 0) -> list[Entry]:
        rows = self._db.execute("SELECT * FROM journal WHERE version > ? ORDER BY version DESC", (after,))
        return [Entry(version=version, cause=cause, turn_id=turn_id) for version, cause, turn_id, *_ in rows]

    def learnt(self, turn_id: str) -> bool:
        return self._db.execute("SELECT 1 FROM journal WHERE turn_id = ?", (turn_id,)).fetchone() is not None

    def recorded(self, turn_id: str) -> dict[str, Any] | None:
        found = self._db.execute("SELECT record FROM journal WHERE turn_id = ?", (turn_id,)).fetchone()
        return None if found is None or found[0] is None else dict(json.loads(found[0]))

    def stats(self) -> FakeStats:
        (version,) = self._db.execute("SELECT coalesce(max(version), 0) FROM journal").fetchone()
        return FakeStats(bullets=self._lessons(), archived=0, experiences=0, version=version)

    def close(self) -> None:
        self._db.close()

    def _turn(self, query: Query, judge: Callable[[str], Feedback]) -> FakeTurn:
        answer = self.school.ask(query.text, self._lessons())
        return FakeTurn(answer=answer, reply_text=answer, feedback=judge(answer), recall=FakeRecall())

    def _lessons(self) -> int:
        newest = self._db.execute("SELECT lessons FROM journal ORDER BY version DESC LIMIT 1").fetchone()
        return int(newest[0]) if newest else 0

    def _enter(self, cause: str, turn_id: str, record: str | None, lessons: int) -> None:
        values = (cause, turn_id, record, lessons)
        self._db.execute("INSERT INTO journal (cause, turn_id, record, lessons) VALUES (?, ?, ?, ?)", values)


def questions(prefix: str, n: int) -> Task:
    """Questions a1, a2 … whose answers are A1, A2 …"""
    samples = tuple(Sample(id=str(k), input=f"{prefix}{k}", target=f"{prefix}{k}".upper()) for k in range(1, n + 1))
    return Task(name=prefix, samples=samples, sha256=prefix * 8)


def study(
    home: Path, school: School, train: Task, validation: Task | None = None, test: Task | None = None, **options: Any
) -> Adaptation:
    """Adapt the memory `memory.db` beside the run folder."""
    home.mkdir(parents=True, exist_ok=True)
    with closing(FakeLearner(home / "memory.db", school)) as memory:
        fixed: dict[str, Any] = {"folder": home / "run", "clock": lambda: 0.0, "now": lambda: NOON}
        return adapt(memory, train, validation, test, **(fixed | options))


def contents(folder: Path) -> Any:
    """The memory and every file of the run but the lock."""
    with closing(sqlite3.connect(folder / "memory.db")) as db:
        journal = db.execute("SELECT * FROM journal ORDER BY version").fetchall()
    files = sorted(path for path in (folder / "run").rglob("*.json*") if path.suffix != ".torn")
    return journal, {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in files}
