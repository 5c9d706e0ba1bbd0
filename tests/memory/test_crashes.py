"""A thousand short lives of a memory with crashes in them, and a few real deaths.

A crash in the middle of a commit is made by copying the files at some step of SQLite's machine, as they would lie there
if the process died at that moment, and by going on with the copy. Everything is drawn from seeded generators, so that a
failure names the life in which it happens.
"""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.memory.experience import Experience, is_experience_id
from cheatsheet.memory.history.journal import Change, JournalEntry
from cheatsheet.memory.history.past import roll_back
from cheatsheet.memory.history.sheet import replay
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore

NOW = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)
LIVES = 1_000
COUNTERS = ("helpful", "harmful", "uses")
MOST_STEPS = 500  # of SQLite's machine in one commit of these tests; beyond its end a crash comes after the commit


def opened(path: str | Path) -> SqliteStore:
    store = SqliteStore(path)
    # What the death of a process leaves does not depend on the disk, and waiting for that takes most of the time.
    store._connections._writer.execute("PRAGMA synchronous = off")
    return store


class DyingError(Exception):
    """Raised inside a transaction, where a process would die."""


class Life:
    """One memory file with what is known about it from outside.

    Attributes:
        known: entries whose commits have returned.
        pending: how many entries the newest commit has, or would have had.
    """

    def __init__(self, seed: int, folder: Path, empty: Path) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.known: list[JournalEntry] = []
        self.pending = 0
        self.crashes = 0
        self.path = shutil.copy(empty, folder / "0.db")
        self.store = opened(self.path)

    def live(self) -> None:
        for _ in range(self.random.randint(3, 6)):
            what = self.random.random()
            if what < 0.45:
                self.commit()
            elif what < 0.65:
                self.die_in_the_middle()
            elif what < 0.75:
                self.fail_at_the_end()
            elif what < 0.85:
                self.die_after()
            else:
                self.go_back()
        check(self.store, self.known)
        self.store.close()

    def commit(self, then: Callable[[], list[Operation]] | None = None) -> None:
        beside = [self.change() for _ in range(self.random.choice([0, 0, 0, 1]))]
        self.pending = 1 + len(beside)
        committed = self.store.commit("default", self.change(), then=then or self.follow, beside=beside)
        self.known += [*committed.beside, committed.entry]

    def go_back(self) -> None:
        target = self.random.choice([0, *(entry.version for entry in self.known)])
        committed = roll_back(self.store, "default", target, at=self.now())
        assert committed.skipped == ()
        self.known.append(committed.entry)

    def fail_at_the_end(self) -> None:
        def fail() -> list[Operation]:
            raise DyingError

        with pytest.raises(DyingError):
            self.commit(then=fail)

    def die_after(self) -> None:
        self.commit()
        self.go_on_with(self.copy())

    def die_in_the_middle(self) -> None:
        """Die at some step of a commit; where the commit has fewer steps, right after it."""
        left, copy = self.random.randint(1, MOST_STEPS), Path()

        def step() -> bool:
            nonlocal left, copy
            left -= 1
            if left == 0:
                copy = self.copy()
            return left == 0

        writer = self.store._connections._writer
        writer.set_progress_handler(step, 1)
        try:
            self.commit()
            copy = self.copy()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            self.crashes += 1
        writer.set_progress_handler(None, 1)
        self.go_on_with(copy, in_the_middle=True)

    def copy(self) -> Path:
        path = self.folder / f"{len(list(self.folder.glob('*.db')))}.db"
        for suffix in ("", "-wal"):
            if Path(f"{self.path}{suffix}").exists():
                shutil.copy(f"{self.path}{suffix}", f"{path}{suffix}")
        return path

    def go_on_with(self, path: Path, *, in_the_middle: bool = False) -> None:
        self.store.close()
        self.path = path
        self.store = opened(path)
        found = list(self.store.journal("default"))
        assert found[: len(self.known)] == self.known, "what was committed is there"
        # A process may die when its commit is done and before it hears of it; then the whole commit is there.
        assert len(found) - len(self.known) in ((0, self.pending) if in_the_middle else (0,)), "and nothing else"
        self.known = found

    def now(self) -> datetime:
        return NOW + timedelta(seconds=len(self.known))

    def change(self) -> Change:
        turns = tuple(
            Experience(query=f"q{self.random.random()}", answer="a", created_at=self.now())
            for _ in range(self.random.choice([0, 0, 1, 2]))
        )
        operations = tuple(self.operation() for _ in range(self.random.randint(0, 4)))
        return Change(at=self.now(), cause="turn", operations=operations, experiences=turns)

    def follow(self) -> list[Operation]:
        """What refine and evict may do inside the transaction."""
        if self.random.random() < 0.7:
            return []
        bullets = self.store.bullets("default", order="worst", limit=1)
        turns = self.store.experiences("default", order="least-recent", limit=1)
        ids = [*(bullet.id for bullet in bullets), *(turn.id for turn in turns)]
        return [Remove(id=id, reason="over the limit") for id in ids]

    def operation(self) -> Operation:
        makers: list[Callable[[], Operation]] = [
            self.add,
            self.add,
            self.update,
            self.tag,
            self.tag,
            self.merge,
            self.merge,
            self.tag_turn,
            lambda: Remove(id=self.id()),
            lambda: Restore(id=self.id()),
            lambda: Restore(id=self.turn_id()),
        ]
        return self.random.choice(makers)()

    def add(self) -> Operation:
        return Add(draft=self.draft())

    def update(self) -> Operation:
        return Update(
            id=self.id(), content=self.random.choice([None, f"new words {self.random.random()}"]), pinned=True
        )

    def tag(self) -> Operation:
        return Tag(id=self.id(), **{name: self.random.randint(0, 2) for name in COUNTERS})

    def tag_turn(self) -> Operation:
        return Tag(id=self.turn_id(), uses=1)

    def merge(self) -> Operation:
        absorbed = tuple({self.id() for _ in range(self.random.randint(0, 2))})
        return Merge(into=self.id(), absorbed=absorbed, draft=self.random.choice([None, self.draft()]))

    def draft(self) -> Draft:
        counters = {name: self.random.randint(0, 3) for name in COUNTERS}
        return Draft(
            content=f"advice {self.random.random()}", status=self.random.choice(["active", "archived"]), **counters
        )

    def id(self) -> str:
        return f"misc-{self.random.randint(1, 8):05d}"

    def turn_id(self) -> str:
        return f"exp-{self.random.randint(1, 6):05d}"


