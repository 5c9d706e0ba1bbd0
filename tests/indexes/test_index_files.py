"""What stands in a file of an index, and how damage in each of its regions is found."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from indexes import files
from indexes.errors import IndexFileError
from indexes.files import FORMAT, MAGIC, SavedIndex, read_index, write_index
from indexes.rows import BlockRows
from tests.indexes.implementations import EarlyPQIndex

COUNT, DIM = 50, 8
REMEDY = "Delete the file and build the index again"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with every region: it has codes, and a watermark."""
    index = EarlyPQIndex(DIM, fingerprint="model/8")
    index.add(range(COUNT), np.random.default_rng(0).standard_normal((COUNT, DIM)).astype(np.float32))
    index.save(tmp_path / "index", watermark="version 7")
    return tmp_path / "index"


def regions(path: Path) -> dict[str, range]:
    """Where each region lies in the file."""
    content = path.read_bytes()
    header = 12 + struct.unpack("<I", content[8:12])[0]
    sizes = {"magic": 8, "length": 4, "header": header - 12, "header checksum": 4, "ids": 8 * COUNT}
    sizes |= {"rows": 4 * COUNT * DIM}
    sizes |= dict(_part_sizes(json.loads(content[12:header])))
    sizes["checksum"] = 4
    assert sum(sizes.values()) == len(content)
    starts = np.cumsum([0, *sizes.values()]).tolist()
    return {name: range(start, start + size) for (name, size), start in zip(sizes.items(), starts, strict=False)}


def _part_sizes(header: dict[str, list[tuple[str, str, list[int]]]]) -> list[tuple[str, int]]:
    return [(name, np.dtype(dtype).itemsize * int(np.prod(shape))) for name, dtype, shape in header["parts"]]


def test_the_file_is_what_its_description_says(path: Path) -> None:
    content, where = path.read_bytes(), regions(path)
    assert list(where) == [
        *["magic", "length", "header", "header checksum", "ids", "rows"],
        *["centroids", "codes", "trained_on", "checksum"],
    ]
    assert content[:8] == MAGIC
    assert struct.unpack("<I", content[-4:])[0] == zlib.crc32(content[:-4])
    header = json.loads(content[12 : where["header"].stop])
    assert (header["format"], header["kind"], header["watermark"]) == (FORMAT, "early-pq", "version 7")
    ids = np.frombuffer(content[where["ids"].start : where["ids"].stop], dtype="<i8")
    assert ids.tolist() == list(range(COUNT))


@pytest.mark.parametrize(
    "region",
    ["magic", "length", "header", "header checksum", "ids", "rows", "centroids", "codes", "trained_on", "checksum"],
)
@pytest.mark.parametrize("bits", [0x01, 0xFF])
def test_one_changed_byte_is_found_in_every_region(path: Path, region: str, bits: int) -> None:
    """S01: what cannot be read is never taken for an index that is empty, or for another one."""
    content, where = bytearray(path.read_bytes()), regions(path)[region]
    for place in sorted({where.start, where[len(where) // 2], where.stop - 1}):
        content[place] ^= bits
        path.write_bytes(content)
        with pytest.raises(IndexFileError, match=REMEDY):
            EarlyPQIndex.load(path)
        content[place] ^= bits


@pytest.mark.parametrize("region", ["magic", "header", "header checksum", "ids", "rows", "codes", "checksum"])
def test_a_file_that_is_cut_is_found(path: Path, region: str) -> None:
    where = regions(path)[region]
    for length in (where.start, where.start + 1, where.stop - 1):
        path.write_bytes(path.read_bytes()[:length])
        with pytest.raises(IndexFileError, match=REMEDY):
            EarlyPQIndex.load(path)


def test_an_empty_file_is_no_index(path: Path) -> None:
    path.write_bytes(b"")
    with pytest.raises(IndexFileError, match=f"is not an index file. {REMEDY}"):
        EarlyPQIndex.load(path)


def test_a_file_of_the_first_format_is_named_as_such(path: Path) -> None:
    """It had no watermark, so that nobody can say what its rows are of."""
    header = json.dumps({"format": 1, "kind": "early-pq", "dim": 2, "count": 0, "fingerprint": ""}).encode()
    body = struct.pack("<8sI", MAGIC, len(header)) + header
    path.write_bytes(body + struct.pack("<I", zlib.crc32(body)))
    with pytest.raises(IndexFileError, match=f"has format 1; this version reads 2. {REMEDY}"):
        EarlyPQIndex.load(path)


def test_sizes_that_do_not_fit_the_file_take_no_memory(path: Path) -> None:
    """A header may be whole and still not be of this file, as after two of them were joined."""
    header = json.loads(path.read_bytes()[12 : regions(path)["header"].stop]) | {"count": 1 << 50}
    text = json.dumps(header).encode()
    start = struct.pack("<8sI", MAGIC, len(text)) + text
    path.write_bytes(start + struct.pack("<I", zlib.crc32(start)) + b"\0" * 100)
    with pytest.raises(IndexFileError, match="is damaged: it is cut off"):
        EarlyPQIndex.load(path)


def test_rows_of_several_blocks_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks that are taken over as they are, and written in pieces that end elsewhere."""
    monkeypatch.setattr("indexes.rows.BLOCK_BYTES", 16 * 4 * DIM)
    monkeypatch.setattr(files, "PIECE", 100)
    matrix = np.arange(COUNT * DIM, dtype=np.float32).reshape(COUNT, DIM)
    rows = BlockRows(DIM)
    rows.append(matrix)
    saved = SavedIndex("any", DIM, "", "", np.arange(COUNT), rows.snapshot().blocks, {"extra": np.eye(3)})
    write_index(tmp_path / "index", saved)
    read = read_index(tmp_path / "index", kind="any", fingerprint=None)
    assert [len(block) for block in read.rows] == [16, 16, 16, 2]
    assert np.concatenate(read.rows).tolist() == matrix.tolist()
    assert read.parts["extra"].tolist() == np.eye(3).tolist()
