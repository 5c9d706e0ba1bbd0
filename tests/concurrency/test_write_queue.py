"""Writers of one process: one at a time, in the order in which they came."""

from __future__ import annotations

import threading
import time

import pytest

from cheatsheet.memory.sqlite.write_queue import WriteQueue


def waits(queue: WriteQueue, count: int) -> None:
    """Return when so many threads wait for the lock."""
    while len(queue._waiting) < count:
        time.sleep(0.001)


def test_the_lock_is_given_in_the_order_in_which_it_was_asked_for() -> None:
    queue, order = WriteQueue(), []

    def work(number: int) -> None:
        with queue.turn():
            order.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    with queue.turn():
        for number, thread in enumerate(threads, start=1):
            thread.start()
            waits(queue, number)
        assert order == []
    for thread in threads:
        thread.join()
    assert order == list(range(8))


def test_who_comes_again_and_again_does_not_go_before_who_waits() -> None:
    queue, turns = WriteQueue(), 0
    had = threading.Event()

    def wait() -> None:
        with queue.turn():
            had.set()

    waiting = threading.Thread(target=wait)
    with queue.turn():
        waiting.start()
        waits(queue, 1)
    while not had.is_set():
        with queue.turn():
            turns += 1
    waiting.join()
    assert turns <= 1, "the lock was handed over before this thread could take it again"


def test_the_thread_that_has_it_may_take_it_again() -> None:
    queue = WriteQueue()
    with queue.turn(), queue.turn(0) as had:
        assert had
        assert queue.mine
    assert not queue.mine


def test_waiting_ends_with_the_time_and_leaves_nothing_behind() -> None:
    queue, seen = WriteQueue(), []

    def try_it() -> None:
        with queue.turn(0.01) as had:
            seen.append(had)

    thread = threading.Thread(target=try_it)
    with queue.turn():
        thread.start()
        thread.join()
        assert not queue._waiting
    assert seen == [False]
    with queue.turn(0) as had:
        assert had


def test_who_is_interrupted_while_waiting_stands_in_nobody_s_way(monkeypatch: pytest.MonkeyPatch) -> None:
    queue, interrupted = WriteQueue(), threading.Event()

    class Interrupted(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            raise KeyboardInterrupt

    def be_interrupted() -> None:
        with monkeypatch.context() as patched:
            patched.setattr(threading, "Event", Interrupted)
            with pytest.raises(KeyboardInterrupt):
                queue.acquire()
        interrupted.set()

    with queue.turn():
        thread = threading.Thread(target=be_interrupted)
        thread.start()
        interrupted.wait()
        thread.join()
        assert not queue._waiting
    with queue.turn(0) as had:
        assert had
