"""Vacuum on a file: its crashes, its size, and how it is asked for."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from cheatsheet.errors import StoreBusyError
from cheatsheet.memory.history.compaction import Compaction, compaction_of
from cheatsheet.memory.history.past import History
from cheatsheet.memory.operations import Remove, Update
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.upkeep.vacuum import KEPT_DAYS, since_days, vacuum
from cheatsheet.memory.upkeep.verify import verify
from tests.memory.deaths import dying_at
from tests.memory.upkeep.worlds import NOW, add, worn, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    worn(tmp_path / "memory.db")
    return tmp_path / "memory.db"


def seen(store: SqliteStore) -> tuple[object, ...]:
    return store.journal("default"), store.snapshot("default"), store.bullets("default", status=None)


def test_whoever_is_killed_in_the_middle_leaves_the_state_before_or_after(path: Path, tmp_path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.backup(tmp_path / "whole.db")
        before = seen(store)
        vacuum(store, "default", store.version("default"))
        after = seen(store)
    assert before != after
    found = []
    for step in (*range(1, 400, 20), *range(400, 2_000, 100), 100_000):
        copy = tmp_path / f"{step}.db"
        with closing(SqliteStore(tmp_path / "whole.db")) as store:
            store.backup(tmp_path / "again.db", force=True)
        with closing(SqliteStore(tmp_path / "again.db")) as store:
            compaction = compaction_of(History.of(store, "default"), store.version("default"))
            with dying_at(step, store._connections._writer, tmp_path / "again.db", copy):
                store.compact("default", compaction, still=lambda: True)
        with closing(SqliteStore(copy if copy.exists() else tmp_path / "again.db")) as store:
            found.append(seen(store))
            assert found[-1] in (before, after)
            assert verify(store) == []
    assert before in found
    assert found[-1] == after


def test_a_file_with_much_that_nobody_needs_becomes_smaller(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        long = "x" * 2_000
        for number in range(5, 25):
            write(store, add(f"{long} {number}"))
            write(store, Update(id=f"misc-{number - 1:05d}", content=f"other {long} {number}"))
            write(store, Remove(id=f"misc-{number - 1:05d}", reason="old"))
        done = vacuum(store, "default", store.version("default"))
        assert done.bytes_after < done.bytes_before
        assert verify(store) == []


def test_days_are_counted_back_from_now(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        history = History.of(store, "default")
    first, last = history.journal[0], history.journal[-1]
    assert since_days(history, None, now=NOW + timedelta(days=KEPT_DAYS - 1)) == 0
    assert since_days(history, None, now=last.at + timedelta(days=KEPT_DAYS)) == last.version
    assert since_days(history, 1, now=first.at + timedelta(days=1)) == first.version


def test_what_comes_to_life_again_and_again_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(self: SqliteStore, namespace: str, compaction: Compaction, **how: object) -> bool:
        return False

    monkeypatch.setattr(SqliteStore, "compact", never)
    with closing(SqliteStore(path)) as store, pytest.raises(StoreBusyError, match="came back to life"):
        vacuum(store, "default", store.version("default"))
