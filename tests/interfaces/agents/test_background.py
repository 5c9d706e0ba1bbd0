"""Learning in the background."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.engine.lived import Answered
from cheatsheet.errors import (
    CheatsheetError,
    NotLearntError,
    OperationError,
    SettingsError,
    StoreError,
    UnknownNameError,
)
from cheatsheet.interfaces.agents import BackgroundLearner
from cheatsheet.llm.own_calls import is_own_call
from tests.interfaces.agents.memories import HeldMemory, open_memory

ROOT = Path(__file__).parent.parent.parent.parent


def test_learn_returns_at_once_and_the_future_gets_the_lesson() -> None:
    memory = HeldMemory(open=False)
    with BackgroundLearner(memory) as learner:
        future = learner.learn("q", "amber")
        assert memory.begun.wait(60)
        assert not future.done()
        assert learner.counts["left"] == 1
        memory.gate.set()
        assert future.result(60).notes == ("amber",)
    assert learner.counts == {"learnt": 1, "failed": 0, "dropped": 0, "cancelled": 0, "left": 0}


def test_a_real_memory_learns_what_was_given() -> None:
    with open_memory() as memory, BackgroundLearner(memory) as learner:
        recall = memory.recall("My card was charged twice")
        wrong = learner.learn(recall, "crimson", expected="amber", turn_id="t1")
        judged = learner.learn("Where is my parcel?", "amber", judge=lambda question, answer: f"wrong: {question}")
        assert learner.flush(60)
        assert (wrong.result().experience_id, judged.result().experience_id) == ("exp-00001", "exp-00002")
        assert memory.learnt("t1")
        assert "amber" in memory.recall("My card was charged twice").text
        assert "wrong: Where is my parcel?" in memory.recall("Where is my parcel?").text


def test_turns_are_learnt_in_the_order_in_which_they_came() -> None:
    memory = HeldMemory()
    with BackgroundLearner(memory) as learner:
        for number in range(50):
            learner.learn("q", str(number))
    assert memory.learnt == [str(number) for number in range(50)]


def test_many_threads_lose_nothing() -> None:
    with open_memory() as memory, BackgroundLearner(memory, max_waiting=3, batch_size=4) as learner:

        def live(thread: int) -> None:
            for number in range(10):
                learner.learn(f"What is {number} in thread {thread}?", str(number), turn_id=f"{thread}-{number}")

        threads = [threading.Thread(target=live, args=(thread,)) for thread in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert learner.flush(60)
        assert memory.stats().experiences == 60
        assert learner.counts == {"learnt": 60, "failed": 0, "dropped": 0, "cancelled": 0, "left": 0}


# A full queue


def held_and_full(when_full: Any) -> tuple[HeldMemory, BackgroundLearner]:
    """One turn is being learnt, and the one that may wait waits."""
    memory = HeldMemory(open=False)
    learner = BackgroundLearner(memory, max_waiting=1, when_full=when_full)
    learner.learn("q", "first")
    assert memory.begun.wait(60)
    learner.learn("q", "second")
    return memory, learner


def test_a_full_queue_can_be_waited_for() -> None:
    memory, learner = held_and_full("wait")
    brought = threading.Event()

    def bring() -> None:
        learner.learn("q", "third")
        brought.set()

    thread = threading.Thread(target=bring)
    thread.start()
    assert not brought.is_set()
    memory.gate.set()
    thread.join(60)
    learner.close()
    assert memory.learnt == ["first", "second", "third"]


def test_a_full_queue_can_leave_out_the_newest_which_is_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    memory, learner = held_and_full("drop-newest")
    with caplog.at_level(logging.WARNING, "cheatsheet"):
        dropped = [learner.learn("q", "dropped") for _ in range(5)]
    assert [record.getMessage().split()[0] for record in caplog.records] == ["1", "2", "4"]
    with pytest.raises(NotLearntError, match="1 turns wait to be learnt already"):
        dropped[0].result()
    memory.gate.set()
    learner.close()
    assert memory.learnt == ["first", "second"]
    assert (learner.counts["learnt"], learner.counts["dropped"]) == (2, 5)


def test_a_full_queue_can_raise() -> None:
    memory, learner = held_and_full("raise")
    with pytest.raises(NotLearntError):
        learner.learn("q", "third")
    assert learner.counts["dropped"] == 1
    memory.gate.set()
    learner.close()
    assert memory.learnt == ["first", "second"]


# Errors


@pytest.mark.parametrize("error", [StoreError("disk full"), ValueError("broken"), SystemExit(1)])
def test_a_failed_lesson_is_counted_and_logged_and_the_next_is_learnt(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    memory = HeldMemory(fails={"bad": error})
    with caplog.at_level(logging.ERROR, "cheatsheet"), BackgroundLearner(memory) as learner:
        bad = learner.learn("q", "bad")
        good = learner.learn("q", "good")
        assert bad.exception(60) is error
        assert good.result(60).notes == ("good",)
        assert learner.flush(60)
        assert (learner.counts["learnt"], learner.counts["failed"]) == (1, 1)
    assert caplog.text.count("A turn could not be learnt") == 1


def test_a_failing_judge_is_a_failed_lesson() -> None:
    def judge(question: str, answer: str) -> bool:
        raise ZeroDivisionError(question)

    memory = HeldMemory()
    with BackgroundLearner(memory) as learner:
        future = learner.learn("q", "unjudged", judge=judge)
        learner.learn("q", "good")
        assert isinstance(future.exception(60), ZeroDivisionError)
    assert memory.learnt == ["good"]


def test_a_turn_that_is_learnt_twice_fails_on_its_future() -> None:
    with open_memory() as memory, BackgroundLearner(memory) as learner:
        learner.learn("q", "amber", turn_id="t")
        assert isinstance(learner.learn("q", "amber", turn_id="t").exception(60), OperationError)


def test_a_closed_memory_fails_lessons_and_does_not_kill_the_learner() -> None:
    memory = open_memory()
    memory.close()
    with BackgroundLearner(memory) as learner:
        assert isinstance(learner.learn("q", "amber").exception(60), StoreError)
        assert isinstance(learner.learn("q", "amber").exception(60), StoreError)


def test_a_future_can_be_cancelled_while_it_waits() -> None:
    memory = HeldMemory(open=False)
    with BackgroundLearner(memory) as learner:
        learner.learn("q", "first")
        assert memory.begun.wait(60)
        waiting = learner.learn("q", "second")
        assert waiting.cancel()
        memory.gate.set()
        with pytest.raises(CancelledError):
            waiting.result(60)
        assert learner.flush(60)
        assert memory.learnt == ["first"]
        assert learner.counts["cancelled"] == 1


# Batches


def test_waiting_turns_are_learnt_together() -> None:
    memory = HeldMemory(open=False)
    with BackgroundLearner(memory, batch_size=3) as learner:
        learner.learn("q", "0")
        assert memory.begun.wait(60)
        futures = [learner.learn("q", str(number)) for number in range(1, 6)]
        memory.gate.set()
        assert [future.result(60).notes for future in futures] == [(str(number),) for number in range(1, 6)]
    assert memory.batches == [["0"], ["1", "2", "3"], ["4", "5"]]


def test_one_bad_turn_does_not_spoil_its_batch() -> None:
    memory = HeldMemory(open=False, fails={"bad": ValueError("broken")})
    with BackgroundLearner(memory, batch_size=3) as learner:
        learner.learn("q", "0")
        assert memory.begun.wait(60)
        futures = [learner.learn("q", answer) for answer in ("1", "bad", "2")]
        memory.gate.set()
        assert [type(future.exception(60)) for future in futures] == [type(None), ValueError, type(None)]
    assert memory.learnt == ["0", "1", "2"]


@given(
    kinds=st.lists(st.sampled_from(["good", "bad", "judge"]), max_size=12),
    batch_size=st.integers(1, 4),
    max_waiting=st.integers(1, 4),
)
def test_every_turn_has_an_end_and_is_counted_once(kinds: list[str], batch_size: int, max_waiting: int) -> None:
    def judge(question: str, answer: str) -> bool:
        raise ValueError(answer)

    memory = HeldMemory(open=False, fails={"bad": ValueError("broken")})
    learner = BackgroundLearner(
        memory, max_waiting=max_waiting, when_full="drop-newest", batch_size=batch_size, exit_timeout_s=0
    )
    futures = [learner.learn("q", kind, judge=judge if kind == "judge" else None) for kind in kinds]
    memory.gate.set()
    assert learner.close(60)
    assert all(future.done() for future in futures)
    counts = learner.counts
    assert counts["learnt"] + counts["failed"] + counts["dropped"] == len(kinds)
    assert counts["learnt"] == len(memory.learnt) == sum(future.exception() is None for future in futures)
    assert counts["left"] == 0


# Ends


def test_flush_gives_up_in_time_and_close_takes_no_more() -> None:
    memory = HeldMemory(open=False)
    learner = BackgroundLearner(memory)
    future = learner.learn("q", "amber")
    assert not learner.flush(0)
    assert not learner.close(0)
    with pytest.raises(NotLearntError, match="closed"):
        learner.learn("q", "late")
    memory.gate.set()
    assert learner.close(60)
    assert learner.close(60)
    assert future.result(60).notes == ("amber",)


def test_who_waits_for_room_hears_of_the_end() -> None:
    memory, learner = held_and_full("wait")
    errors: list[Exception] = []
    waits = threading.Event()

    def bring() -> None:
        waits.set()
        try:
            learner.learn("q", "third")
        except NotLearntError as error:
            errors.append(error)

    thread = threading.Thread(target=bring)
    thread.start()
    assert waits.wait(60)
    assert not learner.close(0)
    thread.join(60)
    assert len(errors) == 1
    memory.gate.set()
    learner.close()
    assert memory.learnt == ["first", "second"]


def test_a_turn_is_learnt_by_who_brings_it_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    memory = HeldMemory()
    learner = BackgroundLearner(memory)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert learner.learn("q", "amber").done()
    assert learner.learn("q", "crimson").done()
    assert memory.learnt == ["amber", "crimson"]


def test_lessons_are_marked_as_the_memorys_own_calls() -> None:
    seen: list[bool] = []

    class Memory(HeldMemory):
        def learn_batch(self, turns: Any) -> Any:
            seen.append(is_own_call())
            return super().learn_batch(turns)

    with BackgroundLearner(Memory()) as learner:
        learner.learn("q", "amber", judge=lambda question, answer: seen.append(is_own_call()))
    assert seen == [True, True]
    assert not is_own_call()


def test_numbers_and_names_that_make_no_sense_are_refused() -> None:
    memory = HeldMemory()
    with pytest.raises(UnknownNameError, match="drop-newest"):
        BackgroundLearner(memory, when_full="drop-newst")  # type: ignore[arg-type]  # the mistake under test
    for wrong in ({"max_waiting": 0}, {"batch_size": 0}, {"exit_timeout_s": -1}):
        with pytest.raises(SettingsError):
            BackgroundLearner(memory, **wrong)  # type: ignore[arg-type]  # numbers, all of them
    assert issubclass(NotLearntError, CheatsheetError)


def test_a_turn_needs_neither_recall_nor_answer_where_its_trajectory_has_them() -> None:
    seen: list[Answered] = []

    class Memory(HeldMemory):
        def learn_batch(self, turns: Any) -> Any:
            seen.extend(turns)
            return super().learn_batch(turns)

    told = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    with BackgroundLearner(Memory()) as learner:
        learner.learn(trajectory=iter(told))
    assert seen == [Answered(trajectory=tuple(told))]


# The end of the program, in programs of their own

PROGRAM = """
import atexit, logging, os, sys, threading
from cheatsheet.engine.results import Lesson
from cheatsheet.interfaces.agents import BackgroundLearner, at_exit

