"""Where bubblewrap works, a program gets a file system of its own and no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = "/sandbox"  # what the work folder is called, inside and in what is told
PRIVATE = "no network, private file system"
OPEN = "the program could reach the network and the files of this user"
# Of the system only what an interpreter and its extension modules load.
_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/lib32",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
)
_TRIAL_S = 10.0


@dataclass(frozen=True, slots=True)
class Isolation:
    """How programs are shut in.

    Attributes:
        command: stands before the interpreter; empty where nothing shuts the program in.
        told: what the program can reach (`Execution.isolation`).
    """

    command: tuple[str, ...]
    told: str


def no_isolation(why: str) -> Isolation:
    """None; the limits hold all the same."""
    return Isolation((), f"{why}: {OPEN}")


@cache
def bubblewrap(file_mib: int) -> Isolation:
    """By bubblewrap, where it is installed and a trial succeeds; tried once per process.

    In many containers it is installed and cannot make the namespaces that it needs.

    Args:
        file_mib: size of the file system that the program can write to.
    """
    program = shutil.which("bwrap")
    if program is None:
        return no_isolation("bubblewrap is not installed")
    why = ""
    # bubblewrap before 0.7 cannot bound the size of a file system.
    for size in (file_mib, None):
        command = (program, *_arguments(size))
        failure = _trial(command)
        if failure is None:
            return Isolation(command, PRIVATE)
        why = why or failure
    return no_isolation(f"bubblewrap does not work here ({why})")


def _arguments(size_mib: int | None) -> tuple[str, ...]:
    size = ("--size", str(size_mib * 2**20)) if size_mib else ()
    read_only = [argument for path in _SYSTEM for argument in ("--ro-bind-try", path, path)]
    for path in _interpreter():
        read_only += ["--ro-bind", path, path]
    return (
        *("--unshare-all", "--die-with-parent", "--cap-drop", "ALL"),
        *read_only,
        *("--proc", "/proc", "--dev", "/dev", *size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *(*size, "--tmpfs", FOLDER, "--chdir", FOLDER, "--remount-ro", "/"),
    )


def _interpreter() -> tuple[str, ...]:
    """Folders of the interpreter and of installed packages, outside what is bound of the system."""
    wanted = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent]
    paths = dict.fromkeys(str(form) for path in wanted for form in (path, path.resolve()))
    return tuple(path for path in paths if path != "/" and not path.startswith("/usr"))


def _trial(command: tuple[str, ...]) -> str | None:
    """None when the interpreter starts, or the first line of what was said instead."""
    try:
        done = subprocess.run(
            [*command, sys.executable, "-s", "-P", "-c", "print('started')"],
            env={"PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TRIAL_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.stdout.strip() == b"started":
        return None
    said = done.stderr.decode("utf-8", "replace").strip()
    return said.partition("\n")[0] or f"exit code {done.returncode}"
