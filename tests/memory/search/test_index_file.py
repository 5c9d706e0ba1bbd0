"""Indexes kept beside the memory: used when they are right, built anew and told when they are not."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cheatsheet.errors import IndexFileError
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Remove, Update
from cheatsheet.memory.search import in_step, index_file
from cheatsheet.memory.search.index_file import IndexFile, IndexFolder
from cheatsheet.memory.search.local import LocalNeighbours
from cheatsheet.memory.upkeep.vacuum import vacuum
from indexes.embedder import TextKind
from indexes.exact import ExactIndex
from indexes.faiss_flat import FaissFlatIndex
from indexes.hashing import HashingEmbedder
from indexes.vectors import Matrix
from tests.memory.search.worlds import DIM, NOW, OtherModel, World, add, numbers, pairs

pytestmark = pytest.mark.usefixtures("kept_when_small")

TEXTS = ("check the units", "round at the end", "look twice", "how heavy", "how long")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def fill(path: Path, **more: object) -> None:
    """A memory with three bullets and two experiences, searched and closed."""
    world = World(path, keep=True, **more)  # type: ignore[arg-type]  # what a world takes
    world.learn(*TEXTS[:3], queries=TEXTS[3:])
    world.check(*TEXTS)
    world.close()


def reopened(path: Path, **more: object) -> World:
    return World(path, keep=True, **more)  # type: ignore[arg-type]  # what a world takes


def folder_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.index")


def files_of(path: Path) -> list[Path]:
    return sorted(folder_of(path).iterdir()) if folder_of(path).exists() else []


def check_told(caplog: pytest.LogCaptureFixture, *words: str) -> None:
    """Once for each of the two indexes, by the logger that users know."""
    told = [record for record in caplog.records if record.name == "cheatsheet"]
    assert len(told) == 2, caplog.text
    assert all(record.levelname == "WARNING" and "built anew" in record.getMessage() for record in told)
    for word in words:
        assert word in caplog.text


# It is used


def test_it_is_used_at_the_next_opening_and_nothing_is_told(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(path)
    world = reopened(path)
    world.embedder.embed = None  # type: ignore[method-assign,assignment]  # nothing may be embedded for the index
    vector = HashingEmbedder(DIM).embed(["look twice"])[0]
    found = pairs(world.neighbours.bullets(vector, 3))
    world.close()
    judge = World(path)
    assert (found, caplog.text) == (judge.right_bullets("look twice"), "")
    judge.close()


def test_it_catches_up_with_what_came_since(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """F14, F15: changes after it was saved are in, what was removed stays out."""
    fill(path)
    world = World(path)
    world.commit(Update(id="misc-00001", content="check the dates"), Remove(id="misc-00002"), Remove(id="exp-00001"))
    world.learn("one more", queries=["how often"])
    world.close()
    world = reopened(path)
    world.check(*TEXTS, "check the dates", "one more", "how often")
    assert world.embedder.misses == 3  # the new texts: every question of the check is one that is known
    assert caplog.text == ""
    world.close()


def test_it_is_private_and_named_by_a_hash(path: Path) -> None:
    fill(path, namespace="../up")
    assert stat.S_IMODE(folder_of(path).stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in files_of(path)} == {0o600}
    assert [file.suffix for file in files_of(path)] == [".bullets", ".experiences"]
    assert all(len(file.stem) == 32 and int(file.stem, 16) for file in files_of(path))
    assert sorted(each.name for each in path.parent.iterdir()) == ["memory.db", "memory.db.index"]


def test_what_few_rows_or_few_changes_bring_is_not_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "LEAST_ROWS", 4)
    monkeypatch.setattr(index_file, "SHARE", 0.5)
    fill(path)
    assert files_of(path) == []
    world = reopened(path)
    world.learn("a fourth")
    world.check("a fourth")
    world.close()
    (file,) = files_of(path)
    saved = file.read_bytes()
    world = reopened(path)
    world.learn("a fifth")
    world.check("a fifth")
    world.close()
    assert file.read_bytes() == saved


def test_a_memory_that_only_reads_writes_nothing(path: Path) -> None:
    fill(path)
    shutil.rmtree(folder_of(path))
    world = World(path)
    neighbours = LocalNeighbours(
        world.store,
        world.embedder,
        namespace="default",
        make_index=ExactIndex,
        folder=IndexFolder(folder_of(path), writable=False),
    )
    assert pairs(neighbours.bullets(world.vector("look twice"), 9)) == world.right_bullets("look twice")
    neighbours.close()
    world.close()
    assert files_of(path) == []


# It is not used


def damage(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def made_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize(
    "spoil",
    [
        damage,
        lambda file: file.write_bytes(file.read_bytes()[:-3]),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(b"SQLite format 3\0"),
        lambda file: (file.unlink(), file.mkdir()),
        made_a_pipe,
    ],
    ids=["a bit flipped", "cut", "empty", "another file", "a folder", "a pipe"],
)
def test_a_damaged_file_is_told_and_built_anew(
    path: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[Path], object]
) -> None:
    fill(path)
    for file in files_of(path):
        spoil(file)
    world = reopened(path)
    world.check(*TEXTS)
    world.close()
    assert "built anew" in caplog.text


def test_what_is_of_no_use_is_told_once(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the memory is too small by now for the file to be written anew."""
    fill(path)
    for file in files_of(path):
        damage(file)
    monkeypatch.setattr(index_file, "LEAST_ROWS", 1_000)
    for _ in range(2):
        world = reopened(path)
        world.check(*TEXTS)
        world.close()
    check_told(caplog, "checksum")


