"""The home directory: who may read it, which names become paths in it, and how files get there.

`~/.cheatsheet` by default. It is created on first use and private to its user: folders 0700, files 0600.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from cheatsheet.errors import SetupError, StoreBusyError, StoreReadOnlyError
from cheatsheet.safety.private import make_private_folder

TEMPLATES: Final = (
    "IDENTITY.md",
    "SOUL.md",
    "AGENTS.md",
    "USER.md",
    "MEMORY.md",
    "TOOLS.md",
    "HEARTBEAT.md",
    "BOOTSTRAP.md",
)
LOCK_FILE: Final = ".context.lock"

_NAME: Final = re.compile(r"[\w.-]{1,64}")
# Windows opens devices by these names, whatever follows the first dot.
_DEVICES: Final = frozenset("con prn aux nul".split()) | {f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedHome:
    """What `create_home` did: names of the files written, and of those that were there and are left as they are."""

    written: tuple[str, ...]
    kept: tuple[str, ...]


def create_home(home: Path, *, overwrite: bool = False) -> CreatedHome:
    """Make the home directory with our templates; a file that is there stays, unless `overwrite`.

    Raises:
        StoreReadOnlyError: the folder or a file in it cannot be written.
    """
    open_home(home)
    written: list[str] = []
    kept: list[str] = []
    for name in TEMPLATES:
        path = path_in(home, name)
        if path.exists() and not overwrite:
            kept.append(name)
        else:
            write_private(path, template(name).encode())
            written.append(name)
    for folder in ("skills", "memory"):
        open_home(home / folder)
    return CreatedHome(written=tuple(written), kept=tuple(kept))


def template(name: str) -> str:
    """The text of one of `TEMPLATES`."""
    return files("cheatsheet.context").joinpath("templates", name).read_text(encoding="utf-8")


def open_home(home: Path) -> None:
    """Make the folder, readable by its owner alone; one that is there keeps its rights.

    Raises:
        StoreReadOnlyError: it cannot be made.
    """
    try:
        make_private_folder(home)
    except OSError as error:
        raise StoreReadOnlyError(
            f"Cannot make the folder {home}: {error.strerror}. Choose another home (CHEATSHEET_HOME), or make it one "
            f"that you may write to."
        ) from error


def path_in(root: Path, *names: str) -> Path:
    """The path of a file below a folder, resolved once: use what is returned, not the names again.

    Every name is 1 to 64 letters, digits, `_`, `.` and `-`. The file need not exist.

    Raises:
        SetupError: a name that is none, or a link that leads out of the folder.
    """
    for name in names:
        _check_name(name)
    base = os.path.realpath(root)
    resolved = os.path.realpath(os.path.join(base, *names))  # noqa: PTH118  pathlib's resolve raises on loops
    if not is_within(resolved, base):
        raise SetupError(
            f"{'/'.join(names)} is a link that leads out of {root}; nothing outside it is read or written. Put the "
            f"file itself there."
        )
    return Path(resolved)


def is_within(resolved: str, base: str) -> bool:
    """Whether a resolved path is the folder itself or below it."""
    return resolved == base or resolved.startswith(base.rstrip(os.sep) + os.sep)


def write_private(path: Path, data: bytes) -> None:
    """Write a file as a whole, readable by its owner alone: whoever reads it meets the old bytes or the new ones.

    Raises:
        StoreReadOnlyError: it cannot be written.
    """
    try:
        _replace(path, data)
    except OSError as error:
        raise StoreReadOnlyError(
            f"Cannot write {path}: {error.strerror}. Make its folder writable, or free some space."
        ) from error


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600 from the start
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def home_lock(home: Path, *, timeout_s: float = 10.0) -> Iterator[None]:
    """One writer at a time, over all processes, for what is read, changed and written back.

    Raises:
        StoreBusyError: another process holds it for longer than the time limit.
        StoreReadOnlyError: the lock file cannot be made.
    """
    import filelock  # 15 ms

    open_home(home)
    lock = filelock.FileLock(path_in(home, LOCK_FILE), timeout=timeout_s, mode=0o600)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise StoreBusyError(
            f"Another process keeps {home} locked for more than {timeout_s:g} s. Try again."
        ) from error
    except OSError as error:
        raise StoreReadOnlyError(f"Cannot write in {home}: {error.strerror}. Make it writable.") from error
    try:
        yield
    finally:
        lock.release()


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or not _is_plain(name):
        raise SetupError(
            f"{name!r} cannot be the name of a file. Use 1 to 64 letters, digits, '_', '.' and '-', such as 'notes.md'."
        )


def _is_plain(name: str) -> bool:
    return not name.endswith(".") and name.split(".")[0].lower() not in _DEVICES
