"""The change from exact to quantised, which nobody waits for."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexes.auto import AutoIndex
from indexes.exact import ExactIndex
from indexes.faiss_codes import Codes
from indexes.quantising import Quantising
from indexes.vectors import Matrix, normalise
from tests.indexes.implementations import EarlyAutoIndex, assert_same_hits
from tests.indexes.test_faiss_codes import made_anew

DIM = 16
WAIT_S = 60


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return normalise(np.random.default_rng(4).standard_normal((2_000, DIM)))


class Gate:
    """Holds the making of codes at one of its steps."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def before(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def held(*arguments: Any) -> Any:
            self.reached.set()
            assert self.open.wait(WAIT_S)
            return step(*arguments)

        return held


def assert_codes_are_those_of_the_rows(index: AutoIndex) -> None:
    assert index._codes is not None
    anew = made_anew(index._codes, index._rows[np.arange(len(index))])
    np.testing.assert_array_equal(index._codes.parts()["codes"], anew.parts()["codes"])


def test_small_memories_do_without_faiss() -> None:
    """It takes a tenth of a second to import, which is more than a small index ever saves."""
    program = (
        "import sys, numpy as np\n"
        "from indexes.auto import AutoIndex\n"
        "index = AutoIndex(8)\n"
        "index.add(range(100), np.ones((100, 8)))\n"
        "index.search(np.ones(8), 3)\n"
        "print('faiss' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=WAIT_S)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("step", ["train", "step"])
def test_answers_and_changes_go_on_while_codes_are_made(
    step: str, matrix: Matrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that came, changed and went meanwhile have their codes in the end."""
    gate = Gate()
    monkeypatch.setattr(Quantising, step, gate.before(getattr(Quantising, step)))
    index, judge = EarlyAutoIndex(DIM), ExactIndex(DIM)
    for each in (index, judge):
        each.add(range(1_000), matrix[:1_000])
    assert gate.reached.wait(WAIT_S)
    for each in (index, judge):
        each.remove(range(100, 400))
        each.add(range(50), matrix[1_000:1_050])
        each.add(range(1_000, 1_500), matrix[1_500:])
        each.remove([0, 1_499])
    assert index._codes is None
    assert_same_hits(index.search(matrix[7], 10), judge.search(matrix[7], 10))
    gate.open.set()
    index.settle()
    assert_codes_are_those_of_the_rows(index)
    assert_same_hits(index.search(matrix[7], 10), judge.search(matrix[7], 10))


def test_changes_between_the_steps_are_caught_up_with(matrix: Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step finds other rows than the one before, and fewer of them."""
    monkeypatch.setattr("indexes.quantising.STEP", 100)
    index = EarlyAutoIndex(DIM)
    step, taken = Quantising.step, list[bool]()

    def changing(quantising: Quantising, codes: Codes) -> bool:
        more = step(quantising, codes)
        taken.append(more)
        if len(taken) < 15:
            index.add([len(taken)], matrix[1_500 + len(taken)][None])
            index.remove(range(1_000 - 40 * len(taken), 1_000 - 40 * len(taken) + 30))
            index.add([2_000 + len(taken)], matrix[1_600 + len(taken)][None])
        return more

    monkeypatch.setattr(Quantising, "step", changing)
    index.add(range(1_000), matrix[:1_000])
    index.settle()
    assert len(taken) > 5
    assert_codes_are_those_of_the_rows(index)


def test_threads_that_add_at_the_same_time_start_one_change(matrix: Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, trained = Gate(), list[int]()
    train = Quantising.train

    def counted(quantising: Quantising) -> Codes:
        trained.append(1)
        gate.open.wait(WAIT_S)
        return train(quantising)

    monkeypatch.setattr(Quantising, "train", counted)
    index = EarlyAutoIndex(DIM)
    some = [np.arange(start, 800, 8) for start in range(8)]
    threads = [threading.Thread(target=lambda ids=ids: index.add(ids.tolist(), matrix[ids])) for ids in some]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert trained == [1]
    gate.open.set()
    index.settle()
    assert_codes_are_those_of_the_rows(index)


def test_a_failure_in_the_background_is_told_and_answers_stay_exact(
    matrix: Matrix, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    attempts: list[int] = []

    def failing(quantising: Quantising) -> Codes:
        attempts.append(len(quantising._rows))
        raise MemoryError("no room")

    monkeypatch.setattr(Quantising, "train", failing)
    index, judge = EarlyAutoIndex(DIM), ExactIndex(DIM)
    with caplog.at_level(logging.WARNING, logger="cheatsheet"):
        for start in range(0, 1_000, 100):
            for each in (index, judge):
                each.add(range(start, start + 100), matrix[start : start + 100])
            index.settle()
    assert attempts == [100, 200, 400, 800]
    assert "search of 100 rows could not be made faster (MemoryError: no room). Its answers stay right" in caplog.text
    assert_same_hits(index.search(matrix[3], 10), judge.search(matrix[3], 10))


def test_no_thread_to_be_had_is_told_as_well(
    matrix: Matrix, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    index = EarlyAutoIndex(DIM)
    index.add(range(100), matrix[:100])
    assert "can't start new thread" in caplog.text
    assert len(index.search(matrix[3], 10).ids) == 10


def test_close_stops_the_change_and_leaves_the_index_of_use(matrix: Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    monkeypatch.setattr(Quantising, "step", gate.before(Quantising.step))
    index = EarlyAutoIndex(DIM)
    index.add(range(1_000), matrix[:1_000])
    assert gate.reached.wait(WAIT_S)
    closing = threading.Thread(target=index.close)
    closing.start()
    gate.open.set()
    closing.join(WAIT_S)
    assert not closing.is_alive()
    index.close()
    index.add(range(1_000, 1_500), matrix[1_000:1_500])
    assert (index._codes, index._quantising) == (None, None)
    assert index.search(matrix[1_200], 1).ids.tolist() == [1_200]


def test_a_process_that_ends_meanwhile_ends() -> None:
    """Its thread comes out of FAISS while there still is an interpreter, and the rest is not waited for."""
    program = (
        "import numpy as np\n"
        "from indexes.auto import AutoIndex\n"
        "index = AutoIndex(64)\n"
        "index.add(range(60_000), np.random.default_rng(0).standard_normal((60_000, 64), dtype=np.float32))\n"
        "print(index._quantising is not None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=WAIT_S)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "True", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_process_that_is_forked_off_searches_and_changes_its_copy_and_makes_codes_of_its_own() -> None:
    """I9. At the fork, threads of the parent are searching, adding, and making codes."""
    program = (
        "import os, signal, threading, numpy as np\n"
        "from tests.indexes.implementations import EarlyAutoIndex\n"
        "rows = np.random.default_rng(0).standard_normal((20_000, 32), dtype=np.float32)\n"
        "index, ends = EarlyAutoIndex(32), threading.Event()\n"
        "def search():\n"
        "    while not ends.is_set(): index.search(rows[0], 10)\n"
        "def add():\n"
        "    for start in range(0, 10_000, 100): index.add(range(start, start + 100), rows[start : start + 100])\n"
        "threads = [threading.Thread(target=each) for each in (search, search, add)]\n"
        "for thread in threads: thread.start()\n"
        "children = []\n"
        "for _ in range(5):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        signal.alarm(30)\n"
        "        index.add(range(10_000, 20_000), rows[10_000:])\n"
        "        index.settle()\n"
        "        right = index.search(rows[15_000], 1).ids.tolist() == [15_000]\n"
        "        os._exit(0 if right and len(index._codes) == len(index) else 1)\n"
        "    children.append(child)\n"
        "print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])\n"
        "ends.set()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=WAIT_S)
    assert (done.stdout.strip(), done.stderr) == ("[0, 0, 0, 0, 0]", "")


def test_a_file_with_codes_is_of_use_where_faiss_is_no_longer_installed(
    matrix: Matrix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    index = EarlyAutoIndex(DIM)
    index.add(range(1_000), matrix[:1_000])
    index.settle()
    assert index._codes is not None
    index.save(tmp_path / "index")
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.delitem(sys.modules, "indexes.faiss_codes")
    loaded = EarlyAutoIndex.load(tmp_path / "index")
    loaded.settle()
    assert "search of 1000 rows could not be made faster" in caplog.text
    assert "Run: pip install faiss-cpu." in caplog.text
    assert_same_hits(loaded.search(matrix[3], 10), index.search(matrix[3], 10))


def test_what_was_saved_before_the_change_changes_when_it_is_loaded(matrix: Matrix, tmp_path: Path) -> None:
    class Later(EarlyAutoIndex):
        threshold = 5_000

    index = Later(DIM)
    index.add(range(1_000), matrix[:1_000])
    index.save(tmp_path / "index")
    loaded = EarlyAutoIndex.load(tmp_path / "index")
    loaded.settle()
    assert_codes_are_those_of_the_rows(loaded)
