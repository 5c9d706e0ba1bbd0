"""Printing: tables for people, tab-separated lines for pipes, JSON for programs. Results only on stdout."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from typing import Any


def tolerate_encodings() -> None:
    """Let what the terminal's encoding cannot write appear as an escape, instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_json(value: Any) -> None:
    """One JSON document, as it stands in any language; with JSON's escapes where the encoding is not of Unicode."""
    in_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=not in_unicode, indent=2) + "\n")


def print_text(text: str) -> None:
    """A text and a line break."""
    sys.stdout.write(text.rstrip("\n") + "\n")


def print_note(text: str) -> None:
    """Something about the result, on stderr."""
    sys.stderr.write(text.rstrip("\n") + "\n")


def print_embedding(done: int, total: int) -> None:
    """How far the embedding of a whole memory has come, on stderr."""
    print_note(f"embedded {done:,} of {total:,} texts")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
    """A table on a terminal; in a pipe one line a row, cells separated by tabs and never shortened."""
    if not sys.stdout.isatty():
        lines = ["\t".join(_one_line(cell) for cell in row) for row in (columns, *rows)]
        print_text("\n".join(lines))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, title=title or None, box=box.SIMPLE_HEAD, title_justify="left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def _one_line(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
