"""What the tests of this folder share: changes, threads that tell their errors, and programs beside this one."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft, Operation

NOW = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)
ROOT = Path(__file__).parents[2]


def add(content: str, **more: object) -> Add:
    return Add(draft=Draft.model_validate({"content": content} | more))


def change(*operations: Operation, **more: object) -> Change:
    values: dict[str, object] = {"at": NOW, "cause": "turn", "operations": operations} | more
    return Change.model_validate(values)


def at_once(*calls: Callable[[], object]) -> list[object]:
    """Begin all calls at the same moment, each in a thread; their results, or the first error."""
    barrier = threading.Barrier(len(calls))

    def begin(call: Callable[[], object]) -> object:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        waiting: list[Future[object]] = [pool.submit(begin, call) for call in calls]
        return [each.result() for each in waiting]


@contextmanager
def program(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A Python program beside this one, with pipes to talk through; it is gone at the end."""
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def heard(child: subprocess.Popen[str]) -> str:
    """The next line that it says."""
    assert child.stdout is not None
    return child.stdout.readline().rstrip("\n")


def say(child: subprocess.Popen[str], line: str = "") -> None:
    """Send it a line."""
    assert child.stdin is not None
    child.stdin.write(f"{line}\n")
    child.stdin.flush()
