"""The system calls that change a file, by their numbers, and what a stop at one tells."""

from __future__ import annotations

import ctypes
import os
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_GET_SYSCALL_INFO = 0x420E
# struct ptrace_syscall_info: begin (1) or end (2) of a call, the architecture, two addresses, the call, its arguments.
_INFO = struct.Struct("=B3xIQQQ6Q")
_BEGINS = 1

X86_64 = 0xC000003E
AARCH64 = 0xC00000B7
_NUMBERS: dict[int, dict[int, str]] = {
    X86_64: {
        1: "write",
        18: "pwrite64",
        20: "writev",
        74: "fsync",
        75: "fdatasync",
        76: "truncate",
        77: "ftruncate",
        82: "rename",
        83: "mkdir",
        86: "link",
        87: "unlink",
        257: "openat",
        258: "mkdirat",
        263: "unlinkat",
        264: "renameat",
        265: "linkat",
        285: "fallocate",
        296: "pwritev",
        316: "renameat2",
    },
    AARCH64: {
        34: "mkdirat",
        35: "unlinkat",
        37: "linkat",
        38: "renameat",
        45: "truncate",
        46: "ftruncate",
        47: "fallocate",
        56: "openat",
        64: "write",
        66: "writev",
        68: "pwrite64",
        70: "pwritev",
        82: "fsync",
        83: "fdatasync",
        276: "renameat2",
    },
}
# Those whose first argument is an open file.
_ON_OPEN_FILES = {"write", "pwrite64", "writev", "pwritev", "fsync", "fdatasync", "ftruncate", "fallocate"}

_TAKE_AWAY = {"unlink", "unlinkat", "truncate", "ftruncate"}


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that is about to change a file, or to write to a pipe.

    Attributes:
        target: the path of an open file, `pipe:[…]` for a pipe; empty where the call is given a path.
    """

    name: str
    target: str
    architecture: int

    @property
    def stores(self) -> bool:
        """Whether it puts something on a disk; it writes to no pipe, and takes nothing away."""
        return self.name not in _TAKE_AWAY and not self.target.startswith("pipe:")


def call_at(stopped: int) -> Call | None:
    """The call that begins where a process is stopped; None where none begins, or one that changes no file."""
    buffer = ctypes.create_string_buffer(_INFO.size)
    ptrace(_GET_SYSCALL_INFO, stopped, _INFO.size, ctypes.addressof(buffer))
    begins, architecture, _, _, number, *arguments = _INFO.unpack(buffer.raw)
    name = _NUMBERS.get(architecture, {}).get(number, "")
    if begins != _BEGINS or not name or (name == "openat" and not arguments[2] & os.O_CREAT):
        return None
    target = Path(f"/proc/{stopped}/fd/{arguments[0]}") if name in _ON_OPEN_FILES else None
    return Call(name, str(target.readlink()) if target else "", architecture)


def ptrace(request: int, child: int, address: int = 0, data: int = 0) -> None:
    """Call ptrace.

    Raises:
        OSError: the system does not do it.
    """
    ctypes.set_errno(0)
    if _libc().ptrace(request, child, address, data) == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"ptrace: {os.strerror(code)}")


@cache
def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    return libc
