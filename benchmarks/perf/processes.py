"""Commands in processes of their own, and how long each took."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

COMMAND: Final = (sys.executable, "-c", "from cheatsheet.interfaces.cli import main; main()")
"""The command line, as the installed script starts it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a process wrote on standard output, and what it took.

    Attributes:
        cpu_s: seconds of the processor, of all its threads and children; other work does not stretch it as it does the
            time on the wall.
    """

    out: str
    wall_s: float
    cpu_s: float


class Processes:
    """Starts processes one after the other.

    Args:
        bytecode: where Python keeps what it compiled: an installed package is not compiled at every start.
        environment: variables in place of, or beside, those that are there.
    """

    def __init__(self, bytecode: Path, environment: Mapping[str, str] | None = None) -> None:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._environment = kept | {"PYTHONPYCACHEPREFIX": str(bytecode)} | dict(environment or {})

    def __call__(self, command: Sequence[str], cwd: Path | None = None) -> Ended:
        """Run a command to its end.

        Raises:
            RuntimeError: it did not end well.
        """
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            started = time.perf_counter()
            process = subprocess.Popen(command, cwd=cwd, env=self._environment, stdout=out, stderr=err)
            _, status, usage = os.wait4(process.pid, 0)
            wall_s = time.perf_counter() - started
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise RuntimeError(f"{command} ended with {process.returncode} in {cwd!r}: {_text(err)}")
            return Ended(_text(out), wall_s, usage.ru_utime + usage.ru_stime)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", errors="replace")
