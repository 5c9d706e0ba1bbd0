"""What runs a program that cannot be trusted, and what it says of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Protocol, runtime_checkable

from cheatsheet.errors import SettingsError


class Ending(StrEnum):
    """How a program ended."""

    FINISHED = "finished"
    FAILED = "failed"  # by an exception, a syntax error or an exit code of its own
    TIMEOUT = "timeout"  # the wall clock
    CPU = "cpu"  # processor time
    MEMORY = "memory"
    PROCESSES = "processes"
    FILES = "files"  # the size of a file, or of all files together
    OPEN_FILES = "open-files"
    OUTPUT = "output"
    KILLED = "killed"  # by a signal that none of the limits above explains


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """What a program may use. Dynamic Cheatsheet allows 3 seconds and knows no other limit (utils/execute_code.py).

    Attributes:
        timeout_s: seconds on the wall clock, the start of the interpreter included.
        cpu_s: whole seconds of processor time for each process.
        memory_mib: address space of each process, and memory of all of them together.
        processes: at one time, the program itself included.
        file_mib: the largest file; where the file system is private, all files together.
        open_files: at one time, for each process.
        output_bytes: kept of the output; beyond them its middle is left out.
        flood_mib: output after which the program is stopped.

    Raises:
        SettingsError: a limit that is not above 0.
    """

    timeout_s: float = 3.0
    cpu_s: int = 5
    memory_mib: int = 512
    processes: int = 16
    file_mib: int = 16
    open_files: int = 64
    output_bytes: int = 32_768
    flood_mib: int = 16

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not value > 0:
                raise SettingsError(f"The sandbox limit {limit.name} is {value}. It must be above 0.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What came of running a program.

    Attributes:
        output: what it wrote to stdout and stderr, in this order of writing; undecodable bytes are U+FFFD.
        ended: how it ended.
        error: one sentence that says why it did not finish, with the limit where there is one; empty when it finished.
        exit_code: 0 when it finished; None when it was stopped or ended by a signal.
        truncated: the middle of the output was left out.
        seconds: on the wall clock, until everything that it had started was gone.
        isolation: what the program could reach, as a part of a sentence: "no network, private file system".
        notes: what else the reader should know, e.g. a process that could not be ended.
    """

    output: str
    ended: Ending
    isolation: str
    error: str = ""
    exit_code: int | None = None
    truncated: bool = False
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def timed_out(self) -> bool:
        """Whether the wall clock stopped it."""
        return self.ended is Ending.TIMEOUT


@runtime_checkable
class Sandbox(Protocol):
    """Runs Python programs outside this process.

    S1  Whatever a program does, `run` returns an `Execution`. What it raises is a `SetupError`, where programs cannot
        be run on this machine at all, or a fault of the sandbox.
    S2  `run` ends soon after the time limit at the latest, from any thread, and as soon as the program ends: processes
        that the program leaves behind do not delay it.
    S3  When `run` is over, also by an exception, no process that the program started is left, alive or as a zombie,
        and no file in a temporary folder.
    S4  The program sees an empty stdin and an environment without any variable of this process.
    S5  The output is read while the program runs. What was written before it ended or was stopped is there, up to a
        limit, beginning and end; whatever the bytes and the locale are, it is text.
    S6  Limits stop the program or fail its calls, never this process, and `Execution.error` says which one it was.
    S7  `isolation` says what the program could reach.
    S8  Calls from several threads are safe.
    S9  A final expression is printed, as in a notebook, unless it is None; nothing else of the program is changed.
    """

    @property
    def isolation(self) -> str: ...

    def run(self, code: str) -> Execution: ...
