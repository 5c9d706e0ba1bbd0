"""Starts one program, watches it, and ends only when nothing of it is left; started from its source text (`python -c`).

It stands between the engine and the program as a process of its own, because it makes itself the parent of every
orphan below it (PR_SET_CHILD_SUBREAPER): a process that the program started cannot get away by losing its parent or by
leaving its session. The engine itself cannot do that: it would adopt the orphans of the whole application.

stdin: the job, as one line of JSON; when stdin closes, the program is stopped. stderr: the output of the program, which
inherits it. stdout: the report, as one line of JSON.

Job: `argv`, `environment`, `folder` (or null), `code`, `timeout_s`, `limits` (names of resource limits, each with its
soft and hard value), `memory_bytes` (of all processes together), `processes`, `wrappers` (processes around the program,
which do not count), `harden` (see `_harden`).
Report: `stopped_by` (a value of `Ending`, "stopped" for a closed stdin, or null), `exit_code` or `signal` of a program
that ended by itself, `limit` (what the program said, see inside.py), `left` (processes that could not be ended).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAPBSET_DROP = 24
_LAST_CAPABILITY = 63

_LOOK_S = 0.02  # between two looks at the processes; the end of the program wakes the supervisor at once
_END_S = 5.0  # for ending processes; longer takes only one that hangs inside the kernel

TYPE_CHECKING = False  # that of typing, whose import every run would wait for
if TYPE_CHECKING:
    from typing import Any

    Job = dict[str, Any]


def main() -> None:
    """Read the job, do it, write the report."""
    job = json.loads(sys.stdin.buffer.readline())
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    print(json.dumps(supervise(job)), flush=True)


def supervise(job: Job) -> dict[str, object]:
    """Start the program, wait for its end or end it; returns the report."""
    source = os.memfd_create("program")
    with open(source, "wb", closefd=False) as file:
        file.write(job["code"].encode("utf-8", "replace"))
    os.lseek(source, 0, os.SEEK_SET)
    limit_read, limit_write = os.pipe()
    deadline = time.monotonic() + job["timeout_s"]
    program = _start(job, source, limit_write)
    os.close(limit_write)
    try:
        report = _watch(job, program, deadline=deadline)
    finally:
        left = _end_all(program)
    os.set_blocking(limit_read, False)
    try:
        limit = os.read(limit_read, 100).decode("ascii", "replace")
    except BlockingIOError:  # a process that could not be ended holds it open
        limit = ""
    return {**report, "limit": limit, "left": left}


# Start


def _start(job: Job, source: int, limit: int) -> int:
    program = os.fork()
    if program:
        return program
    try:
        _become(job, source, limit)
    except BaseException as error:  # nothing may return into the supervisor's own code
        os.write(2, f"The program could not be started: {error}\n".encode())
    os._exit(127)


def _become(job: Job, source: int, limit: int) -> None:
    """Turn this process, which was just forked, into the program."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    os.set_inheritable(source, True)
    os.set_inheritable(limit, True)
    if job["folder"]:
        os.chdir(job["folder"])
    if job["harden"]:
        _harden()
    for name, (soft, hard) in job["limits"].items():
        _limit(getattr(resource, name), soft, hard)
    os.execve(job["argv"][0], [*job["argv"], str(source), str(limit)], job["environment"])


def _harden() -> None:
    """Take from root, and from programs with the setuid bit, what could lift the limits."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    if os.geteuid() == 0:
        for capability in range(_LAST_CAPABILITY + 1):
            _prctl(PR_CAPBSET_DROP, capability)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _limit(kind: int, soft: int, hard: int) -> None:
    """Set a limit, but never above the one that this process has itself."""
    highest = resource.getrlimit(kind)[1]
    if highest != resource.RLIM_INFINITY:
        soft, hard = min(soft, highest), min(hard, highest)
    resource.setrlimit(kind, (soft, hard))


# Watch


def _watch(job: Job, program: int, *, deadline: float) -> dict[str, object]:
    """Wait until the program ends or has to be stopped. It is not reaped yet, so that its number stays its own."""
    while True:
        ended = os.waitid(os.P_PID, program, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is not None:
            by_itself = ended.si_code == os.CLD_EXITED
            return {"stopped_by": None, "exit_code" if by_itself else "signal": ended.si_status}
        _reap_orphans(program)
        reason = _exceeded(job, deadline)
        if reason is not None:
            return {"stopped_by": reason}
        signal.sigtimedwait({signal.SIGCHLD}, max(0.0, min(_LOOK_S, deadline - time.monotonic())))


def _exceeded(job: Job, deadline: float) -> str | None:
    if time.monotonic() >= deadline:
        return "timeout"
    if select.select([0], [], [], 0)[0]:
        return "stopped"
    processes = descendants()
    count = len(processes) - job["wrappers"]
    if count > job["processes"]:
        return "processes"
    # One process alone is bound by its address space.
    if count > 1 and sum(map(memory, processes)) > job["memory_bytes"]:
        return "memory"
    return None


def _reap_orphans(program: int) -> None:
    for child in children(os.getpid()):
        if child != program:
            os.waitpid(child, os.WNOHANG)


def children(process: int) -> list[int]:
    """Its children by its own account; none when it is gone."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208  # without pathlib, which is slow to import
            with open(f"/proc/{process}/task/{task}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    except (FileNotFoundError, ProcessLookupError):
        return found
    return found


def descendants() -> list[int]:
    """All processes below this one."""
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children(waiting.pop())
        found += below
        waiting += below
    return found


def memory(process: int) -> int:
    """Bytes of memory; pages that several processes share are divided among them, where the kernel tells."""
    try:
        with open(f"/proc/{process}/smaps_rollup", "rb") as file:  # noqa: PTH123  # as above
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:  # it is gone, or its memory is not for us to see
        return _resident(process)
    return 0


def _resident(process: int) -> int:
    try:
        with open(f"/proc/{process}/statm", "rb") as file:  # noqa: PTH123  # as above
            return int(file.read().split()[1]) * resource.getpagesize()
    except (FileNotFoundError, ProcessLookupError):
        return 0


# End


def _end_all(program: int) -> int:
    """Kill and reap until no child is left; returns how many were still there when the time for it was over.

    The session goes first, at one blow, so that nothing in it can start something new. What had left it has this
    process as its parent or loses its parents to the next blow; so one without children has ended them all.
    """
    deadline = time.monotonic() + _END_S
    _kill(-program)
    while time.monotonic() < deadline:
        for process in descendants():
            _kill(process)
        if not _reap():
            return 0
        time.sleep(0.001)
    return len(descendants())


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def _reap() -> bool:
    """Reap what has ended; returns whether there are children left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


if __name__ == "__main__":
    main()
