"""How an index is kept in a file.

    8 bytes   magic, "CHEATIDX"
    4 bytes   length of the header
    header    JSON: format, kind, dim, count, fingerprint
    ids       int64 [count]
    rows      float32 [count, dim]
    4 bytes   CRC-32 of all that stands before it

All numbers are little-endian. Nothing in it is executed when it is read, unlike a pickle. The
checksum finds damage, not malice: CRC-32 reads 2 GB/s where SHA-256 reads 0.8, and an index is
read at every start.
"""

from __future__ import annotations

import json
import os
import secrets
import struct
import zlib
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from indexes.errors import IndexFileError
from indexes.vectors import Matrix

MAGIC = b"CHEATIDX"
FORMAT = 1
_PREFIX = struct.Struct("<8sI")
_CHECKSUM = struct.Struct("<I")


class SavedIndex(NamedTuple):
    """What a file of an index holds.

    Attributes:
        kind: which implementation wrote it.
        dim: length of a row.
        fingerprint: what the rows were made by, in the words of the writer; may be empty.
        ids: int64 `[n]`.
        rows: `[n, dim]`.
    """

    kind: str
    dim: int
    fingerprint: str
    ids: npt.NDArray[np.int64]
    rows: Matrix


def write_index(path: Path, saved: SavedIndex) -> None:
    """Write `saved` to `path`, replacing the file whole or not at all.

    Raises:
        IndexFileError: the file cannot be written; what was at `path` is left as it is.
    """
    # In the same folder, because a rename is atomic only within one file system.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("xb") as file:
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
        IndexFileError: the file is missing, damaged, of another kind or of another fingerprint.
    """
    saved = _parse(path, _read(path))
    if saved.kind != kind:
        raise IndexFileError(f"{path} holds an index of kind {saved.kind!r}, not {kind!r}. {_REMEDY}")
    if fingerprint is not None and saved.fingerprint != fingerprint:
        raise IndexFileError(
            f"The index in {path} was made by {saved.fingerprint!r}, but {fingerprint!r} is in use. "
            f"Vectors of different models cannot be mixed. {_REMEDY}"
        )
    return saved


_REMEDY = "Delete the file and build the index again."


def _write(file: BinaryIO, saved: SavedIndex) -> None:
    header = {
        "format": FORMAT,
        "kind": saved.kind,
        "dim": saved.dim,
        "count": len(saved.ids),
        "fingerprint": saved.fingerprint,
    }
    text = json.dumps(header).encode()
    checksum = 0
    for part in (
        _PREFIX.pack(MAGIC, len(text)),
        text,
        np.ascontiguousarray(saved.ids, dtype="<i8").data,
        np.ascontiguousarray(saved.rows, dtype="<f4").data,
    ):
        file.write(part)
        checksum = zlib.crc32(part, checksum)
    file.write(_CHECKSUM.pack(checksum))


def _read(path: Path) -> memoryview:
    try:
        return memoryview(path.read_bytes())
    except OSError as error:
        raise IndexFileError(f"There is no index file to read at {path}: {error.strerror or error}.") from error


def _parse(path: Path, data: memoryview) -> SavedIndex:
    if len(data) < _PREFIX.size + _CHECKSUM.size or data[: len(MAGIC)] != MAGIC:
        raise IndexFileError(f"{path} is not an index file. {_REMEDY}")
    body, (checksum,) = data[: -_CHECKSUM.size], _CHECKSUM.unpack(data[-_CHECKSUM.size :])
    if zlib.crc32(body) != checksum:
        raise IndexFileError(f"The index file {path} is damaged: its checksum is wrong. {_REMEDY}")
    _, length = _PREFIX.unpack(body[: _PREFIX.size])
    try:
        header = json.loads(bytes(body[_PREFIX.size : _PREFIX.size + length]))
        if header["format"] == FORMAT:
            return _arrays(header, body[_PREFIX.size + length :])
    except (ValueError, KeyError, TypeError) as error:
        raise IndexFileError(f"The index file {path} has a header that cannot be read. {_REMEDY}") from error
    raise IndexFileError(f"The index file {path} has format {header['format']}; this version reads {FORMAT}. {_REMEDY}")


def _arrays(header: dict[str, Any], body: memoryview) -> SavedIndex:
    count, dim = header["count"], header["dim"]
    ids = np.frombuffer(body[: 8 * count], dtype="<i8")
    rows = np.frombuffer(body[8 * count :], dtype="<f4").reshape(count, dim)
    return SavedIndex(
        header["kind"],
        dim,
        header["fingerprint"],
        ids.astype(np.int64, copy=False),
        rows.astype(np.float32, copy=False),
    )
