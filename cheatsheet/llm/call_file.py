"""A file of recorded calls: JSON Lines for its owner alone, appended so that a crash costs the last line at most."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cheatsheet.safety.private import make_private_file, make_private_folder


class CallLine(NamedTuple):
    """One JSON object and the number of the line it stands on, from 1."""

    number: int
    value: Mapping[str, Any]


class Damage(NamedTuple):
    """A line that cannot be read, by its number from 1."""

    number: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLines:
    """What a file of calls holds: the lines that can be read, and those that cannot."""

    values: tuple[CallLine, ...] = ()
    damaged: tuple[Damage, ...] = ()


class CallFile:
    """One file, read whole and appended to.

    Prompts and answers are the user's matter: folders and a file that are made here are for their owner alone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ready = False

    def read(self) -> CallLines:
        """All lines; none where there is no file."""
        content = self.path.read_bytes() if self.path.is_file() else b""
        values: list[CallLine] = []
        damaged: list[Damage] = []
        for number, line in enumerate(content.split(b"\n"), start=1):  # of text, splitlines() would split at U+2028
            if not line.strip():
                continue
            try:
                values.append(CallLine(number, _object(line)))
            except (ValueError, RecursionError) as error:
                damaged.append(Damage(number, str(error)))
        return CallLines(values=tuple(values), damaged=tuple(damaged))

    def append(self, values: Iterable[Mapping[str, Any]]) -> None:
        """Write a line for each value; all are on the disk when this returns.

        Raises:
            OSError: the file cannot be written.
        """
        self.make_ready()
        with self.path.open("ab") as file:
            file.write(b"".join(json.dumps(value).encode("ascii") + b"\n" for value in values))
            file.flush()
            os.fsync(file.fileno())

    def make_ready(self) -> None:
        """Make the file where it is missing; end a line that a crash tore, so that nothing is glued to it."""
        if self._ready:
            return
        make_private_folder(self.path.parent)
        make_private_file(self.path)
        with self.path.open("r+b") as file:
            if file.seek(0, os.SEEK_END) and not _ends_a_line(file):
                file.write(b"\n")
        self._ready = True


def _ends_a_line(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _object(line: bytes) -> Mapping[str, Any]:
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError(f"it holds a {type(value).__name__}, not an object")  # noqa: TRY004 - joins the JSON errors
    return value
