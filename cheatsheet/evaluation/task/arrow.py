"""Columns of Apache Arrow as rows: Parquet files, and what `datasets` holds in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cheatsheet.errors import MissingExtraError, TaskError
from cheatsheet.evaluation.task.raw import RawSample

if TYPE_CHECKING:
    import pyarrow

INSTALL = "pip install 'cheatsheet[datasets]'"


def read_parquet(data: bytes, *, source: str) -> tuple[RawSample, ...]:
    """The rows of a Parquet file.

    Raises:
        TaskError: it cannot be read.
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"Parquet files need pyarrow, which is not installed: {INSTALL}.") from error
    try:
        return rows_of(pyarrow.parquet.read_table(pyarrow.BufferReader(data)))
    except pyarrow.ArrowException as error:
        raise TaskError(f"The task file {source} cannot be read as Parquet: {error}") from error


def rows_of(table: pyarrow.Table, *, labels: Mapping[str, Sequence[str]] | None = None) -> tuple[RawSample, ...]:
    """The rows of a table. What JSON cannot hold is left out of its row: bytes such as images, and NaN.

    Args:
        labels: for a column of numbers that stand for names, these names by their number.
    """
    return tuple(
        RawSample(place=f"row {number}", values=_plain(row, labels or {}))
        for number, row in enumerate(table.to_pylist(), start=1)
    )


def _plain(row: Mapping[str, Any], labels: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in row.items():
        try:
            kept[name] = json.loads(json.dumps(value, default=_as_text, allow_nan=False))
        except (TypeError, ValueError):
            continue
        # A label of -1 says that the data set keeps the answer to itself.
        if name in labels and isinstance(value, int):
            kept[name] = labels[name][value] if value >= 0 else None
    return kept


def _as_text(value: Any) -> str:
    """Dates, times, decimals and the like."""
    if isinstance(value, bytes):
        raise TypeError("bytes are no text")
    return str(value)
