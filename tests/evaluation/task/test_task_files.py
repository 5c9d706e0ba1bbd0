"""Task files of every kind: the same questions, the same errors."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import MissingExtraError, TaskError
from cheatsheet.evaluation.task import Sample, load_task
from cheatsheet.evaluation.task.files import read_file

ROWS: list[dict[str, Any]] = [
    {"id": "a1", "input": 'Comma, "quote"\nand a second line', "target": "left", "choices": ["left", "right"]},
    {"id": "a2", "input": "Überall 日本", "target": "42", "choices": None},
]
SAMPLES = (
    Sample(id="a1", input=ROWS[0]["input"], target="left", choices=("left", "right")),
    Sample(id="a2", input="Überall 日本", target="42"),
)


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def table(rows: list[dict[str, Any]], separator: str = ",", end: str = "\n") -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(
        {name: json.dumps(value) if isinstance(value, list) else value for name, value in row.items()} for row in rows
    )
    return out.getvalue().encode()


def parquet(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), out)
    return out.getvalue()


KINDS: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "t.jsonl": jsonl,
    "t.csv": table,
    "t.tsv": lambda rows: table(rows, "\t"),
    "t.CSV": lambda rows: "\ufeff".encode() + table(rows, end="\r\n"),
    "t.parquet": parquet,
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_gives_the_same_questions(tmp_path: Path, name: str, packed: bool) -> None:
    data = KINDS[name](ROWS)
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(data) if packed else data)
    task = load_task(path)
    assert task.samples == SAMPLES
    assert (task.name, task.path) == ("t", str(path))
    assert task.sha256 == hashlib.sha256(data).hexdigest()  # of the questions, however they are packed


def test_other_columns_of_a_table_are_metadata(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("question,answer,level\nq,a,3\n\nr,b,\n", encoding="utf-8")
    samples = load_task(tmp_path / "t.csv").samples
    assert [(sample.input, sample.metadata) for sample in samples] == [("q", {"level": "3"}), ("r", {"level": None})]


def test_what_json_cannot_hold_is_left_out_of_parquet(tmp_path: Path) -> None:
    rows = [{"question": "q", "answer": 1.5, "picture": b"\x89PNG", "mean": float("nan"), "nested": {"deep": [1]}}]
    (tmp_path / "t.parquet").write_bytes(parquet(rows))
    assert load_task(tmp_path / "t.parquet").samples == (
        Sample(id="1", input="q", target="1.5", metadata={"nested": {"deep": [1]}}),
    )


@given(
    st.lists(st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]), min_size=1)] * 2), min_size=1, max_size=5)
)
def test_any_text_survives_a_table(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.tsv"
    path.write_bytes(table([{"input": question, "target": answer} for question, answer in rows], "\t"))
    assert [tuple(sample.values.values()) for sample in read_file(path).samples] == rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"input,target\nq,a\nr\n", r"line 3: the row has 1 cells, the header 2"),
        (b"input,target\nq,a,b\n", r"line 2: the row has 3 cells, the header 2"),
        (b'input,target\nq,a\n"torn', r"line 3 cannot be read: unexpected end of data"),
        (b"input,target\nq,\xff\n", r"line 2 is not UTF-8"),
        (b"input,input,target\nq,r,a\n", r"line 1: two columns are named 'input'"),
        (b'input,target\n"two\nlines",a\nr,\n', r"line 4: 'target' has no value"),
        (b"input;target\nq;a\n", r"line 2: the field 'input' is missing\. The row has 'input;target'"),
        (b"input,target,choices\nq,a,a|b\n", r"line 2: 'choices' must be a list of texts .* written as JSON"),
        (b"input,target\n", r"t\.csv holds no questions"),
        (b"", r"t\.csv holds no questions"),
    ],
)
def test_a_table_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(TaskError, match=message):
        load_task(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.jsonl.gz", gzip.compress(jsonl(ROWS))[:-9], r"cannot be unpacked: .*Was it written to its end\?"),
        ("t.jsonl.gz", jsonl(ROWS), r"cannot be unpacked: Not a gzipped file"),
        ("t.parquet", jsonl(ROWS), r"cannot be read as Parquet"),
    ],
)
def test_a_damaged_file_is_an_error(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TaskError, match=message):
        load_task(tmp_path / name)


def test_a_name_that_is_no_file_is_told_of_the_other_sources(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"No such file.* What is no file is named hf:NAME or package\.module:name"):
        load_task(str(tmp_path / "gsm8k"))


def test_parquet_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.parquet").write_bytes(parquet(ROWS))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"Parquet files need pyarrow.*cheatsheet\[datasets\]"):
        load_task(tmp_path / "t.parquet")
