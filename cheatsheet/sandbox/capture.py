"""The output of a program: as much of it as is kept, as text."""

from __future__ import annotations

import codecs

_CONTINUATION = bytes(range(0x80, 0xC0))  # bytes inside a UTF-8 character, after its first


class Capture:
    """Beginning and end of a stream of bytes, in bounded memory.

    Args:
        limit_bytes: kept at most.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._tail_size = limit_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, chunk: bytes) -> None:
        """Take in the next bytes."""
        self.total += len(chunk)
        self._head += chunk[: self._limit - len(self._head)]
        if self._tail_size:
            self._tail += chunk
            del self._tail[: -self._tail_size]

    @property
    def truncated(self) -> bool:
        """Whether something had to be left out."""
        return self.total > self._limit

    def text(self) -> str:
        """What was kept, decoded as UTF-8; bytes that are none become U+FFFD, characters are never cut in two."""
        if not self.truncated:
            return self._head.decode("utf-8", "replace")
        whole = codecs.getincrementaldecoder("utf-8")("replace")
        beginning = whole.decode(bytes(self._head[: self._limit - self._tail_size]))
        end = _from_character(bytes(self._tail)).decode("utf-8", "replace")
        return f"{beginning}\n[… {self.total - self._limit} bytes left out …]\n{end}"


def _from_character(data: bytes) -> bytes:
    """The bytes from the first that begins a character, which is one of the first four in any text."""
    return data[:3].lstrip(_CONTINUATION) + data[3:]
