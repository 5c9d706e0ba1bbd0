"""The contention benchmark runs, and finds what is wrong; its figures are not judged here."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.perf import contention
from benchmarks.perf.contention import Learnt
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.operations import Add, Draft

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def test_many_processes_learn_into_one_memory(capsys: pytest.CaptureFixture[str]) -> None:
    """K7: every turn is there once, no id is given twice, and what several learn at once is one bullet."""
    contention.main(["--processes", "4", "--learns", "15", "--limit", "120", "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["processes"], found["turns"], found["busy"]) == (4, 60, 0)
    assert (found["bullets"], found["merged"]) == (54, 6)
    assert found["learn_ms"]["n"] == 60
    assert found["recall_ms"]["n"] > 0


def test_a_process_that_fails_is_told(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_text("no memory", encoding="utf-8")
    with pytest.raises(RuntimeError, match="is not a memory of Cheatsheet"):
        contention.measure(str(path), processes=1, learns=1, limit_s=60)


def entry(version: int, turn_id: str, *ids: str, experience: str = "exp-00001") -> JournalEntry:
    adds = tuple(Add(draft=Draft(content="x"), id=id) for id in ids)
    return JournalEntry(
        version=version, at=NOW, cause="turn", turn_id=turn_id, operations=adds, experience_ids=(experience,)
    )


def test_what_is_lost_or_twice_there_is_found() -> None:
    learnt = [Learnt(turn_ids=["0-0", "0-1"]), Learnt(turn_ids=["1-0"])]
    right = [
        entry(1, "0-0", "sai-00001"),
        entry(2, "1-0", "sai-00002", experience="exp-00002"),
        entry(3, "0-1", experience="exp-00003"),
    ]
    assert list(contention._unlike_told(learnt, right)) == []
    assert list(contention._unlike_told(learnt, right[:2])) == ["1 acknowledged turns are lost."]
    more = entry(4, "2-0", "calc-00002", experience="exp-00003")
    assert list(contention._unlike_told(learnt, [*right, more])) == [
        "1 turns are there that nobody was told of.",
        "2 ids were given twice, among them 2.",
    ]


def test_some_lessons_are_the_same_for_all_but_for_a_word() -> None:
    assert contention.lesson(0, 0) == contention.lesson(2, 0)
    assert contention.lesson(1, 0)[1] == contention.lesson(0, 0)[1].replace("Send", "Please send")
    assert contention.lesson(0, 1) != contention.lesson(1, 1)
    assert len({insight for _, insight in contention._lessons(2, 20)}) == 2 + 2 * 18
