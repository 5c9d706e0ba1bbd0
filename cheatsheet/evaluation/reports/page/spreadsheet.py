"""One row an answer, as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from typing import Any, TextIO

from cheatsheet.evaluation.reports.page.answers import answers_of, flat
from cheatsheet.evaluation.reports.page.content import Report
from cheatsheet.evaluation.runs.rows import Row

COLUMNS = ("task", "model", "order", "run", "arm", *Row.model_fields, "learnt")
"""The columns. `ledger`, `skipped`, `notes` and `learnt` are JSON; what is not known is empty."""

# A spreadsheet computes a cell that begins with one of these, quoted or not; the last four are their wide forms.
_COMPUTED = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_GUARD = "'"


def write_csv(report: Report, stream: TextIO) -> None:
    r"""Write every answer, by RFC 4180: rows end with "\r\n", and a cell with a comma, quote or line break is quoted.

    The stream must leave line ends as they are (`newline=""`).
    """
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for answer in answers_of(report):
        values = flat(answer)
        writer.writerow([_cell(values[name]) for name in COLUMNS])


def guarded(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    A quote is set before what a spreadsheet would compute, unless it is a plain number such as -5, and before a text
    that begins with a quote. So whoever takes away one leading quote has every text as it was.
    """
    bare = text.lstrip()
    computed = bare.startswith(_COMPUTED) and not _is_number(bare)
    return _GUARD + text if computed or text.startswith(_GUARD) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return guarded(value)
    if isinstance(value, list | Mapping):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return json.dumps(value)
