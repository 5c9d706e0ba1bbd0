"""Reading the header of a GGUF file: what describes a model, holds its tokenizer, and tells its size.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Package `gguf` reads it as well and is the
judge of this module in the tests, but takes 3 seconds for a vocabulary of 49,000 tokens; this takes 0.1.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Final

from cheatsheet.errors import SetupError

Scalar = int | float | bool | str
Value = Scalar | list[Any]
"""Arrays may hold arrays."""

_STRING: Final = 8
_ARRAY: Final = 9
_NUMBERS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_VERSIONS: Final = (2, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """What a model file says of itself.

    Attributes:
        metadata: every key with its value.
        parameters: weights, summed over the tensors.
    """

    metadata: Mapping[str, Value]
    parameters: int

    @property
    def context_length(self) -> int | None:
        """Tokens that the model was trained for; None when the file does not say."""
        length = self.metadata.get(f"{self.metadata.get('general.architecture')}.context_length")
        return length if isinstance(length, int) else None


@lru_cache(maxsize=16)
def read_header(path: Path) -> GgufHeader:
    """Read the header of a GGUF file; the tensors themselves are not read. Asked again, it is not read again.

    Raises:
        SetupError: the file is missing, is no GGUF file of version 2 or 3, or ends within its header.
    """
    try:
        with path.open("rb") as file:
            return _Header(file, size=path.stat().st_size).read()
    except OSError as error:
        raise SetupError(f"The model file {str(path)!r} cannot be read: {error.strerror}.") from error
    except (ValueError, struct.error) as error:
        raise SetupError(f"{str(path)!r} is not a GGUF file that can be used: {error}.") from error


class _Header:
    def __init__(self, file: BinaryIO, *, size: int) -> None:
        self._file = file
        self._size = size

    def read(self) -> GgufHeader:
        if self._file.read(4) != b"GGUF":
            raise ValueError("it does not begin with 'GGUF'")
        version, tensors, pairs = self._unpack("IQQ")
        if version not in _VERSIONS:
            raise ValueError(f"its version is {version}, and 2 and 3 are understood")
        metadata = {self._string(): self._value(self._kind()) for _ in range(int(pairs))}
        return GgufHeader(metadata=metadata, parameters=sum(self._weights() for _ in range(int(tensors))))

    def _weights(self) -> int:
        self._string()  # the name of the tensor
        (dimensions,) = self._unpack("I")
        shape = self._unpack(f"{dimensions}Q")
        self._unpack("IQ")  # its type and where it lies
        return math.prod(int(size) for size in shape)

    def _value(self, kind: int) -> Value:
        if kind != _ARRAY:
            return self._scalar(kind)
        item_kind = self._kind()
        length = self._length()
        if item_kind in _NUMBERS:
            return list(self._unpack(f"{length}{_NUMBERS[item_kind]}"))
        return [self._value(item_kind) for _ in range(length)]

    def _scalar(self, kind: int) -> Scalar:
        if kind == _STRING:
            return self._string()
        if kind not in _NUMBERS:
            raise ValueError(f"it holds a value of the unknown type {kind}")
        return self._unpack(_NUMBERS[kind])[0]

    def _string(self) -> str:
        return self._file.read(self._length()).decode("utf-8")

    def _kind(self) -> int:
        return int(self._unpack("I")[0])

    def _length(self) -> int:
        """A length that the file can hold, so that a damaged one does not ask for all memory."""
        length = int(self._unpack("Q")[0])
        if length > self._size:
            raise ValueError("it is damaged: a length in it is larger than the file")
        return length

    def _unpack(self, layout: str) -> tuple[Scalar, ...]:
        layout = "<" + layout
        return struct.unpack(layout, self._file.read(struct.calcsize(layout)))
