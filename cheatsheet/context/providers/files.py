"""Reading files of a folder that may be in any state: every outcome is a value."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import md5
from pathlib import Path
from typing import Final, Literal

from cheatsheet.context.fence import printable
from cheatsheet.context.home import is_within

Health = Literal["ok", "missing", "empty", "oversized", "unreadable", "not-utf8", "outside"]

# Of a larger file the beginning and the size stand for the whole.
HASHED_BYTES: Final = 16 * 1024 * 1024
_FOLDER_DEPTH: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFact:
    """What is known of a file without its text.

    Attributes:
        path: below its folder, with `/`, as text; bytes of a name that are not UTF-8 are written `\\xff`.
        digest: MD5 of its content, or an empty string where it could not be read.
        why: what is wrong with it, as the rest of a sentence that starts with its path.
    """

    path: str
    health: Health
    digest: str = ""
    size_bytes: int = 0
    modified_at: datetime | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """A file as it was read.

    Attributes:
        text: its beginning (its end, for a log) as far as the limit goes, with `\\n` as line breaks and without a byte
            order mark; empty where it could not be read.
        data: the bytes of that text.
    """

    fact: FileFact
    text: str = ""
    data: bytes = b""


@dataclass(slots=True)
class Walk:
    """The files below a folder, each real file once, by name.

    Attributes:
        files: paths below the folder, in order.
        skipped: sentences about what was passed over.
    """

    files: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def read_file(
    root: Path, name: str, *, max_bytes: int, tail: bool = False, hashed_bytes: int = HASHED_BYTES
) -> FileRead:
    """Read one file below a folder; links may lead anywhere inside the folder, and nowhere else.

    The path is resolved once, and what was checked is what is opened. Pipes, devices and folders are not waited for.

    Args:
        name: below the folder; a name found in a listing, or one of ours.
        max_bytes: most bytes of text.
        tail: read the last bytes instead of the first.
        hashed_bytes: the digest is that of so many bytes at most, and of the size where the file has more.
    """
    path = printable(name).replace(os.sep, "/")
    try:
        base = os.path.realpath(root)
        target = os.path.realpath(os.path.join(base, name))  # noqa: PTH118  pathlib's resolve raises on loops
        if not is_within(target, base):
            return _bad(path, "outside", "is a link that leads out of the folder, which is not followed")
        return _read(path, target, max_bytes=max_bytes, tail=tail, hashed_bytes=max(hashed_bytes, max_bytes))
    except (FileNotFoundError, NotADirectoryError):
        return _bad(path, "missing", "is not there")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        return _bad(path, "unreadable", f"cannot be read: {getattr(error, 'strerror', None) or error}")


def digest(data: bytes) -> str:
    """MD5, which tells apart what changed and protects nothing."""
    return md5(data, usedforsecurity=False).hexdigest()


def walk_files(root: Path, *, max_files: int) -> Walk:
    """Every file below a folder once; links that lead out of it, back, or nowhere are told and passed over."""
    walk = Walk()
    base = os.path.realpath(root)
    seen: set[str] = set()
    for path, target in _files(base, base, "", {base}, walk):
        if target in seen:
            continue
        if len(walk.files) == max_files:
            walk.skipped.append(f"Only the first {max_files:,} files are looked at.")
            break
        seen.add(target)
        walk.files.append(path)
    return walk


def _files(base: str, folder: str, prefix: str, seen: set[str], walk: Walk) -> Iterator[tuple[str, str]]:
    """Path and resolved path of every file; `seen` are the resolved folders."""
    if prefix.count("/") > _FOLDER_DEPTH:
        walk.skipped.append(f"{printable(prefix)} lies deeper than {_FOLDER_DEPTH} folders; it is passed over.")
        return
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        if prefix or not isinstance(error, FileNotFoundError):
            walk.skipped.append(f"{printable(prefix) or 'The folder'} cannot be listed: {error.strerror}.")
        return
    for entry in entries:
        path = prefix + entry.name
        target = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(folder, entry.name)  # noqa: PTH118  as above
        if not is_within(target, base):
            walk.skipped.append(f"{printable(path)} is a link that leads out of the folder; it is passed over.")
        elif os.path.isdir(target):  # noqa: PTH112  as above
            if target in seen:
                walk.skipped.append(f"{printable(path)} leads to a folder that was seen before; it is passed over.")
            else:
                seen.add(target)
                yield from _files(base, target, f"{path}/", seen, walk)
        elif os.path.isfile(target):  # noqa: PTH113  as above
            yield path, target
        else:
            walk.skipped.append(f"{printable(path)} leads to no file; it is passed over.")


def _read(path: str, target: str, *, max_bytes: int, tail: bool, hashed_bytes: int) -> FileRead:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(target, flags)
    try:
        known = os.fstat(handle)
        if not stat.S_ISREG(known.st_mode):
            return _bad(path, "unreadable", "is no regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(hashed_bytes)
            part = data[-max_bytes:] if tail else data[:max_bytes]
            if tail and known.st_size > len(data):
                file.seek(-max_bytes, os.SEEK_END)
                part = file.read(max_bytes)
    finally:
        os.close(handle)
    size = max(known.st_size, len(data))
    text, why = _decoded(part, cut=size > len(part))
    health, why = _health(text, why, size=size, max_bytes=max_bytes)
    fact = FileFact(
        path=path,
        health=health,
        digest=digest(data if size <= hashed_bytes else data + str(size).encode()),
        size_bytes=size,
        modified_at=datetime.fromtimestamp(known.st_mtime, UTC),
        why=why,
    )
    return FileRead(fact=fact, text=text, data=part)


def _health(text: str, why: str, *, size: int, max_bytes: int) -> tuple[Health, str]:
    if why:
        return "not-utf8", why
    if size > max_bytes:
        return "oversized", f"has {size:,} bytes, of which {max_bytes:,} are read"
    if not text.strip():
        return "empty", "is empty"
    return "ok", ""


def _decoded(data: bytes, *, cut: bool) -> tuple[str, str]:
    """The text, and what is wrong with it; a character that was cut in half is no mistake of the file."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _lines(data.decode("utf-16", "replace")), "is UTF-16; save it as UTF-8"
    if b"\0" in data:
        return "", "is no text; it is left out"
    for start in range(4 if cut else 1):
        for end in range(4 if cut else 1):
            try:
                return _lines(data[start : len(data) - end].decode("utf-8-sig")), ""
            except UnicodeDecodeError:
                continue
    return _lines(data.decode("utf-8-sig", "replace")), "is not UTF-8; what cannot be read is shown as �"


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _bad(path: str, health: Health, why: str) -> FileRead:
    return FileRead(fact=FileFact(path=path, health=health, why=why))
