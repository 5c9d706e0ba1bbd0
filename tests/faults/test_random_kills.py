"""The benchmark of kills: a small cut of it, and proof that it sees what is lost."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from benchmarks.faults.__main__ import main
from benchmarks.faults.dying import AfterSeconds
from benchmarks.faults.ledger import Ledger, flaws_of_indexes, unsound_backups
from benchmarks.faults.locks import held_by_others
from benchmarks.faults.nursery import Nursery
from cheatsheet.memory.search import index_file
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from indexes.auto import AutoIndex
from tests.faults import deeds

KILLS = 14


def test_nothing_that_was_acknowledged_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--kills", str(KILLS), "--seed", "7", "--a-memory", "7", "--json"])
    toll = json.loads(capsys.readouterr().out)
    assert (toll["lost"], toll["unsound"]) == ([], [])
    assert (toll["kills"], toll["memories"]) == (KILLS, 2)
    assert sum(toll["in_flight"].values()) >= KILLS // 2
    assert toll["turns"] > KILLS
    assert toll["inside"]["transaction"] > 0
    assert toll["actions"] > toll["kills"] // 2


def heard(path: Path) -> Ledger:
    """What one who watched the memory from outside would know of it."""
    ledger = Ledger(namespace="default")
    store = SqliteStore(path)
    experiences = {f"turn-{place}": [one.id, one.query] for place, one in enumerate(store.experiences("default"))}
    bullets = [bullet.id for bullet in store.bullets("default", status=None)]
    told = {"did": "learn", "turns": experiences, "bullets": bullets, "version": store.version("default")}
    ledger.hear([{"doing": "learn"}, told])
    store.close()
    return ledger


def missing(ledger: Ledger, path: Path) -> list[str]:
    store = SqliteStore(path)
    found = list(ledger.missing(store))
    store.close()
    return found


def change(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()


def test_what_is_all_there_is_not_missed(lived: Path) -> None:
    assert missing(heard(lived), lived) == []


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM journal WHERE turn_id = 'turn-11'", "version 12 was acknowledged, and the memory has 11"),
        ("DELETE FROM experiences WHERE number = 3", "the turn turn-2 was acknowledged as exp-00003, and is not there"),
        ("DELETE FROM bullets WHERE number = 5", "-00005 was acknowledged, and is not there"),
        ("UPDATE journal SET turn_id = 'x' WHERE version = 2", "the turn turn-1 was acknowledged, and is not in the"),
    ],
)
def test_whatever_is_gone_is_missed(lived: Path, statement: str, told: str) -> None:
    ledger = heard(lived)
    change(lived, statement)
    assert any(told in sentence for sentence in missing(ledger, lived))


def test_of_what_was_in_flight_all_or_nothing_is_there(lived: Path) -> None:
    ledger = heard(lived)
    with deeds.opened(lived) as engine:
        engine.learn_batch([deeds.turn(20), deeds.turn(21)])
    assert "entries that nobody announced" in missing(ledger, lived)[0]
    ledger.flying = {"doing": "learn", "turns": ["turn-20", "turn-21", "turn-22"]}
    assert "only the turns ['turn-20', 'turn-21'] are there" in missing(ledger, lived)[0]
    ledger.flying = {"doing": "learn", "turns": ["turn-20", "turn-21"]}
    assert missing(ledger, lived) == []


def test_an_index_that_is_damaged_or_not_that_of_the_memory_is_told(
    lived: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "LEAST_ROWS", 1)
    with deeds.opened(lived) as engine:
        deeds.recall(engine)
    store = SqliteStore(lived)
    assert flaws_of_indexes(store, "default", str(lived)) == []
    damaged, strange = sorted(Path(f"{lived}.index").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-9])
    index = AutoIndex.load(strange)
    index.remove([1])
    index.save(strange, watermark=index.watermark)
    first, second = flaws_of_indexes(store, "default", str(lived))
    store.close()
    assert "is damaged" in first
    assert "does not hold what is active" in second


def test_a_backup_that_is_gone_or_damaged_is_told(lived: Path) -> None:
    ledger = heard(lived)
    ledger.backups = [str(lived.with_name("gone.backup"))]
    lived.with_name("torn.backup").write_bytes(lived.read_bytes()[:9_000])
    gone, torn = unsound_backups(ledger, lived.parent)
    assert gone == "the backup gone.backup was acknowledged, and is not there"
    assert "torn.backup" in torn


def test_it_is_seen_whether_a_child_dies_inside_a_transaction(nursery: Nursery, lived: Path) -> None:
    death = AfterSeconds(seconds=0, path=str(lived))
    life = nursery.live("tests.faults.deeds:wait_inside_a_transaction", death=death, path=str(lived))
    assert life.facts["inside"] == ["transaction"]
    assert held_by_others(str(lived)) == ()
