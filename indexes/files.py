"""How an index is kept in a file.

    8 bytes   magic, "CHEATIDX"
    4 bytes   length of the header
    header    JSON: format, kind, dim, count, fingerprint, watermark, parts
    4 bytes   CRC-32 of all that stands before it
    ids       int64 [count]
    rows      float32 [count, dim]
    parts     what an implementation keeps besides, each as the header describes it
    4 bytes   CRC-32 of all that stands before it

All numbers are little-endian. Nothing in it is executed when it is read, unlike a pickle. The
checksums find damage, not malice: CRC-32 reads 2 GB/s where SHA-256 reads 0.8, and an index is
read at every start. The header has one of its own, because its sizes say how much memory to take
before the rest can be checked.

The rows are read whole and not mapped into memory: every byte has to be read for the checksum, and what
happens to a mapped file afterwards would change the answers, or end the process.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from indexes.errors import IndexFileError
from indexes.rows import rows_per_block
from indexes.vectors import Matrix

MAGIC = b"CHEATIDX"
FORMAT = 2
PIECE = 1 << 24
"""Bytes that are read or written, and added to the checksum, at one time."""

_PREFIX = struct.Struct("<8sI")
_CHECKSUM = struct.Struct("<I")
_REMEDY = "Delete the file and build the index again."

Part = npt.NDArray[Any]


class SavedIndex(NamedTuple):
    """What a file of an index holds.

    Attributes:
        kind: which implementation wrote it.
        dim: length of a row.
        fingerprint: what the rows were made by, in the words of the writer; may be empty.
        watermark: up to where the rows are right, in the words of the writer; may be empty.
        ids: int64 `[n]`.
        rows: `[n, dim]` in blocks, `rows_per_block(dim)` rows in each but the last.
        parts: arrays that an implementation keeps besides, by their names.
    """

    kind: str
    dim: int
    fingerprint: str
    watermark: str
    ids: npt.NDArray[np.int64]
    rows: Sequence[Matrix]
    parts: Mapping[str, Part]


def write_index(path: Path, saved: SavedIndex) -> None:
    """Write `saved` to `path`, replacing the file whole or not at all.

    Raises:
        IndexFileError: the file cannot be written; what was at `path` is left as it is.
    """
    # In the same folder, because a rename is atomic only within one file system.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("xb") as file:
            draft.chmod(0o600)  # for its owner alone, before anything is in it
            _write(file, saved)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise IndexFileError(f"The index file {path} cannot be written: {error.strerror or error}.") from error
    finally:
        if draft.exists():
            draft.unlink()


def read_index(path: Path, *, kind: str, fingerprint: str | None) -> SavedIndex:
    """Read the index of this `kind` at `path`; `fingerprint` must agree unless it is None.

    Raises:
        IndexFileError: the file is missing, damaged, of another kind, format or fingerprint.
    """
    try:
        with path.open("rb", buffering=0) as file:
            reader = _Reader(path, file)
            header = _header(reader)
            _refuse_another(path, header, kind, fingerprint)
            return _content(reader, header)
    except OSError as error:
        raise IndexFileError(f"There is no index file to read at {path}: {error.strerror or error}.") from error


def _refuse_another(path: Path, header: Mapping[str, Any], kind: str, fingerprint: str | None) -> None:
    if header["kind"] != kind:
        raise IndexFileError(f"{path} holds an index of kind {header['kind']!r}, not {kind!r}. {_REMEDY}")
    if fingerprint is not None and header["fingerprint"] != fingerprint:
        raise IndexFileError(
            f"The index in {path} was made by {header['fingerprint']!r}, but {fingerprint!r} is in use. "
            f"Vectors of different models cannot be mixed. {_REMEDY}"
        )


def _write(file: BinaryIO, saved: SavedIndex) -> None:
    parts = {name: _plain(part) for name, part in saved.parts.items()}
    header = {
        "format": FORMAT,
        "kind": saved.kind,
        "dim": saved.dim,
        "count": len(saved.ids),
        "fingerprint": saved.fingerprint,
        "watermark": saved.watermark,
        "parts": [[name, part.dtype.str, list(part.shape)] for name, part in parts.items()],
    }
    text = json.dumps(header).encode()
    checksum = _write_all(file, [_PREFIX.pack(MAGIC, len(text)), text], 0)
    checksum = _write_all(file, [_CHECKSUM.pack(checksum)], checksum)
    checksum = _write_all(file, map(_bytes, [_plain(saved.ids), *map(_plain, saved.rows), *parts.values()]), checksum)
    file.write(_CHECKSUM.pack(checksum))


def _write_all(file: BinaryIO, contents: Iterable[bytes | memoryview], checksum: int) -> int:
    for content in contents:
        for start in range(0, len(content), PIECE):
            piece = content[start : start + PIECE]
            file.write(piece)
            checksum = zlib.crc32(piece, checksum)
    return checksum


def _plain(array: Part) -> Part:
    """`array` in one piece and little-endian, as it stands in the file; itself where it is so already."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def _bytes(array: Part) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


