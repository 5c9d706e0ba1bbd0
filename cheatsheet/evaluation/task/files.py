"""Task files: JSON Lines, comma or tab separated tables, Parquet; each may be packed with gzip."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

from cheatsheet.errors import TaskError
from cheatsheet.evaluation import jsonl
from cheatsheet.evaluation.task.arrow import read_parquet
from cheatsheet.evaluation.task.raw import RawSample, RawTask

SEPARATORS = {".csv": ",", ".tsv": "\t"}


def read_file(path: Path) -> RawTask:
    """The questions of a file. Its ending says what it is; without a known one it is read as JSON Lines.

    Raises:
        TaskError: it cannot be read; names the line.
        MissingExtraError: it is a Parquet file, and pyarrow is not installed.
    """
    bare = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    data = _bytes_of(path)
    ending = bare.suffix.lower()
    return RawTask(
        name=bare.stem,
        path=str(path),
        samples=_samples(data, ending, str(path)),
        sha256=hashlib.sha256(data).hexdigest(),
        strict=ending not in (*SEPARATORS, ".parquet"),
    )


def _samples(data: bytes, ending: str, source: str) -> tuple[RawSample, ...]:
    if ending in SEPARATORS:
        return tuple(_table_rows(data, SEPARATORS[ending], source))
    if ending == ".parquet":
        return read_parquet(data, source=source)
    return _json_rows(data, source)


def _bytes_of(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = "" if path.exists() else " What is no file is named hf:NAME or package.module:name."
        raise TaskError(f"The task file {path} cannot be read: {error.strerror}.{hint}") from error
    if path.suffix.lower() != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise TaskError(f"The task file {path} cannot be unpacked: {error}. Was it written to its end?") from error


def _json_rows(data: bytes, source: str) -> tuple[RawSample, ...]:
    lines = jsonl.parse(data, source=source)
    if lines.torn:
        number = data.count(b"\n") + 1
        raise TaskError(f"{source}, line {number}: the last line is not whole JSON. Was the file written to its end?")
    return tuple(RawSample(place=f"line {record.line}", values=record.value) for record in lines.records)


def _table_rows(data: bytes, separator: str, source: str) -> Iterator[RawSample]:
    """The rows below the header. An empty cell is no value; a row is named by its first line."""
    # Strict: a quotation mark that is not closed is a torn file, not a cell that reaches to its end.
    reader = csv.reader(io.StringIO(_decoded(data, source), newline=""), delimiter=separator, strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            if cells and header is None:
                header = _header(cells, source, line)
            elif cells and header is not None:
                yield _row(header, cells, f"line {line}", source)
            line = reader.line_num + 1
    except csv.Error as error:
        raise TaskError(f"{source}, line {line} cannot be read: {error}.") from error


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise TaskError(f"{source}, line {number} is not UTF-8. Save the table as UTF-8.") from error


def _header(cells: list[str], source: str, line: int) -> list[str]:
    names = [cell.strip() for cell in cells]
    twin = next((name for name in names if names.count(name) > 1), None)
    if twin is not None:
        raise TaskError(f"{source}, line {line}: two columns are named {twin!r}. The first line must name each column.")
    return names


def _row(header: list[str], cells: list[str], place: str, source: str) -> RawSample:
    if len(cells) != len(header):
        raise TaskError(
            f"{source}, {place}: the row has {len(cells)} cells, the header {len(header)}. Put a cell that holds the "
            f"separator or a quotation mark between quotation marks."
        )
    return RawSample(place=place, values={name: cell or None for name, cell in zip(header, cells, strict=True)})
