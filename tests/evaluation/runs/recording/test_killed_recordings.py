"""Wherever a recorded run is killed, it goes on, pays for nothing twice, and is repeated byte for byte (case N07)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import ModelUnavailableError
from cheatsheet.evaluation.jsonl import Appender, encode
from cheatsheet.interfaces.calls import CallPlan
from cheatsheet.llm.call_file import CallFile
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.evaluation.fakes import Killed
from tests.evaluation.runs.recording.worlds import Provider, live, no_model, rows_of, task_of

# They are equal, so that the answer of one could be taken for that of the other.
QUESTIONS = task_of("My card was charged twice", "My card was charged twice")
SETTINGS: dict[str, Any] = {"reflector": "model", "curator": "rules", "reflection_depth": 1}


class Fate:
    """Ends the process at a moment: before its n-th write of any kind, or amid it. The dead write no more."""

    def __init__(self, at: int, part: str) -> None:
        self.left = at
        self._part = part
        self.dead = False

    def write(self, whole: Any, half: Any) -> Any:
        """Do `whole`, unless the end comes first, or `half` if it comes in the middle."""
        self.left -= 1
        if self.dead or self.left < 0:
            raise Killed
        if self.left > 0:
            return whole()
        self.dead = True
        if self._part == "half":
            half()
        raise Killed


@contextmanager
def fated(fate: Fate) -> Iterator[None]:
    append, commit, keep = CallFile.append, SqliteStore.commit, Appender.append

    def torn_append(file: CallFile, values: Any) -> None:
        lines = list(values)
        fate.write(lambda: append(file, lines), lambda: _tear(file, lines, append))

    def torn_keep(rows: Appender, value: Any) -> None:
        fate.write(lambda: keep(rows, value), lambda: _tear_row(rows, value))

    def killed_commit(store: SqliteStore, *args: Any, **more: Any) -> Any:
        return fate.write(lambda: commit(store, *args, **more), lambda: None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CallFile, "append", torn_append)
        patch.setattr(SqliteStore, "commit", killed_commit)
        patch.setattr(Appender, "append", torn_keep)
        yield


def _tear(file: CallFile, lines: list[Any], append: Any) -> None:
    before = file.path.stat().st_size
    append(file, lines)
    os.truncate(file.path, (before + file.path.stat().st_size) // 2)


def _tear_row(rows: Appender, value: Any) -> None:
    line = encode(value)
    rows._file.write(line[: len(line) // 2])
    rows._file.flush()


def killed_and_resumed(folder: Path, arm: str, provider: Provider, fate: Fate) -> None:
    """A recorded run that ends at the moment given, and is resumed."""
    with pytest.MonkeyPatch.context() as patch:
        provider.install(patch)
        with fated(fate), suppress(Killed):
            live(folder, QUESTIONS, CallPlan(record=True), arm, **SETTINGS)
        live(folder, QUESTIONS, CallPlan(record=True), arm, resume=True, **SETTINGS)


def on_record(folder: Path, arm: str) -> tuple[int, int]:
    """How many replies and how many errors of calls a recording holds."""
    lines = CallFile(folder / "arms" / arm / "calls.jsonl").read().values
    calls = [line.value for line in lines if line.value["kind"] == "call"]
    return sum("reply" in call for call in calls), sum("error" in call for call in calls)


# The arm without a model counts tokens after its last call as well: it makes none.
@pytest.mark.parametrize(("arm", "part"), [("retrieval", "before"), ("retrieval", "half"), ("nearest", "before")])
def test_n07_killed_at_any_moment(tmp_path: Path, arm: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)  # no power fails here
    moment, fate = 0, Fate(0, part)
    while moment == 0 or fate.dead:
        moment += 1
        fate, provider = Fate(moment, part), Provider(failing={4: ModelUnavailableError("down")})
        recorded, replayed = tmp_path / f"recorded-{moment}", tmp_path / f"replayed-{moment}"
        killed_and_resumed(recorded, arm, provider, fate)
        with pytest.MonkeyPatch.context() as patch:
            no_model(patch)
            rows = live(replayed, QUESTIONS, CallPlan(replay=recorded), arm, **SETTINGS).arms[0].rows
        assert sorted(rows_of(replayed, arm).splitlines()) == sorted(rows_of(recorded, arm).splitlines())
        answers = [row.reply for row in rows if not row.error]
        assert len(set(answers)) == len(answers) or not provider.calls
        replies, errors = on_record(recorded, arm)
        assert replies == sum(row.model_calls for row in rows)
        # Only a call that was answered, but not yet on record when the process ended, can be lost.
        assert provider.calls - replies - errors <= 1
    assert moment > 8
