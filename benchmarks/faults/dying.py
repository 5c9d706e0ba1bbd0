"""How a child of the nursery dies: not at all, after some time, or at the n-th step that writes."""

from __future__ import annotations

import os
import platform
import select
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import IO, Any

from benchmarks.faults import tracing
from benchmarks.faults.locks import held_by_others
from benchmarks.faults.tracing import Following

TIME_LIMIT_S = 120.0
"""For a deed that never ends; it is killed then, and that is told as a death by SIGALRM."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended.

    Attributes:
        status: as `os.waitpid` gives it.
        said: the bytes that came through its pipe.
        facts: what was seen of its death.
    """

    status: int
    said: bytes
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LivesOn:
    """Nothing happens to the child."""

    def begin(self, pipe: int) -> None:
        """In the child, where the deed begins that death may come to."""

    def watch(self, child: int, pipe: IO[bytes]) -> Ended:
        """In the parent: wait until the child is gone."""
        said, _ = _read(pipe, time.monotonic() + TIME_LIMIT_S)
        return _gone(child, said, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterSeconds:
    """The child is stopped some time after its beginning; it is seen which locks it holds, and it is killed.

    Facts: `inside`, what the child held of the file at `path` (`locks.held_by_others`); nothing where that is empty.
    """

    seconds: float
    path: str

    def begin(self, pipe: int) -> None:
        os.write(pipe, b"\n")  # an empty line: said by nobody, it starts the clock

    def watch(self, child: int, pipe: IO[bytes]) -> Ended:
        said, open_still = _read(pipe, time.monotonic() + TIME_LIMIT_S, most=1)
        if open_still:
            more, open_still = _read(pipe, time.monotonic() + self.seconds)
            said += more
        if not open_still:
            return _gone(child, said, {})
        os.kill(child, signal.SIGSTOP)
        _, status = os.waitpid(child, os.WUNTRACED)
        if not os.WIFSTOPPED(status):  # it ended by itself at this moment
            return Ended(status, said, {})
        facts = {"inside": held_by_others(self.path) if self.path else ()}
        os.kill(child, signal.SIGKILL)
        rest, _ = _read(pipe, time.monotonic() + TIME_LIMIT_S)
        return _gone(child, said + rest, facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtStep:
    """The child is killed where it is about to do its n-th system call that changes a file or a pipe; 0: never.

    Facts: `calls`, these calls by name and open file, the one that it died of included.
    """

    step: int

    def begin(self, pipe: int) -> None:
        tracing.ask_to_be_traced()

    def watch(self, child: int, pipe: IO[bytes]) -> Ended:
        return _followed(Following(child=child, kill_at=self.step), pipe)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingCalls:
    """The child lives; of such calls from the n-th to before the `until`-th, those that put something on a disk fail.

    Facts: as of `AtStep`.
    """

    step: int
    until: int
    errno: int

    @staticmethod
    def possible() -> bool:
        """Whether this machine is of the kind whose calls can be made to fail."""
        return platform.machine() in ("x86_64", "AMD64")

    def begin(self, pipe: int) -> None:
        tracing.ask_to_be_traced()

    def watch(self, child: int, pipe: IO[bytes]) -> Ended:
        return _followed(Following(child=child, fail_from=self.step, fail_until=self.until, errno=self.errno), pipe)


Death = LivesOn | AfterSeconds | AtStep | FailingCalls
_KINDS: dict[str, Callable[..., Death]] = {
    kind.__name__: kind for kind in (LivesOn, AfterSeconds, AtStep, FailingCalls)
}


def to_json(death: Death) -> list[Any]:
    """The death as a JSON value."""
    return [type(death).__name__, asdict(death)]


def from_json(value: list[Any]) -> Death:
    """The death of a JSON value."""
    name, fields = value
    return _KINDS[name](**fields)


def _followed(following: Following, pipe: IO[bytes]) -> Ended:
    status = following.follow()
    said, _ = _read(pipe, time.monotonic() + TIME_LIMIT_S)
    return Ended(status, said, {"calls": [(call.name, call.target) for call in following.calls]})


def _read(pipe: IO[bytes], until: float, *, most: int | None = None) -> tuple[bytes, bool]:
    """What comes through a pipe until a time, or until it is `most` bytes, and whether the pipe is still open."""
    said = b""
    while (left := until - time.monotonic()) > 0 and (most is None or len(said) < most):
        if not select.select([pipe], [], [], left)[0]:
            break
        some = os.read(pipe.fileno(), most - len(said) if most else 65_536)
        if not some:
            return said, False
        said += some
    return said, True


def _gone(child: int, said: bytes, facts: dict[str, Any]) -> Ended:
    """Wait for a child whose pipe is closed; one that did not close it in time is killed by SIGALRM."""
    gone, status = os.waitpid(child, os.WNOHANG)
    deadline = time.monotonic() + 1
    while not gone and time.monotonic() < deadline:
        time.sleep(0.0005)
        gone, status = os.waitpid(child, os.WNOHANG)
    if not gone:
        os.kill(child, signal.SIGALRM)
        _, status = os.waitpid(child, 0)
    return Ended(status, said, facts)
