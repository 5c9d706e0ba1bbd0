"""The engine's side of the supervisor: gives it a job, reads what the program writes, and takes its report."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import IO, Any, Literal

from cheatsheet.sandbox.capture import Capture
from cheatsheet.sandbox.strays import end_strays

_CHUNK = 65_536
_END_S = 7.0  # for the supervisor to end everything, more than it gives itself; beyond it, it is taken to hang
_DRAIN_S = 1.0  # for what is left in the pipe when all who wrote to it are gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the supervisor says (supervisor.py)."""

    stopped_by: str | None
    limit: str
    left: int
    exit_code: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came back.

    Attributes:
        report: None when the supervisor ended without one.
        output: of the program.
        flooded: it was stopped because it wrote too much.
        seconds: on the wall clock.
    """

    report: Report | None
    output: Capture
    flooded: bool
    seconds: float


@cache
def source(name: Literal["supervisor", "inside"]) -> str:
    """The text of a module of this package that runs in a process of its own."""
    return files("cheatsheet.sandbox").joinpath(f"{name}.py").read_text(encoding="utf-8")


def supervised(
    job: Mapping[str, Any],
    *,
    timeout_s: float,
    kept_bytes: int,
    flood_bytes: int,
    mark: str | None,
    clock: Callable[[], float] = time.monotonic,
) -> Ran:
    """Run a job to its end, and leave no process of it, whatever happens here meanwhile.

    Args:
        job: see supervisor.py.
        timeout_s: of the program, which the supervisor keeps; this function ends a supervisor that does not.
        kept_bytes, flood_bytes: of output, before it is cut, and before the program is stopped.
        mark: a value that stands in the environment of all processes of the job, to find them by when the supervisor
            itself was killed; None where they cannot outlive it.
        clock: seconds that never run backwards.
    """
    started = clock()
    supervisor = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", source("supervisor")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        start_new_session=True,
    )
    streams = _Streams(supervisor, Capture(kept_bytes), flood_bytes=flood_bytes)
    patience_s = _END_S
    try:
        streams.send(job)
        ended = streams.read(until=started + timeout_s + _END_S, clock=clock)
        patience_s = _END_S if ended else 0.0
    finally:
        _end(supervisor, patience_s=patience_s)
        if streams.report() is None and mark is not None:
            end_strays(mark)
        streams.drain(until=clock() + _DRAIN_S, clock=clock)
        streams.close()
    return Ran(report=streams.report(), output=streams.output, flooded=streams.flooded, seconds=clock() - started)


class _Streams:
    """The three pipes of a supervisor."""

    def __init__(self, supervisor: subprocess.Popen[bytes], output: Capture, *, flood_bytes: int) -> None:
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        assert supervisor.stderr is not None
        self._job: IO[bytes] = supervisor.stdin
        self._reported: IO[bytes] = supervisor.stdout
        self._written: IO[bytes] = supervisor.stderr
        self._flood_bytes = flood_bytes
        self._report = bytearray()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._reported, selectors.EVENT_READ)
        self._selector.register(self._written, selectors.EVENT_READ)
        self.output = output
        self.flooded = False

    def send(self, job: Mapping[str, Any]) -> None:
        try:
            self._job.write(json.dumps(job).encode() + b"\n")
            self._job.flush()
        except BrokenPipeError:  # it is gone already, and the missing report will say so
            return

    def read(self, *, until: float, clock: Callable[[], float]) -> bool:
        """Take in output until the supervisor has ended; returns whether it has."""
        while self._reported in self._open() and clock() < until:
            self._step(until - clock())
        return self._reported not in self._open()

    def drain(self, *, until: float, clock: Callable[[], float]) -> None:
        """Take in what is left."""
        while self._open() and clock() < until:
            self._step(until - clock())

    def report(self) -> Report | None:
        """None for one that is missing, or that is no report: a program that is not shut in could write here."""
        try:
            return Report(**json.loads(self._report))
        except (ValueError, TypeError):
            return None

    def close(self) -> None:
        self._selector.close()
        for pipe in (self._job, self._reported, self._written):
            _close(pipe)

    def _open(self) -> list[Any]:
        return [key.fileobj for key in self._selector.get_map().values()]

    def _step(self, wait_s: float) -> None:
        for key, _ in self._selector.select(wait_s):
            chunk = os.read(key.fd, _CHUNK)
            if not chunk:
                self._selector.unregister(key.fileobj)
            elif key.fileobj is self._reported:
                self._report += chunk
            else:
                self._take(chunk)

    def _take(self, chunk: bytes) -> None:
        self.output.feed(chunk)
        if self.output.total > self._flood_bytes and not self.flooded:
            self.flooded = True
            _close(self._job)  # which stops the program


def _end(supervisor: subprocess.Popen[bytes], *, patience_s: float) -> None:
    """Have everything ended; a supervisor that does not do it in time is killed."""
    assert supervisor.stdin is not None
    _close(supervisor.stdin)
    try:
        supervisor.wait(timeout=patience_s)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()


def _close(pipe: IO[bytes]) -> None:
    """Close a pipe; what could not be written to it any more is given up."""
    try:
        pipe.close()
    except BrokenPipeError:
        return
