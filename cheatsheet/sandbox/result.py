"""What a run amounts to, in words."""

from __future__ import annotations

import signal

from cheatsheet.sandbox.isolation import FOLDER
from cheatsheet.sandbox.sandbox import Ending, Execution, SandboxLimits
from cheatsheet.sandbox.supervised import Ran, Report

_SHELL_SIGNAL = 128  # bubblewrap gives the exit code of a shell: this and the number of the signal
_BY_SIGNAL: dict[int, Ending] = {signal.SIGXCPU: Ending.CPU, signal.SIGXFSZ: Ending.FILES}
_BY_NAME = {ending.value: ending for ending in Ending}


def execution(ran: Ran, limits: SandboxLimits, *, isolation: str, folder: str | None) -> Execution:
    """The result of a run.

    Args:
        folder: the work folder, whose name is new each time and is therefore shown as `/sandbox`; None where it has
            that name.
    """
    ended, code, received = _ending(ran, shell_codes=folder is None)
    output = ran.output.text()
    left = ran.report.left if ran.report else 0
    return Execution(
        output=output if folder is None else output.replace(folder, FOLDER),
        ended=ended,
        error=_sentence(ended, limits, code, received),
        exit_code=code,
        truncated=ran.output.truncated,
        seconds=ran.seconds,
        isolation=isolation,
        notes=(f"{left} of its processes could not be ended.",) if left else (),
    )


def _ending(ran: Ran, *, shell_codes: bool) -> tuple[Ending, int | None, int | None]:
    """How it ended, its exit code, and the signal that ended it."""
    if ran.flooded:
        return Ending.OUTPUT, None, None
    if ran.report is None:
        return Ending.KILLED, None, None
    if ran.report.stopped_by is not None:
        return _BY_NAME.get(ran.report.stopped_by, Ending.KILLED), None, None
    return _by_itself(ran.report, shell_codes=shell_codes)


def _by_itself(report: Report, *, shell_codes: bool) -> tuple[Ending, int | None, int | None]:
    code, received = report.exit_code, report.signal
    if shell_codes and code is not None and 0 < code - _SHELL_SIGNAL < signal.NSIG:
        received = code - _SHELL_SIGNAL
    if received is not None:
        return _BY_SIGNAL.get(received, Ending.KILLED), None, received
    if code == 0:
        return Ending.FINISHED, 0, None
    return _BY_NAME.get(report.limit, Ending.FAILED), code, None


def _sentence(ended: Ending, limits: SandboxLimits, code: int | None, received: int | None) -> str:
    sentences = {
        Ending.FINISHED: "",
        Ending.FAILED: f"The program ended with exit code {code}.",
        Ending.TIMEOUT: f"The program was stopped after {limits.timeout_s:g} s, its time limit.",
        Ending.CPU: f"The program was stopped after {limits.cpu_s} s of processor time, its limit.",
        Ending.MEMORY: f"The program needed more than {limits.memory_mib} MiB of memory, its limit.",
        Ending.PROCESSES: f"The program needed more than {limits.processes} processes at one time, its limit.",
        Ending.FILES: f"The program wrote more than {limits.file_mib} MiB to files, its limit.",
        Ending.OPEN_FILES: f"The program needed more than {limits.open_files} open files, its limit.",
        Ending.OUTPUT: f"The program was stopped after {limits.flood_mib} MiB of output, its limit.",
        Ending.KILLED: _killed(received),
    }
    return sentences[ended]


def _killed(received: int | None) -> str:
    if received is None:
        return "The program was ended together with the process that watched it."
    names = {number.value: number.name for number in signal.Signals}
    return f"The program was ended by the signal {names.get(received, received)}."
