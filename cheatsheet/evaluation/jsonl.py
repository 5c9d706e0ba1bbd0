"""JSON Lines: appended so that a crash costs the last line at most, read so that nothing is lost in silence."""

from __future__ import annotations

import codecs
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from cheatsheet.errors import StoreError, TaskError


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One JSON object and the number of the line it stands on, from 1."""

    line: int
    value: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """What a file holds.

    Attributes:
        torn: the bytes of a last line that was not written to its end; empty when the file is whole.
        size: bytes of the file.
    """

    records: tuple[Record, ...] = ()
    torn: bytes = b""
    size: int = 0


def encode(value: Any) -> bytes:
    """One line in UTF-8, ended by a line feed on every system.

    Half of a surrogate pair, which models do send, has no UTF-8; it is written as the JSON escape that it came from.

    Raises:
        ValueError: NaN or infinity, which JSON does not have.
        TypeError: a value that JSON does not have.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", errors="backslashreplace") + b"\n"


def parse(data: bytes, *, source: str) -> Lines:
    r"""Read lines that hold one JSON object each.

    Lines end at "\n" alone, since U+2028 and its like may stand inside a string. Blank lines are skipped, and objects
    glued together on one line are read one by one.

    Raises:
        TaskError: a line that ends as it should and cannot be read; names `source` and the line.
    """
    *whole, tail = data.split(b"\n")
    records = [record for number, line in enumerate(whole, start=1) for record in _records(line, number, source)]
    try:
        records += _records(tail, len(whole) + 1, source)
    except TaskError:
        return Lines(records=tuple(records), torn=tail, size=len(data))
    return Lines(records=tuple(records), size=len(data))


def mend(path: Path) -> Lines:
    """Read a file that was appended to, and make it fit to be appended to again.

    A torn last line moves to `<name>.torn`; a last line that lacks only its line feed gets it. A file that does not
    exist is an empty one.

    Raises:
        TaskError: as `parse`.
        StoreError: it cannot be read or written; it is as it was, and at the most its torn line is set aside as well.
    """
    try:
        data = path.read_bytes() if path.exists() else b""
        lines = parse(data, source=str(path))
        if lines.torn:
            _append(path.with_name(f"{path.name}.torn"), lines.torn + b"\n")
            _cut(path, lines.size - len(lines.torn))
        elif data and not data.endswith(b"\n"):
            _append(path, b"\n")
    except OSError as error:
        raise _refused(path, error) from error
    return lines


class Appender:
    """Appends lines to one file; each is on the disk when `append` returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = path.open("ab", buffering=0)  # what could not be written must not come later
        except OSError as error:
            raise _refused(path, error) from error

    def append(self, value: Any) -> None:
        """Write one line.

        Raises:
            StoreError: it cannot be written, as on a full disk; nothing of it is there then.
            ValueError, TypeError: as `encode`.
        """
        line = encode(value)
        size = os.fstat(self._file.fileno()).st_size
        try:
            while line:
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):  # a piece of a line that is left is set aside when the file is read again
                self._file.truncate(size)
            raise _refused(self._path, error) from error

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Appender:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _refused(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"Cannot write {path}: {error.strerror}. What was written before is there: free some space or make the file "
        f"writable, and resume."
    )


def _records(line: bytes, number: int, source: str) -> list[Record]:
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)
    try:
        return [Record(line=number, value=value) for value in _objects(line.decode("utf-8"))]
    except RecursionError as error:
        raise TaskError(f"{source}, line {number}: the JSON is nested too deeply to be read.") from error
    except ValueError as error:
        raise TaskError(
            f"{source}, line {number} cannot be read: {error}. Each line must be one JSON object in UTF-8."
        ) from error


def _objects(text: str) -> list[dict[str, Any]]:
    decoder = json.JSONDecoder(parse_constant=_no_such_number)
    found: list[dict[str, Any]] = []
    rest = text.strip(" \t\r")
    while rest:
        value, end = decoder.raw_decode(rest)
        if not isinstance(value, dict):
            raise ValueError(f"it holds a {type(value).__name__}, not an object")  # noqa: TRY004 - joins the JSON errors
        found.append(value)
        rest = rest[end:].lstrip(" \t\r")
    return found


def _no_such_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _cut(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)
        os.fsync(file.fileno())
