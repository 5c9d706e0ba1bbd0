"""The sandbox that this package brings: a process of its own under limits, shut in by bubblewrap where that works."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Any, Literal

from cheatsheet.errors import SetupError
from cheatsheet.sandbox.isolation import FOLDER, Isolation, bubblewrap, no_isolation
from cheatsheet.sandbox.result import execution
from cheatsheet.sandbox.sandbox import Execution, SandboxLimits
from cheatsheet.sandbox.supervised import source, supervised

_MIB = 2**20
_WRAPPERS = 2  # processes of bubblewrap around a program
_SPARE_TASKS = 64  # see _limits
_UNLIMITED_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class SubprocessSandbox:
    """Runs each program in a fresh process, on Linux (`Sandbox`, promises S1 to S9).

    Limits of the kernel bind each process (setrlimit). A supervisor beside the program watches the clock, the number of
    processes and their memory together, and ends whatever is left (supervisor.py). With bubblewrap, the program is in
    namespaces of its own besides: it sees no network, no other process, and only the interpreter's files, read only.

    Without bubblewrap this keeps accidents away, not attackers: the program could reach the network and every file of
    this user, and end processes of this user.

    Args:
        limits: what a program may use.
        isolation: `auto` uses bubblewrap where it works; `required` refuses to run programs where it does not; `none`
            leaves it out.

    Raises:
        SetupError: this is not Linux, or a system without what the sandbox needs; or isolation is required and there is
            none.
    """

    def __init__(
        self,
        limits: SandboxLimits | None = None,
        *,
        isolation: Literal["auto", "required", "none"] = "auto",
    ) -> None:
        _check_machine(sys.platform)
        self.limits = limits or SandboxLimits()
        self._isolation = (
            no_isolation("bubblewrap is not used") if isolation == "none" else bubblewrap(self.limits.file_mib)
        )
        if isolation == "required" and not self._isolation.command:
            raise SetupError(
                f"Programs have to run isolated, but {self._isolation.told}. Install bubblewrap, work on a machine "
                f"where it works, or use isolation='auto'."
            )

    @property
    def isolation(self) -> str:
        """What a program can reach."""
        return self._isolation.told

    def run(self, code: str) -> Execution:
        """Run a Python program until it ends or meets a limit.

        Args:
            code: its source. Half characters (lone surrogates), which no file can hold, become question marks.
        """
        with _work_folder(private=bool(self._isolation.command)) as folder:
            ran = supervised(
                _job(code, folder, self._isolation, self.limits),
                timeout_s=self.limits.timeout_s,
                kept_bytes=self.limits.output_bytes,
                flood_bytes=self.limits.flood_mib * _MIB,
                mark=folder,
            )
        return execution(ran, self.limits, isolation=self.isolation, folder=folder)


def _check_machine(platform: str) -> None:
    """Raise SetupError where programs cannot be run, and say what is missing."""
    leave = "Leave run_code off, or work on a Linux machine or in a Linux container."
    if platform != "linux":
        raise SetupError(f"Programs can be run on Linux only; this is {platform!r}. {leave}")
    if not sys.executable:
        raise SetupError(f"Programs cannot be run: the path of the Python interpreter is not known. {leave}")
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        raise SetupError(f"Programs cannot be run: /proc does not list the children of a process here. {leave}")


@contextmanager
def _work_folder(*, private: bool) -> Iterator[str | None]:
    """A temporary folder for one program; None where its file system has its own."""
    if private:
        yield None
        return
    folder = tempfile.mkdtemp(prefix="cheatsheet-")
    try:
        yield folder
    finally:
        _open_all(folder)
        rmtree(folder)


def _open_all(folder: str) -> None:
    """Make all folders writable for their owner: a program can shut its own, and then they could not be emptied."""
    Path(folder).chmod(0o700)
    for parent, names, _ in os.walk(folder):
        for path in (Path(parent, name) for name in names):
            if not path.is_symlink():
                path.chmod(0o700)


def _job(code: str, folder: str | None, isolation: Isolation, limits: SandboxLimits) -> dict[str, Any]:
    """What the supervisor is told (supervisor.py)."""
    # Not -I, which ignores PYTHONHASHSEED: with a random seed, a program that prints a set gives another output each
    # time, and a recorded run could not be replayed. The environment has nothing that -I would have to ignore.
    interpreter = (sys.executable, "-s", "-P", "-u", "-c", source("inside"))
    return {
        "argv": [*isolation.command, *interpreter],
        "environment": _environment(folder or FOLDER),
        "folder": folder,
        "code": code,
        "timeout_s": limits.timeout_s,
        "limits": _limits(limits),
        "memory_bytes": limits.memory_mib * _MIB,
        "processes": limits.processes,
        "wrappers": _WRAPPERS if isolation.command else 0,
        # Bubblewrap drops these itself, and may need them before.
        "harden": not isolation.command,
    }


def _environment(folder: str) -> dict[str, str]:
    """All that a program finds in its environment: nothing of this process, and the same each time."""
    return {
        "HOME": folder,
        "TMPDIR": folder,
        "PATH": os.defpath,
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Such libraries reserve address space for a thread on each core; on large machines that alone meets the limit.
        **dict.fromkeys(_UNLIMITED_THREADS, "1"),
    }


def _limits(limits: SandboxLimits) -> dict[str, tuple[int, int]]:
    """Resource limits with their soft and hard values.

    RLIMIT_NPROC counts all processes and threads of the user, not of the program, and binds no root; so the supervisor
    counts, and this limit only keeps a flood small between two of its looks. It is set above all that run now.
    """
    cpu = limits.cpu_s
    processes = _tasks() + limits.processes + _SPARE_TASKS
    wanted = {
        "RLIMIT_AS": limits.memory_mib * _MIB,
        "RLIMIT_FSIZE": limits.file_mib * _MIB,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_NPROC": processes,
        "RLIMIT_CORE": 0,
    }
    # At the soft limit the kernel sends SIGXCPU, which tells the reason; at the hard one SIGKILL.
    return {name: (value, value) for name, value in wanted.items()} | {"RLIMIT_CPU": (cpu, cpu + 1)}


def _tasks() -> int:
    """Processes and threads on this machine."""
    return int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[2])
