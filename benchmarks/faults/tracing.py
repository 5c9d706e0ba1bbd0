"""Following a child from one system call that writes to the next, with Linux's ptrace: no compiler, no other tool."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field

from benchmarks.faults.system_calls import X86_64, Call, call_at, ptrace

_TRACEME, _POKEUSER, _SYSCALL, _SETOPTIONS = 0, 6, 24, 0x4200
_OPTIONS = 0x1 | 0x8 | 0x100000  # mark stops at system calls, follow threads, kill the child when this process ends
_AT_SYSCALL = signal.SIGTRAP | 0x80
_WALL = 0x40000000  # wait for threads as well

# Where struct user_regs_struct of x86-64 keeps the number of the call, and what it returns.
_ORIG_RAX, _RAX = 15 * 8, 10 * 8
_NO_CALL = 2**64 - 1


def ask_to_be_traced() -> None:
    """In a child: stop here, so that the parent can follow.

    Raises:
        OSError: this system does not let a parent trace its child.
    """
    ptrace(_TRACEME, 0)
    os.kill(os.getpid(), signal.SIGSTOP)


@dataclass(slots=True, kw_only=True)
class Following:
    """A child on its way, from the stop where it asked to be traced.

    Attributes:
        kill_at: the child is killed before its n-th writing call; 0: never.
        fail_from, fail_until: calls that put something on a disk, from the n-th to before another, fail with the error
            `errno` instead of being done; 0: none. Only on x86-64.
        calls: the writing calls so far, the one that it died of included.
    """

    child: int
    kill_at: int = 0
    fail_from: int = 0
    fail_until: int = 0
    errno: int = 0
    calls: list[Call] = field(default_factory=list)
    _failing: set[int] = field(default_factory=set)

    def follow(self) -> int:
        """Let it go on until it has ended; how it did, as `os.waitpid` says."""
        _, status = os.waitpid(self.child, 0)
        if not os.WIFSTOPPED(status):
            return status
        ptrace(_SETOPTIONS, self.child, 0, _OPTIONS)
        ptrace(_SYSCALL, self.child)
        while True:
            stopped, status = os.waitpid(-1, _WALL)
            if os.WIFSTOPPED(status):
                self._stop(stopped, status)
            elif stopped == self.child:
                return status

    def _stop(self, stopped: int, status: int) -> None:
        if os.WSTOPSIG(status) == _AT_SYSCALL:
            self._system_call(stopped)
        if self.kill_at and len(self.calls) >= self.kill_at:
            os.kill(self.child, signal.SIGKILL)
        else:
            ptrace(_SYSCALL, stopped, 0, _to_deliver(status))

    def _system_call(self, stopped: int) -> None:
        if stopped in self._failing:  # its end
            self._failing.remove(stopped)
            ptrace(_POKEUSER, stopped, _RAX, 2**64 - self.errno)
        elif call := call_at(stopped):
            self.calls.append(call)
            if self.fail_from <= len(self.calls) < self.fail_until and call.stores:
                self._let_fail(stopped, call)

    def _let_fail(self, stopped: int, call: Call) -> None:
        if call.architecture != X86_64:
            raise NotImplementedError("System calls are made to fail on x86-64 only.")
        ptrace(_POKEUSER, stopped, _ORIG_RAX, _NO_CALL)
        self._failing.add(stopped)


def _to_deliver(status: int) -> int:
    """The signal that a stop stands for; 0 where the stop is ptrace's own, or the first of a thread."""
    signalled = os.WSTOPSIG(status)
    return 0 if signalled in (_AT_SYSCALL, signal.SIGTRAP, signal.SIGSTOP) else signalled