@pytest.mark.parametrize("other", [HashingEmbedder(DIM + 8), OtherModel(DIM)], ids=["another length", "same length"])
def test_another_embedding_model_is_told_and_built_anew(
    path: Path, caplog: pytest.LogCaptureFixture, other: HashingEmbedder
) -> None:
    """F12, F13: the name of the model counts as well as the length of its vectors."""
    fill(path)
    world = reopened(path, embedder=other)
    world.check(*TEXTS)
    world.close()
    check_told(caplog, "Vectors of different models")


def test_another_kind_of_index_is_told_and_built_anew(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(path)
    world = reopened(path, make_index=FaissFlatIndex)
    world.check(*TEXTS)
    world.close()
    check_told(caplog, "kind")


def test_the_files_of_the_two_parts_are_not_taken_for_each_other(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(path)
    one, two = files_of(path)
    one.rename(aside := one.with_suffix(".aside"))
    two.rename(one)
    aside.rename(two)
    world = reopened(path)
    world.check(*TEXTS)
    world.close()
    check_told(caplog, "not made from this memory")


def test_the_file_of_another_namespace_is_not_taken(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(path, namespace="one")
    fill(path, namespace="two")
    by_part: dict[str, list[Path]] = {}
    for file in files_of(path):
        by_part.setdefault(file.suffix, []).append(file)
    for one, two in by_part.values():
        shutil.copyfile(one, two)
        shutil.copyfile(two, one)
    for namespace in ("one", "two"):
        world = reopened(path, namespace=namespace)
        world.check(*TEXTS)
        world.close()
    check_told(caplog, "not made from this memory")


def test_a_memory_restored_from_an_older_copy_is_told(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The index is ahead of the memory."""
    fill(path)
    shutil.copyfile(path, copy := path.with_name("copy.db"))
    world = reopened(path)
    world.learn("lost with the copy", queries=["lost as well"])
    world.commit(Update(id="misc-00001", content="never happened"))
    world.check("never happened")
    world.close()
    shutil.copyfile(copy, path)
    world = reopened(path)
    world.check(*TEXTS, "never happened", "lost with the copy")
    world.close()
    check_told(caplog, "restored to an earlier state")


def test_a_restored_memory_that_went_on_is_told_though_it_reached_the_same_version(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(path)
    shutil.copyfile(path, copy := path.with_name("copy.db"))
    for contents in ("lost with the copy", "what came instead"):
        world = reopened(path)
        world.learn(contents, queries=[contents])
        world.check(contents)
        version = world.store.version("default")
        world.close()
        if contents == "lost with the copy":
            shutil.copyfile(copy, path)
    assert version == 2
    check_told(caplog, "restored to an earlier state")


def test_a_memory_that_forgot_the_version_of_the_index_is_told(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other memory that lacks the version can be taken for this one."""
    world = reopened(path)
    world.learn("forgotten soon")
    world.commit(Remove(id="misc-00001"))
    world.commit(add("stays"), experiences=({"query": "how heavy", "answer": "5 kg", "created_at": NOW},))
    world.check(*TEXTS)
    with monkeypatch.context() as patched:
        patched.setattr(index_file, "SHARE", 9.0)
        world.learn("since")
        world.commit(Remove(id="misc-00002"))
        world.learn("and since")
        world.close()
    (before, _) = saved_in(path)
    assert before == 3
    world = World(path)
    vacuum(world.store, "default", world.store.version("default"))
    world.close()
    world = reopened(path)
    world.check(*TEXTS)
    world.close()
    check_told(caplog, "vacuum has forgotten")


def test_a_new_memory_in_the_place_of_one_that_was_deleted_is_told(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(path)
    path.unlink()
    world = reopened(path)
    world.learn("another memory", queries=["another question"])
    world.check(*TEXTS, "another memory")
    world.close()
    check_told(caplog, "it is of another one")


def test_what_was_learnt_while_no_index_was_kept_is_found_when_it_is_again(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The old files stay, and their watermark tells what they lack."""
    fill(path)
    world = World(path)
    world.learn("learnt meanwhile", queries=["asked meanwhile"])
    world.commit(Remove(id="misc-00002"), Update(id="misc-00001", content="check the dates"))
    world.check("learnt meanwhile")
    world.close()
    world = reopened(path)
    world.check(*TEXTS, "learnt meanwhile", "asked meanwhile", "check the dates")
    world.close()
    assert caplog.text == ""


def test_an_index_older_than_the_memory_is_no_fault(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As after a crash, or where another process was the last to write the file."""
    fill(path)
    shutil.copytree(folder_of(path), old := path.with_name("old"))
    world = reopened(path)
    world.commit(Update(id="misc-00001", content="check the dates"), Remove(id="misc-00002"))
    world.check(*TEXTS)
    world.close()
    shutil.rmtree(folder_of(path))
    old.rename(folder_of(path))
    world = reopened(path)
    world.check(*TEXTS, "check the dates")
    world.close()
    assert caplog.text == ""


# Writing it


def test_a_full_disk_is_told_and_harms_nothing(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path)
    before = {file: file.read_bytes() for file in files_of(path)}

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    world = reopened(path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        world.learn("one more", queries=["one more"])
        world.check(*TEXTS, "one more")
        world.close()
    assert caplog.text.count("could not be kept") == 2
    assert "No space left on device" in caplog.text
    assert {file: file.read_bytes() for file in files_of(path)} == before
    world = reopened(path)
    world.check(*TEXTS, "one more")
    world.close()


def test_a_folder_that_cannot_be_made_is_told_and_harms_nothing(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """S10: whatever the reason is, a read-only disk or a file that stands there."""
    path.with_name("memory.db.index").write_text("a file of somebody's")
    fill(path)
    assert caplog.text.count("could not be kept") == 2
    assert path.with_name("memory.db.index").read_text() == "a file of somebody's"


def test_what_an_ended_process_left_half_written_is_removed(path: Path) -> None:
    fill(path)
    file = files_of(path)[0]
    for name, age_s in (("old", 7_200), ("new", 60)):
        draft = file.with_name(f".{file.name}.{name}.tmp")
        draft.write_bytes(b"half")
        os.utime(draft, (time.time() - age_s,) * 2)
    world = reopened(path)
    world.learn("one more")
    world.check("one more")
    world.close()
    assert [each.name for each in files_of(path) if each.suffix == ".tmp"] == [f".{file.name}.new.tmp"]


class SlowlySaved(ExactIndex):
    """Is written while the test does something else."""

    begun = threading.Event()
    gate = threading.Event()

    def saver(self, *, watermark: str = "") -> Callable[[Path], None]:
        save = super().saver(watermark=watermark)

        def slowly(path: Path) -> None:
            self.begun.set()
            assert self.gate.wait(60)
            save(path)

        return slowly


def test_what_an_index_prepares_in_the_background_is_written_with_it(path: Path) -> None:
    """Or it would be prepared anew at every opening."""
    seen: list[bool] = []

    class Preparing(ExactIndex):
        settled = False

        def settle(self) -> None:
            self.settled = True

        def saver(self, *, watermark: str = "") -> Callable[[Path], None]:
            seen.append(self.settled)
            return super().saver(watermark=watermark)

    fill(path, make_index=Preparing)
    assert seen == [True, True]


@pytest.fixture
def saving(path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A memory whose index is being written, which it does not get done."""
    monkeypatch.setattr(SlowlySaved, "begun", threading.Event())
    monkeypatch.setattr(SlowlySaved, "gate", threading.Event())
    world = reopened(path, make_index=SlowlySaved)
    world.learn(*TEXTS[:3])
    world.bullets("anything")
    assert SlowlySaved.begun.wait(60)
    return world


def saved_in(path: Path) -> tuple[int, list[int]]:
    """The version of the saved index of the bullets, and the numbers in it."""
    world = World(path)
    file = IndexFile(IndexFolder(folder_of(path)), world.store, namespace="default", part="bullets")
    reached = file.read(ExactIndex, fingerprint=None)
    world.close()
    return reached.version, [number for number in range(20) if number in reached.index]


def test_while_it_is_written_it_catches_up_and_nothing_waits(saving: World) -> None:
    saving.commit(Update(id="misc-00001", content="check the dates"), Remove(id="misc-00002"), add("learnt meanwhile"))
    for text in (*TEXTS, "check the dates", "learnt meanwhile"):
        assert saving.bullets(text) == saving.right_bullets(text)
    reached = saving.neighbours._bullets._reached
    assert reached is not None
    assert reached.version == 2
    SlowlySaved.gate.set()
    saving.close()


def test_what_is_written_is_the_index_of_one_version(saving: World, path: Path) -> None:
    """Or a memory restored to that version would find what it does not have yet."""
    saving.learn("learnt meanwhile")
    saving.commit(Remove(id="misc-00001"))
    saving.bullets("learnt meanwhile")
    SlowlySaved.gate.set()
    file = saving.neighbours._bullets._file
    assert file is not None
    file.wait()
    assert saved_in(path) == (1, [1, 2, 3])
    saving.close()
    assert saved_in(path) == (3, [2, 3, 4])


def test_an_index_that_got_a_part_only_is_not_written(path: Path) -> None:
    """An embedding model that fails halfway leaves rows of a version that the index has not reached."""

    class Failing(HashingEmbedder):
        def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
            if "learnt 9" in texts:
                raise ConnectionError("the model is away")
            return super().embed(texts, kind)

    fill(path)
    world = reopened(path, embedder=Failing(DIM))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(in_step, "LEAST_PAGE", 4)
        world.learn(*(f"learnt {number}" for number in range(10)))
        with pytest.raises(ConnectionError):
            world.bullets("look twice")
    world.close()
    assert saved_in(path) == (1, [1, 2, 3])
    world = reopened(path)
    world.check(*TEXTS, "learnt 9")
    world.close()


def test_where_no_thread_can_be_had_it_is_told_and_harms_nothing(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    world = reopened(path)
    world.learn(*TEXTS[:3])
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refused)
        assert world.bullets("look twice") == world.right_bullets("look twice")
    world.close()
    assert "could not be kept for the next opening" in caplog.text
    assert files_of(path) == []


def test_closing_twice_is_closing_once(path: Path) -> None:
    world = reopened(path)
    world.neighbours.close()
    world.learn("check the units")
    world.check("check the units")
    world.neighbours.close()
    saved = [file.stat().st_mtime_ns for file in files_of(path)]
    world.neighbours.close()
    assert [file.stat().st_mtime_ns for file in files_of(path)] == saved
    assert len(saved) == 1


# Several at once


def test_several_write_it_at_once_and_it_is_whole(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(path)
    worlds = [reopened(path) for _ in range(4)]
    worlds[0].learn("one more", queries=["one more"])

    def work(world: World) -> None:
        world.check(*TEXTS, "one more")
        world.neighbours.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, worlds))
    world = reopened(path)
    world.check(*TEXTS, "one more")
    assert caplog.text == ""
    assert not [file for file in files_of(path) if file.suffix == ".tmp"]
    for each in (*worlds, world):
        each.close()


_OTHER_PROCESS = """
import sys
from pathlib import Path
from cheatsheet.memory.search import index_file
from tests.memory.search.worlds import World
from cheatsheet.memory.operations import Remove
index_file.LEAST_ROWS = 1
world = World(Path(sys.argv[1]), keep=True)
world.check("check the units", "how heavy")
world.learn("learnt elsewhere", queries=["asked elsewhere"])
world.commit(Remove(id="misc-00001"))
world.check("learnt elsewhere", "asked elsewhere")
world.close()
"""


def test_two_processes_share_memory_and_index(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """F15: a saved index brings nothing back that was removed, whoever saved last."""
    fill(path)
    world = reopened(path)
    world.check(*TEXTS)
    subprocess.run([sys.executable, "-c", _OTHER_PROCESS, str(path)], check=True, timeout=120)
    world.check(*TEXTS, "learnt elsewhere", "asked elsewhere")
    assert 1 not in numbers(world.bullets("check the units"))
    world.learn("learnt here")
    world.check("learnt here")
    world.close()
    last = reopened(path)
    last.check(*TEXTS, "learnt elsewhere", "learnt here")
    last.close()
    assert caplog.text == ""


HOSTILE = (
    "..",
    "../up",
    "a/b",
    "",
    "x" * 300,
    "'; DROP TABLE bullets; --",
    "名前",
    "a\nb",
    "default ",
    "Default",
    "%s{}",
)


def test_no_namespace_meets_another_or_leaves_the_folder(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for number, namespace in enumerate(HOSTILE):
        world = reopened(path, namespace=namespace)
        world.learn(f"lesson of {number}", queries=[f"question of {number}"])
        world.check("lesson", "question")
        world.close()
    assert len(files_of(path)) == 2 * len(HOSTILE)
    assert sorted(each.name for each in path.parent.iterdir()) == ["memory.db", "memory.db.index"]
    for number, namespace in enumerate(HOSTILE):
        world = reopened(path, namespace=namespace)
        (bullet,) = world.store.bullets(namespace)
        assert bullet.content == f"lesson of {number}"
        world.check("lesson", "question")
        world.close()
    assert caplog.text == ""


def test_reading_it_says_why_it_cannot_be_used(path: Path) -> None:
    """For the doctor, which has to tell it without using it."""
    fill(path)
    world = World(path)
    world.store.commit("default", Change(at=NOW, cause="user", operations=(add("one more"),)))
    file = IndexFile(IndexFolder(folder_of(path)), world.store, namespace="default", part="bullets")
    assert file.read(ExactIndex, fingerprint=f"{world.embedder.model_id} [{DIM}]").version == 1
    damage(file.path)
    with pytest.raises(IndexFileError, match="checksum"):
        file.read(ExactIndex, fingerprint=f"{world.embedder.model_id} [{DIM}]")
    assert file.path.exists()
    world.close()
