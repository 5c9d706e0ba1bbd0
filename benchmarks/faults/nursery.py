"""Children that are born warm and die when they are told to.

One process imports everything once; each child is forked from it, so that a life costs milliseconds. A child does one
*deed*: a function `deed(say, **arguments)`, named as `package.module:function`, that reports over a pipe with
`say(value)`. What was said before the death of a child is read after it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn, Self

from benchmarks.faults import dying
from benchmarks.faults.dying import Death, Ended, LivesOn

_ROOT = Path(__file__).parents[2]
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_RAISED = 70  # EX_SOFTWARE


@dataclass(frozen=True, slots=True)
class Say:
    """What a deed reports with: JSON values, each of them read even if the child dies right after it."""

    pipe: int
    death: Death

    def __call__(self, value: Any) -> None:
        os.write(self.pipe, json.dumps(value).encode() + b"\n")

    def begin(self) -> None:
        """From here on death may come."""
        self.death.begin(self.pipe)


Deed = Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What is known of a child once it is over.

    Attributes:
        said: what it reported, in order.
        signal: what killed it; None where it ended by itself.
        error: class of what its deed raised, its message and notes, each on a line; empty where it raised nothing.
        facts: what was seen of its death (`dying`).
    """

    said: list[Any]
    signal: int | None = None
    error: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


class Nursery:
    """A warm process that has children, one at a time; used as a context manager.

    Args:
        preload: modules that are imported before any child is born, and functions (`package.module:name`) that are
            called, so that what is imported late is there as well.
        before: a command that starts the process in another world, such as a name space with another mount; the
            process's own command is added to it.
    """

    def __init__(self, preload: Iterable[str], *, before: Sequence[str] = ()) -> None:
        command = [*before, sys.executable, "-m", __name__, *preload]
        self._process = subprocess.Popen(
            command, cwd=_ROOT, env={**os.environ, **_ONE_THREAD}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asks: IO[bytes] = self._process.stdin
        self._tells: IO[bytes] = self._process.stdout

    def live(self, deed: str, *, death: Death | None = None, **arguments: Any) -> Life:
        """Let a child do a deed until it is done, or until its death.

        Raises:
            RuntimeError: the nursery itself has ended; its standard error tells why.
        """
        with suppress(BrokenPipeError):
            _write_line(self._asks, {"deed": deed, "arguments": arguments, "death": dying.to_json(death or LivesOn())})
        line = self._tells.readline()
        if not line:
            raise RuntimeError(f"The nursery ended with code {self._process.wait()}.")
        return Life(**json.loads(line))

    def close(self) -> None:
        """End the process."""
        self._asks.close()
        self._process.wait()
        self._tells.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def main(preload: Sequence[str]) -> None:
    """Import, then have a child for every line of standard input."""
    for name in preload:
        module, _, function = name.partition(":")
        loaded = import_module(module)
        if function:
            getattr(loaded, function)()
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        life = _live(asked["deed"], asked["arguments"], dying.from_json(asked["death"]))
        _write_line(sys.stdout.buffer, asdict(life))


def _live(deed: str, arguments: dict[str, Any], death: Death) -> Life:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _do(deed, arguments, Say(writing, death))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        return _life(death.watch(child, pipe))


def _do(deed: str, arguments: dict[str, Any], say: Say) -> NoReturn:
    """In a child: do the deed, and leave without any of the parent's endings."""
    code = 0
    try:
        os.dup2(2, 1)  # the parent's replies go there
        module, _, name = deed.partition(":")
        run: Deed = getattr(import_module(module), name)
        run(say, **arguments)
    except BaseException as error:
        say("\n".join([type(error).__name__, str(error), *getattr(error, "__notes__", ())]))
        code = _RAISED
    os._exit(code)


def _life(ended: Ended) -> Life:
    # The last line may be a piece: the child died while it wrote it.
    said = [json.loads(line) for line in ended.said.split(b"\n")[:-1] if line]
    raised = os.WIFEXITED(ended.status) and os.WEXITSTATUS(ended.status) == _RAISED
    killed = os.WTERMSIG(ended.status) if os.WIFSIGNALED(ended.status) else None
    error = said.pop() if raised else ""
    return Life(said=said, signal=killed, error=error, facts=ended.facts)


def _write_line(file: IO[bytes], value: Any) -> None:
    file.write(json.dumps(value).encode() + b"\n")
    file.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
