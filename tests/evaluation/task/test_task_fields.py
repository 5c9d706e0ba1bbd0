"""Which column is which field, and where strictness ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.task import Sample, load_task, read_fields


def _file(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _first(folder: Path, row: dict[str, Any], fields: str = "") -> Sample:
    return load_task(_file(folder, row), fields=read_fields(fields)).samples[0]


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Where?", "answer": "b", "options": ["a", "b"]},
        {"context": "Where?", "target": "b", "choices": ["a", "b"]},
        {"problem": "Where?", "answer": "b", "choices": '["a", "b"]'},
        {"input": "Where?", "answer": " b ", "options": ["a", "b"]},
    ],
)
def test_names_that_others_use_are_understood(tmp_path: Path, row: dict[str, Any]) -> None:
    assert _first(tmp_path, row) == Sample(id="1", input="Where?", target="b", choices=("a", "b"))


def test_a_target_may_be_the_letter_of_its_choice(tmp_path: Path) -> None:
    assert _first(tmp_path, {"question": "q", "answer": "B", "options": ["left", "right"]}).target == "right"
    assert (
        _first(tmp_path, {"question": "q", "answer": "A", "options": ["B", "A"]}).target == "A"
    )  # its text goes first
    with pytest.raises(TaskError, match="'C' is not one of the choices 'left', 'right'"):
        _first(tmp_path, {"question": "q", "answer": "C", "options": ["left", "right"]})


def test_columns_can_be_named_and_what_is_left_is_metadata(tmp_path: Path) -> None:
    row = {"query": "q", "gold": 4, "input": "not this", "level": 3, "metadata": {"source": "x"}, "key": "k9"}
    task = load_task(_file(tmp_path, row), fields={"input": "query", "target": "gold", "id": "key"})
    metadata = {"input": "not this", "level": 3, "source": "x"}
    assert task.samples == (Sample(id="k9", input="q", target="4", metadata=metadata),)
    assert task.fields == {"input": "query", "target": "gold", "id": "key"}


def test_an_id_column_that_does_not_tell_rows_apart_can_be_left_out(tmp_path: Path) -> None:
    rows = [{"id": "same", "input": text, "target": "x"} for text in "ab"]
    with pytest.raises(TaskError, match=r"line 2: the id 'same' is taken by line 1\. .*--fields id="):
        load_task(_file(tmp_path, *rows))
    samples = load_task(_file(tmp_path, *rows), fields=read_fields("id=")).samples
    assert [(sample.id, sample.metadata) for sample in samples] == [("1", {"id": "same"}), ("2", {"id": "same"})]


def test_a_foreign_row_may_have_a_metadata_column_of_its_own(tmp_path: Path) -> None:
    assert _first(tmp_path, {"question": "q", "answer": "a", "metadata": "easy"}).metadata == {"metadata": "easy"}
    told = {"question": "q", "answer": "a", "metadata": '{"level": 1}'}
    assert _first(tmp_path, told).metadata == {"level": 1}


def test_our_own_form_stays_strict_unless_columns_are_named(tmp_path: Path) -> None:
    row = {"input": "q", "target": "x", "level": 1}
    with pytest.raises(TaskError, match="unknown field 'level'"):
        _first(tmp_path, row)
    assert _first(tmp_path, row, "input=input").metadata == {"level": 1}


@pytest.mark.parametrize(
    ("row", "fields", "message"),
    [
        ({"context": "c", "question": "q", "answer": "a"}, "", r"'question', 'context' could each be the 'input'\."),
        (
            {"question": "q", "anwser": "a"},
            "",
            r"'target' is missing\. The row has 'question', 'anwser'; .* target=COL",
        ),
        ({"input": "q", "targt": "a"}, "", r"'target' is missing\. The row has 'input', 'targt'; .* target=targt"),
        (
            {"q": "q", "answer": "a"},
            "input=Q",
            r"no column 'Q' for 'input'\. Did you mean 'q'\? The row has 'q', 'answer'",
        ),
        ({"q": " ", "answer": "a"}, "input=q", r"'input' \(column 'q'\) is blank"),
        ({"question": "q", "answer": None}, "", r"'target' \(column 'answer'\) has no value"),
        ({"question": "q", "answer": ["a"]}, "", r"'target' \(column 'answer'\) is a list"),
        ({"question": "q", "answer": "a", "options": "a or b"}, "", r"\(column 'options'\) must be a list of texts"),
        ({}, "", "'input' is missing"),
    ],
)
def test_a_row_whose_columns_do_not_fit_is_an_error(
    tmp_path: Path, row: dict[str, Any], fields: str, message: str
) -> None:
    with pytest.raises(TaskError, match=rf"t\.jsonl, line 1: .*{message}"):
        _first(tmp_path, row, fields)


def test_fields_are_read_from_a_text() -> None:
    assert read_fields(" input = question, target=the answer,id=,") == {
        "input": "question",
        "target": "the answer",
        "id": "",
    }
    assert read_fields("") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question", r"'question' names no column\. Write FIELD=COLUMN"),
        ("question=input", r"no field 'question'\. Did you mean input=question\? The fields are 'input', 'target'"),
        ("imput=q", r"no field 'imput'\. Did you mean 'input'\?"),
        ("metadata=m", "no field 'metadata'"),
        ("input=a,input=b", "two columns: 'a' and 'b'"),
        ("target=", "'target' needs a column, such as target=answer"),
    ],
)
def test_a_text_that_names_no_fields_is_an_error(text: str, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        read_fields(text)
