"""Bytes that are not what was written: told in a sentence, or harmless; never a raw error, never written over."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.faults.nursery import Nursery
from benchmarks.faults.states import state_in
from cheatsheet.errors import OperationError, StoreCorruptError, StoreError
from tests.faults import deeds
from tests.faults.worlds import REMEDY, copy_of
from tests.interfaces.shell import Shell

FLIPS = 80
PAGE = 4096


def flipped(data: bytes, place: int, bit: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def changed(path: Path, table: str, column: str, change: Callable[[bytes], bytes]) -> None:
    """Change the bytes of one value where it lies in the file, behind the back of SQLite."""
    with sqlite3.connect(path) as db:
        (value,) = db.execute(f"SELECT {column} FROM {table} ORDER BY rowid LIMIT 1").fetchone()
        (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    db.close()
    data, old = path.read_bytes(), value.encode()
    place = data.index(old, (root - 1) * PAGE) if old in data[(root - 1) * PAGE :] else data.index(old)
    path.write_bytes(data[:place] + change(old) + data[place + len(old) :])


def use(path: Path) -> None:
    """All that reads and writes a memory."""
    with deeds.opened(path) as engine:
        deeds.recall(engine)
        deeds.look(engine)
        engine.past(3)
        for bullet in engine.memory.bullets(status=None):
            engine.blame(bullet.id)
        engine.learn_batch([deeds.turn(99)])


def flaws(path: Path) -> tuple[str, ...]:
    try:
        return state_in(path).flaws
    except StoreError as error:
        return (str(error),)


def test_a_bit_that_flips_anywhere_raises_nothing_raw(lived_once: Path, tmp_path: Path) -> None:
    """Header, schema, rows, indexes, free pages: where the damage is met, it is told with the file and what to do."""
    data, drawn, told = lived_once.read_bytes(), random.Random(6), 0
    places = [*range(0, 100, 7), *(drawn.randrange(100, len(data)) for _ in range(FLIPS))]
    for number, place in enumerate(places):
        path = tmp_path / f"{number}.db"
        harmed = flipped(data, place, drawn.randrange(8))
        path.write_bytes(harmed)
        said = told_of(path)
        if said:
            told += 1
            assert str(path) in said or "of the journal" in said, f"byte {place}: {said}"
            assert REMEDY.search(said), f"byte {place}: {said}"
        flaws(path)
    assert told > 5


def told_of(path: Path) -> str:
    """What the memory says while it is used; empty where it does not notice anything."""
    try:
        use(path)
    except StoreError as error:
        return str(error)
    except OperationError:  # an id that is another one now names nothing
        return ""
    return ""


# What is damaged, and the command that meets it.
VALUES: dict[str, tuple[str, tuple[str, ...]]] = {
    "bullets": ("sources", ("show", "--status", "all")),
    "experiences": ("data", ("recall", "How much is item 3?", "--embedder", "hashing", "--top-k", "50")),
    "journal": ("operations", ("history",)),
}


@pytest.mark.parametrize("table", VALUES)
@pytest.mark.parametrize(
    "change",
    [lambda old: b"?" + old[1:], lambda old: old[:2] + b"\xff" + old[3:]],
    ids=["no JSON any more", "no UTF-8 any more"],
)
def test_a_value_that_cannot_be_read_is_told(
    lived: Path, table: str, change: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    column, command = VALUES[table]
    changed(lived, table, column, change)
    with pytest.raises(StoreCorruptError, match="restore a backup") as raised:
        use(lived)
    assert str(lived) in str(raised.value)
    assert flaws(lived), "verify finds it as well"
    code, _, said = Shell(capsys)(*command, "--path", str(lived))
    assert code == 1
    assert str(lived) in said
    assert "restore a backup" in said


@pytest.mark.parametrize(("table", "column"), [("bullets", "content"), ("journal", "operations")])
def test_words_that_changed_are_found_by_verify_alone(
    lived: Path, table: str, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite keeps no checksums: a text that is still a text is served as it is, until it is held to the journal."""
    changed(lived, table, column, lambda old: old.replace(b"counted", b"countex"))
    use(lived)
    assert flaws(lived)
    code, said, _ = Shell(capsys)("verify", "--path", str(lived))
    assert code == 1
    assert "restore a backup" in said


CUTS = {"a whole page": -PAGE, "half a page": -PAGE // 2 * 3, "all but one page": PAGE, "all but the header": 100}


@pytest.mark.parametrize("length", CUTS.values(), ids=CUTS)
def test_a_file_whose_end_is_cut_off_is_told_and_left(lived: Path, length: int) -> None:
    data = lived.read_bytes()[:length]
    lived.write_bytes(data)
    with pytest.raises(StoreCorruptError, match="restore a backup") as raised:
        use(lived)
    assert str(lived) in str(raised.value)
    assert lived.read_bytes() == data


def test_a_log_that_is_damaged_gives_the_memory_of_an_earlier_turn(
    nursery: Nursery, lived_once: Path, tmp_path: Path
) -> None:
    """Frames of the log have checksums: from the first wrong byte on, it is as if the rest had not been written."""
    source = copy_of(lived_once, tmp_path / "source")
    nursery.live("tests.faults.deeds:die_learnt", path=str(source), number=50)
    log, states = Path(f"{source}-wal").read_bytes(), set()
    before = state_in(lived_once)
    for part in range(5, 100, 12):
        path = copy_of(source, tmp_path / str(part))
        Path(f"{path}-wal").write_bytes(flipped(log, len(log) * part // 100, 3))
        states.add(state_in(path))
    assert states == {before}