class _Reader:
    """Reads on and on, and keeps the checksum of what it has read."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self.left = os.fstat(file.fileno()).st_size
        self._file = file
        self._checksum = 0

    def array(self, shape: tuple[int, ...], dtype: str) -> Part:
        """The next array, in the byte order of this machine."""
        if math.prod(shape) * np.dtype(dtype).itemsize > self.left:
            raise self.damaged("it is cut off")
        array = np.empty(shape, dtype=dtype)
        self._fill(_bytes(array))
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def bytes(self, length: int) -> bytes:
        return self.array((length,), "u1").tobytes()

    def check(self) -> None:
        """Read a checksum, and raise `IndexFileError` unless it is that of what came before it."""
        expected = self._checksum
        if _CHECKSUM.unpack(self.bytes(_CHECKSUM.size)) != (expected,):
            raise self.damaged("its checksum is wrong")

    def damaged(self, how: str) -> IndexFileError:
        return IndexFileError(f"The index file {self.path} is damaged: {how}. {_REMEDY}")

    def _fill(self, content: memoryview) -> None:
        for start in range(0, len(content), PIECE):
            piece = content[start : start + PIECE]
            self._read(piece)
            self._checksum = zlib.crc32(piece, self._checksum)

    def _read(self, piece: memoryview) -> None:
        while len(piece):
            got = cast(Any, self._file).readinto(piece)
            if not got:
                raise self.damaged("it is cut off")
            self.left -= got
            piece = piece[got:]


def _header(reader: _Reader) -> dict[str, Any]:
    if reader.left < _PREFIX.size + _CHECKSUM.size:
        raise IndexFileError(f"{reader.path} is not an index file. {_REMEDY}")
    magic, length = _PREFIX.unpack(reader.bytes(_PREFIX.size))
    if magic != MAGIC:
        raise IndexFileError(f"{reader.path} is not an index file. {_REMEDY}")
    text = reader.bytes(length)
    _refuse_format(reader.path, text)
    reader.check()
    header: dict[str, Any] = json.loads(text)
    return header


def _refuse_format(path: Path, text: bytes) -> None:
    """Raise for a whole header of another format, in which the checksum may stand elsewhere."""
    try:
        format = json.loads(text)["format"]
    except (ValueError, KeyError, TypeError):
        return
    if format != FORMAT:
        raise IndexFileError(f"The index file {path} has format {format}; this version reads {FORMAT}. {_REMEDY}")


def _content(reader: _Reader, header: Mapping[str, Any]) -> SavedIndex:
    """What stands behind a header, whose checksum was right."""
    count, dim = header["count"], header["dim"]
    ids = reader.array((count,), "<i8")
    step = rows_per_block(dim)
    rows = [reader.array((min(step, count - start), dim), "<f4") for start in range(0, count, step)]
    parts = {name: reader.array(tuple(shape), dtype) for name, dtype, shape in header["parts"]}
    reader.check()
    if reader.left:
        raise reader.damaged(f"{reader.left} bytes follow its end")
    return SavedIndex(header["kind"], dim, header["fingerprint"], header["watermark"], ids, rows, parts)
