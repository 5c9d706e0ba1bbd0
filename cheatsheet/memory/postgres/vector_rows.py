"""Vectors as pgvector reads and writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from indexes.vectors import Matrix, Vector


def as_text(vector: Vector) -> str:
    """A vector as pgvector reads it; a float32 comes back as the same float32."""
    return f"[{','.join(map(repr, vector.tolist()))}]"


def from_sent(sent: Sequence[bytes], dim: int) -> Matrix:
    """The vectors that `vector_send` gave: two numbers of two bytes, then float32, all big-endian."""
    kind = np.dtype([("dim", ">u2"), ("unused", ">u2"), ("row", ">f4", (dim,))])
    rows: Matrix = np.frombuffer(b"".join(sent), dtype=kind)["row"].astype(np.float32)
    return rows


def as_binary(space: int, code: int, numbers: Sequence[int], vectors: Matrix) -> bytes:
    """Rows of a table of vectors as COPY takes them in binary: each value after its length in bytes."""
    dim = vectors.shape[1]
    fields: list[tuple[Any, ...]] = [
        ("columns", ">i2"),
        ("space_bytes", ">i4"),
        ("space", ">i4"),
        ("what_bytes", ">i4"),
        ("what", ">i2"),
        ("number_bytes", ">i4"),
        ("number", ">i8"),
        ("row_bytes", ">i4"),
        ("dim", ">u2"),
        ("unused", ">u2"),
        ("row", ">f4", (dim,)),
    ]
    rows = np.zeros(len(numbers), dtype=np.dtype(fields))
    fixed = {"columns": 4, "space_bytes": 4, "what_bytes": 2, "number_bytes": 8, "row_bytes": 4 + 4 * dim}
    for name, value in (fixed | {"space": space, "what": code, "dim": dim}).items():
        rows[name] = value
    rows["number"], rows["row"] = numbers, vectors
    header = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
    return header + rows.tobytes() + b"\xff\xff"