def check(store: SqliteStore, known: list[JournalEntry]) -> None:
    """The journal is what was committed, it replays to the tables, counters sum up, and no id was given twice."""
    journal = list(store.journal("default"))
    assert journal == known
    sheet = replay(journal)
    assert list(sheet) == store.bullets("default", status=None)
    assert sheet.standings == store.standings("default")
    assert store.count_bullets("default") == len(store.bullets("default"))
    assert store.count_experiences("default") == len(store.experiences("default"))

    made = [operation.id for entry in journal for operation in entry.operations if isinstance(operation, Add)]
    lived = [id for entry in journal for id in entry.experience_ids]
    assert len({id.rpartition("-")[2] for id in made}) == len(made) == len(sheet)
    assert len(set(lived)) == len(lived) == len(sheet.standings)

    told = counted(operation for entry in journal for operation in entry.operations)
    alive = {bullet.id: bullet for bullet in sheet if bullet.status != "merged"}
    uses = {id: standing.uses for id, standing in sheet.standings.items() if standing.uses}
    assert {id: told.pop(id)[2] for id in list(told) if is_experience_id(id) and told[id][2]} == uses
    assert {id: counts for id, counts in told.items() if not is_experience_id(id)} == {
        id: [bullet.helpful, bullet.harmful, bullet.uses] for id, bullet in alive.items()
    }


def counted(operations: Iterator[Operation]) -> dict[str, list[int]]:
    """The counters that these operations come to, by plain addition: `[helpful, harmful, uses]` of each living id."""
    counts: dict[str, list[int]] = {}

    def give(id: str, more: list[int]) -> None:
        counts[id] = [old + new for old, new in zip(counts.get(id, [0, 0, 0]), more, strict=True)]

    for operation in operations:
        if isinstance(operation, Add):
            give(operation.id, of(operation.draft))
        elif isinstance(operation, Tag):
            give(operation.id, of(operation))
        elif isinstance(operation, Merge):
            for id in operation.absorbed:
                give(operation.into, counts.pop(id))
            give(operation.into, of(operation.draft) if operation.draft else [0, 0, 0])
        elif isinstance(operation, Restore) and operation.state is not None:
            counts.pop(operation.id, None)
            if operation.state["status"] != "merged":
                counts[operation.id] = [operation.state.get(name, 0) for name in COUNTERS]
    return counts


def of(value: Any) -> list[int]:
    return [getattr(value, name) for name in COUNTERS]


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new memory, to be copied: making one anew takes longer than living in it."""
    path = tmp_path_factory.mktemp("empty") / "memory.db"
    SqliteStore(path).close()
    return path


@pytest.mark.parametrize("first", range(0, LIVES, 100))
def test_after_any_crash_the_journal_gives_the_memory(tmp_path: Path, empty: Path, first: int) -> None:
    crashes = 0
    for seed in range(first, first + 100):
        folder = tmp_path / str(seed)
        folder.mkdir()
        life = Life(seed, folder, empty)
        try:
            life.live()
        except Exception as error:
            error.add_note(f"in the life with the seed {seed}")
            raise
        crashes += life.crashes
        shutil.rmtree(folder)
    assert crashes > 40, "many of these lives die in the middle of a commit"


def test_a_torn_log_gives_the_memory_of_some_commit(tmp_path: Path, empty: Path) -> None:
    """What a loss of power leaves of the newest commits: a part of them, each of them whole or not at all."""
    life = Life(0, tmp_path, empty)
    for _ in range(12):
        life.commit()
    log = Path(f"{life.path}-wal").read_bytes()
    kept = set()
    for part in range(0, 101, 4):
        path = tmp_path / f"torn-{part}.db"
        shutil.copy(life.path, path)
        Path(f"{path}-wal").write_bytes(log[: len(log) * part // 100])
        store = opened(path)
        survivors = len(store.journal("default"))
        check(store, life.known[:survivors])
        kept.add(survivors)
        store.close()
    assert {0, len(life.known)} < kept
    life.store.close()


CHILD = """
import sys
from pathlib import Path
from tests.memory.test_crashes import Life
life = Life(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
while True:
    life.commit()
    print(life.known[-1].version, flush=True)
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_process_that_is_killed_leaves_what_it_committed(tmp_path: Path, empty: Path, seed: int) -> None:
    command = [sys.executable, "-c", CHILD, str(seed), str(tmp_path), str(empty)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        said = [int(child.stdout.readline()) for _ in range(20 + 7 * seed)][-1]
        child.kill()
        said = max([said, *map(int, child.stdout.read().split())])
    assert child.returncode == -signal.SIGKILL
    store = SqliteStore(tmp_path / "0.db")
    assert store.version("default") >= said
    check(store, list(store.journal("default")))
    store.close()
