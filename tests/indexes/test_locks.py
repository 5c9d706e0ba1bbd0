"""The lock behind I7."""

from __future__ import annotations

import threading

import pytest

from indexes.locks import ReadWriteLock

WAIT_S = 10


def test_readers_hold_it_together() -> None:
    lock, met = ReadWriteLock(), threading.Barrier(3)

    def read() -> None:
        with lock.reading():
            met.wait(WAIT_S)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    met.wait(WAIT_S)  # breaks with an error unless both readers are inside
    for thread in threads:
        thread.join()


def test_a_writer_waits_for_readers_and_goes_before_later_ones() -> None:
    lock, order = ReadWriteLock(), list[str]()

    def write() -> None:
        with lock.writing():
            order.append("writer")

    def read() -> None:
        with lock.reading():
            order.append("late reader")

    writer, reader = threading.Thread(target=write), threading.Thread(target=read)
    with lock.reading():
        writer.start()
        while not lock._writers_waiting:
            writer.join(0.001)
        reader.start()
        reader.join(0.05)
        assert order == []
    writer.join(WAIT_S)
    reader.join(WAIT_S)
    assert order == ["writer", "late reader"]


def test_writers_exclude_each_other() -> None:
    lock, counts = ReadWriteLock(), [0]

    def count() -> None:
        for _ in range(500):
            with lock.writing():
                before = counts[0]
                threading.Event().wait(0)  # lets another thread in, if the lock does
                counts[0] = before + 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert counts == [2000]


def test_it_is_free_again_after_an_error() -> None:
    lock = ReadWriteLock()
    for hold in (lock.reading, lock.writing):
        with pytest.raises(ZeroDivisionError), hold():
            _ = 1 / 0
    entered = threading.Event()

    def write() -> None:
        with lock.writing():
            entered.set()

    # A daemon, so that a lock that stays shut fails this test and does not hang the others.
    threading.Thread(target=write, daemon=True).start()
    assert entered.wait(WAIT_S)
