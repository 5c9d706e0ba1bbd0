"""The memory of an arm, read from its file."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.context.ledger import LedgerEntry
from cheatsheet.evaluation.metrics.health import MemoryHealth, read_course
from cheatsheet.evaluation.metrics.learnt import Learnt
from cheatsheet.evaluation.metrics.metric import Metric
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.memory.experience import Experience, Feedback
from cheatsheet.memory.history.journal import Cause, Change
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Tag, Update
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from modes.default import LEARNS_NOTHING
from modes.reflective import NO_ANSWER, NO_BULLET
from tests.evaluation.streams import named, rows_of

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def add(content: str) -> Add:
    return Add(draft=Draft(section="others", content=content))


def experience(query: str, expected: str | None) -> Experience:
    return Experience(query=query, answer="?", feedback=Feedback(correct=False, expected=expected), created_at=NOON)


class Writer:
    """Writes the journal of an arm, a minute an entry."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._minutes = 0

    def __call__(
        self, turn: str, *operations: Operation, cause: Cause = "turn", lived: tuple[Experience, ...] = ()
    ) -> None:
        self._minutes += 1
        at = NOON + timedelta(minutes=self._minutes)
        change = Change(at=at, cause=cause, turn_id=turn, operations=operations, experiences=lived)
        assert not self._store.commit("default", change).skipped


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four questions: 0 and 1 learn, 2 fails, a refinement comes in between, 3 learns."""
    path = tmp_path_factory.mktemp("arm") / "memory.db"
    with closing(SqliteStore(path)) as store:
        write = Writer(store)
        write("a:0", add("Check the sign."), add("Round last."), lived=(experience("1 + 1", "2"),))
        write("a:1", Tag(id="misc-00001", helpful=3, harmful=1), Tag(id="misc-00002", uses=1), add("Check the signs."))
        write("", Merge(into="misc-00001", absorbed=("misc-00003",), content="Check every sign."), cause="refine")
        write(
            "a:3",
            Remove(id="misc-00002", reason="not used"),
            Merge(into="misc-00001", draft=Draft(content="Signs!")),
            lived=(experience("2 + 2", None),),
        )
    return path


def shown(*ids: str) -> tuple[LedgerEntry, ...]:
    return (
        LedgerEntry(
            section="all", priority=7, wanted_tokens=1, got_tokens=1, action="whole", reason="it fits", kept=ids
        ),
    )


def rows() -> list[Row]:
    """The stream that goes with the memory."""
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"target": "2", "bullets": 1, "experiences": 1, "ledger": shown("misc-00002", "exp-00001")},
        {},
        {"target": "4", "experiences": 1, "ledger": shown("exp-00001"), "skipped": ("It was there before.",)},
    )
    return [row.model_copy(update=change) for row, change in zip(rows_of("-+!-"), changes, strict=True)]


def test_the_health_of_a_memory(memory: Path) -> None:
    course = read_course(memory, "a", rows())
    assert course.problem == ""
    assert course.health == MemoryHealth(
        bullets=1,
        experiences=2,
        made=3,
        growth=1 / 3,
        archived=1,
        merges=2,
        used_share=1 / 3,
        utility=3 / 4,
        refused=1,
        hit_rate=2 / 3,
        right_shown_rate=1 / 3,
    )


def test_a_mode_that_learns_nothing_refuses_nothing(tmp_path: Path) -> None:
    told = (LEARNS_NOTHING, NO_ANSWER, NO_BULLET, "'misc-00009' is not there.")
    stream = [row.model_copy(update={"skipped": (said,)}) for row, said in zip(rows_of("--+-"), told, strict=True)]
    assert read_course(tmp_path / "none.db", "a", stream).health.refused == 1
    assert Metric.parse("refused").of(stream) == 1


def test_the_course_of_a_memory(memory: Path) -> None:
    steps = read_course(memory, "a", rows()).steps
    assert [(step.question, step.position, step.version) for step in steps] == [("0", 0, 1), ("1", 1, 2), ("3", 3, 4)]
    assert [(step.bullets, step.experiences) for step in steps] == [(2, 1), (3, 1), (1, 2)]
    assert [step.remembered for step in steps] == [("exp-00001",), (), ("exp-00002",)]


def test_what_was_learnt_from_a_question(memory: Path) -> None:
    """That a bullet was shown is no change; the refinement between two questions belongs to the next one."""
    first, second, third = (step.operations for step in read_course(memory, "a", rows()).steps)
    assert first == (
        Learnt(type="add", id="misc-00001", section="others", content="Check the sign."),
        Learnt(type="add", id="misc-00002", section="others", content="Round last."),
    )
    assert second == (
        Learnt(type="tag", id="misc-00001", section="others", content="Check the sign.", helpful=3, harmful=1),
        Learnt(type="add", id="misc-00003", section="others", content="Check the signs."),
    )
    merged, removed, taken_in = third
    assert (merged.type, merged.absorbed, merged.content) == ("merge", ("misc-00003",), "Check every sign.")
    assert merged.before == "Check the sign."
    assert (removed.type, removed.id, removed.reason) == ("remove", "misc-00002", "not used")
    assert (taken_in.taken_in, taken_in.content, taken_in.before) == ("Signs!", "Check every sign.", "")


def test_an_experience_is_told_by_its_question(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        write = Writer(store)
        write("a:0", lived=(experience("1 + 1", "2"),))
        write("a:1", Remove(id="exp-00001"), add("x"))
        write("a:2", Update(id="misc-00001", content="y", section="meta"))
    _, second, third = read_course(tmp_path / "memory.db", "a", rows_of("+++")).steps
    assert second.operations[0] == Learnt(type="remove", id="exp-00001", content="1 + 1")
    assert second.experiences == 0
    assert third.operations == (Learnt(type="update", id="misc-00001", section="meta", content="y", before="x"),)


def test_the_file_and_its_folder_stay_as_they_are(memory: Path) -> None:
    before = {path.name: path.read_bytes() for path in memory.parent.iterdir()}
    read_course(memory, "a", rows())
    assert {path.name: path.read_bytes() for path in memory.parent.iterdir()} == before


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    """A memory that is open, with its newest entry still in the write-ahead log."""
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store:
        Writer(store)("a:0", add("x"))
        yield path


def test_what_is_not_yet_in_the_file_itself_is_read(held: Path) -> None:
    assert read_course(held, "a", rows_of("+")).health.bullets == 1


def test_a_missing_memory_is_told_and_the_rows_still_count(tmp_path: Path) -> None:
    course = read_course(tmp_path / "memory.db", "a", rows())
    assert course.problem == f"The memory {tmp_path / 'memory.db'} is missing: nothing is known of what was learnt."
    assert course.steps == ()
    assert course.health == MemoryHealth(refused=1, hit_rate=2 / 3)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [100, 5000, 30_000])
def test_a_torn_memory_is_told(memory: Path, tmp_path: Path, size: int) -> None:
    torn = tmp_path / "memory.db"
    torn.write_bytes(memory.read_bytes()[:size])
    course = read_course(torn, "a", rows())
    assert str(torn) in course.problem
    assert course.health.bullets is None
    assert torn.stat().st_size == size


def test_a_file_of_another_kind_is_told(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(random.Random(1).randbytes(3000))
    assert read_course(path, "a", rows()).problem.startswith(f"{path} is not a memory of Cheatsheet, or is damaged")
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE t (x)")
    assert "another program" in read_course(tmp_path / "other.db", "a", rows()).problem


def test_a_journal_that_cannot_have_been_is_told(memory: Path, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(memory.read_bytes())
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE journal SET operations = ? WHERE version = 1", (json.dumps([{"type": "no"}]),))
    assert read_course(path, "a", rows()).problem.startswith(f"What the memory {path} holds cannot be read")


def test_the_memory_of_another_arm_is_told(memory: Path) -> None:
    course = read_course(memory, "b", rows())
    assert course.problem.endswith("knows no question of 'b': it was removed, replaced or set back.")
    assert course.health.bullets is None


def test_an_arm_that_was_never_asked_has_no_shares(memory: Path) -> None:
    course = read_course(memory, "a", named(rows_of("!"), "2"))
    assert course.steps == ()
    assert course.health.hit_rate is course.health.right_shown_rate is course.health.growth is None
    assert course.health.made == 3


def test_health_is_plain_values(memory: Path) -> None:
    told = read_course(memory, "a", rows()).health.as_dict()
    assert json.loads(json.dumps(told)) == told