class Memory:
    def __init__(self, gate=None):
        self.gate = gate
    def learn_batch(self, turns):
        if self.gate:
            self.gate.wait()
        for turn in turns:
            print("learnt", turn.answer, flush=True)
        return [Lesson() for turn in turns]
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM + program], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )


def test_what_waits_at_the_end_of_the_program_is_learnt_even_if_it_fails_or_an_exit_handler_brings_it() -> None:
    done = run(
        "learner = BackgroundLearner(Memory())\n"
        "atexit.unregister(at_exit._drain_all)\n"  # exit handlers run last in, first out
        "atexit.register(lambda: print('learnt at once:', learner.learn('q', 'late').done()))\n"
        "atexit.register(at_exit._drain_all)\n"
        "for number in range(20): learner.learn('q', str(number))\n"
        "raise SystemExit(3)"
    )
    learnt = [f"learnt {number}" for number in range(20)]
    assert done.stdout.splitlines() == [*learnt, "learnt late", "learnt at once: True"]
    assert (done.stderr, done.returncode) == ("", 3)


def test_what_is_lost_at_the_end_of_the_program_is_told() -> None:
    done = run(
        "logging.disable()\n"
        "learner = BackgroundLearner(Memory(threading.Event()), exit_timeout_s=0.05)\n"
        "learner.learn('q', 'first'); learner.learn('q', 'second')\n"
        "gate = threading.Event()\n"
        "small = BackgroundLearner(Memory(gate), max_waiting=1, when_full='drop-newest')\n"
        "for number in range(9): small.learn('q', str(number))\n"
        "gate.set()"
    )
    assert "cheatsheet: 2 turns were not learnt within 0.05 s of the program's end, and are lost." in done.stderr
    assert " turns were not learnt, as 1 others were waiting already." in done.stderr
    assert done.stdout.startswith("learnt 0\n")
    assert done.returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_begins_with_an_empty_queue_and_can_learn() -> None:
    done = run(
        "gate = threading.Event()\n"
        "memory = Memory(gate)\n"
        "learner = BackgroundLearner(memory)\n"
        "learner.learn('q', 'of the parent'); learner.learn('q', 'of the parent too')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    memory.gate = None\n"
        "    assert learner.counts['left'] == 0\n"
        "    learner.learn('q', 'of the child').result(60)\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "gate.set()"
    )
    assert done.stdout == "learnt of the child\nlearnt of the parent\nlearnt of the parent too\n"
    assert (done.stderr, done.returncode) == ("", 0)
