"""Bytes become lines, within a limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

MAX_LINE_BYTES: Final = 8 * 1024 * 1024


class LineBuffer:
    """Cuts a stream of bytes into lines.

    A peer that never ends its line cannot make it grow: it holds at most `max_bytes` and the last chunk
    (openai/codex#31805).

    Attributes:
        overflowed: a line was longer than the limit; nothing more is read.
    """

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self.max_bytes = max_bytes
        self.overflowed = False
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that the chunk completes, without their ends; those before one that is too long come as well."""
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            self._add(piece)
            if self.overflowed:
                return
            yield self._take()
        self._add(rest)

    def end(self) -> bytes:
        """The last line, where its end is missing."""
        return self._take()

    def _add(self, piece: bytes) -> None:
        self.overflowed = self.overflowed or len(self._rest) + len(piece) > self.max_bytes
        if self.overflowed:
            self._rest.clear()
        else:
            self._rest += piece

    def _take(self) -> bytes:
        line = bytes(self._rest)
        self._rest.clear()
        return line
