"""CSV: every field of every answer, readable by any program, and harmless in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.evaluation.reports.page.answers import answers_of
from cheatsheet.evaluation.reports.page.content import Report
from cheatsheet.evaluation.reports.page.spreadsheet import COLUMNS, guarded, write_csv
from cheatsheet.evaluation.runs.rows import Row

STARTS = ("=", "+", "-", "@", "\t=", "\r+", " =", "＝", "＋", "－", "＠")


def _written(report: Report) -> str:
    text = io.StringIO(newline="")
    write_csv(report, text)
    return text.getvalue()


def _read(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_written(report), newline=""), strict=True))


def _bare(text: str) -> str:
    return text.removeprefix("'")


def test_every_answer_with_every_field(three_orders: Report) -> None:
    rows = _read(three_orders)
    assert len(rows) == 3 * 4 * 30
    assert tuple(rows[0]) == COLUMNS
    assert set(Row.model_fields) < set(COLUMNS)
    first = next(row for row in rows if row["arm"] == "retrieval")
    assert (first["task"], first["model"], first["order"]) == ("colours", "fake/model", "seed 1")
    assert (first["correct"], first["prompt_tokens"], first["cost_usd"]) == ("false", "210", "")
    assert json.loads(first["ledger"])[0]["reason"] == "It fits whole."
    assert json.loads(first["learnt"])[0]["content"] == "Thing 0 is amber, not cobalt."


def test_hostile_texts_come_back_as_they_were(hostile: Report) -> None:
    rows = _read(hostile)
    for row, answer in zip(rows, answers_of(hostile), strict=True):
        for name in ("question", "answer", "target", "reply", "context", "error"):
            assert _bare(row[name]) == getattr(answer.row, name)
        assert tuple(json.loads(row["notes"] or "[]")) == answer.row.notes


def test_no_cell_is_computed(hostile: Report) -> None:
    cells = [cell for row in _read(hostile) for cell in row.values()]
    assert '\'=HYPERLINK("http://evil.example","click")' in cells
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]


def test_lines_end_as_rfc_4180_says(three_orders: Report) -> None:
    text = _written(three_orders)
    assert text.endswith("\r\n")
    assert text.count("\r\n") == 1 + 3 * 4 * 30


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("-5", "-5"), ("+3.5e2", "+3.5e2"), ("-inf", "-inf"), ("-5+cmd|' /C calc'!A0", "'-5+cmd|' /C calc'!A0"),
        ("=1+1", "'=1+1"), (" @SUM(A1)", "' @SUM(A1)"), ("＝1", "'＝1"), ("'quoted'", "''quoted'"), ("amber", "amber"),
        ("", ""), ("-٣", "'-٣"), ("–5", "–5"),
    ],
)  # fmt: skip
def test_what_a_spreadsheet_would_compute_is_guarded(text: str, cell: str) -> None:
    assert guarded(text) == cell


@given(st.text() | st.tuples(st.sampled_from(STARTS), st.text()).map("".join))
def test_the_guard_takes_nothing_away_and_lets_no_formula_through(text: str) -> None:
    cell: Any = guarded(text)
    assert _bare(cell) == text
    assert not cell.lstrip().startswith(("=", "@", "＝", "＋", "－", "＠"))
