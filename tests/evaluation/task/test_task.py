"""Reading tasks."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.task import Sample, load_task, shuffled


def _file(folder: Path, *rows: dict[str, Any], name: str = "tickets.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def _questions(n: int) -> list[dict[str, Any]]:
    return [{"input": f"question {place}", "target": "x"} for place in range(n)]


def test_a_row_becomes_a_sample(tmp_path: Path) -> None:
    row = {"id": "t1", "input": "Where?", "target": "b", "choices": ["a", "b"], "metadata": {"level": 3}}
    task = load_task(_file(tmp_path, row))
    assert task.samples == (Sample(id="t1", input="Where?", target="b", choices=("a", "b"), metadata={"level": 3}),)
    assert task.name == "tickets"
    assert task.sha256 == hashlib.sha256((tmp_path / "tickets.jsonl").read_bytes()).hexdigest()


def test_missing_ids_are_row_numbers_and_numbers_are_texts(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"input": "a", "target": 41},
        {"input": "b", "target": 1.5, "id": 77},
        {"input": "c", "target": "x"},
    ]
    samples = load_task(_file(tmp_path, *rows)).samples
    assert [(sample.id, sample.target) for sample in samples] == [("1", "41"), ("77", "1.5"), ("3", "x")]


def test_a_byte_order_mark_and_odd_line_separators_are_read(tmp_path: Path) -> None:
    """S14."""
    path = tmp_path / "t.jsonl"
    path.write_bytes("\ufeff".encode() + '{"input": "a\u2028b\u0085c", "target": "x"}'.encode())
    assert [sample.input for sample in load_task(path).samples] == ["a\u2028b\u0085c"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input": "q", "target": "x", "choises": []}, r"unknown field 'choises'\. Did you mean 'choices'\?"),
        ({"input": "q", "target": "x", "level": 1}, r"unknown field 'level'\. .*'metadata'"),
        ({"input": "q"}, "'target' is missing"),
        ({"target": "x"}, "'input' is missing"),
        ({"input": " ", "target": "x"}, "'input' is blank"),
        ({"input": 3, "target": "x"}, "'input' is a int, but must be a text"),
        ({"input": "q", "target": True}, "'target' is a bool"),
        ({"input": "q", "target": ["x"]}, "'target' is a list"),
        ({"input": "q", "target": "c", "choices": ["a", "b"]}, "'c' is not one of the choices 'a', 'b'"),
        ({"input": "q", "target": "a", "choices": ["a", "a"]}, "two or more different"),
        ({"input": "q", "target": "a", "choices": ["a"]}, "two or more different"),
        ({"input": "q", "target": "a", "choices": "ab"}, "must be a list"),
        ({"input": "q", "target": "a", "choices": ["a", 1]}, "must be a list of texts"),
        ({"input": "q", "target": "a", "metadata": 1}, "'metadata' is a int"),
    ],
)
def test_a_bad_row_is_an_error_that_names_its_line(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(TaskError, match=rf"tickets\.jsonl, line 2: .*{message}"):
        load_task(_file(tmp_path, {"input": "q", "target": "x"}, row))


def test_ids_must_differ(tmp_path: Path) -> None:
    rows = [{"input": "a", "target": "x", "id": "2"}, {"input": "b", "target": "x"}]
    with pytest.raises(TaskError, match=r"line 2: the id '2' is taken by line 1"):
        load_task(_file(tmp_path, *rows))


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TaskError, match="holds no questions"):
        load_task(path)


def test_a_torn_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"input": "a", "target": "x"}\n{"input": "b", "tar', encoding="utf-8")
    with pytest.raises(TaskError, match="line 2: the last line is not whole"):
        load_task(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot be read: No such file"):
        load_task(tmp_path / "none.jsonl")


def test_limit_and_order(tmp_path: Path) -> None:
    path = _file(tmp_path, *_questions(20))
    whole, again, other = (load_task(path, seed=seed) for seed in (7, 7, 8))
    assert whole == again
    assert whole.samples != other.samples
    assert load_task(path, seed=7, limit=5).samples == whole.samples[:5]
    assert [sample.id for sample in load_task(path, limit=3).samples] == ["1", "2", "3"]
    assert len(load_task(path, limit=99).samples) == 20
    with pytest.raises(TaskError, match="limit is 0"):
        load_task(path, limit=0)


def test_the_order_of_a_seed_never_changes() -> None:
    """Published numbers depend on it."""
    samples = [Sample(id=str(place), input="q", target="x") for place in range(1, 9)]
    assert [sample.id for sample in shuffled(samples, seed=0)] == ["7", "4", "3", "8", "2", "6", "5", "1"]


@given(st.lists(st.text(), unique=True), st.integers(), st.randoms())
def test_shuffling_is_a_permutation_that_depends_on_ids_alone(ids: list[str], seed: int, random: Any) -> None:
    samples = [Sample(id=id, input="q", target="x") for id in ids]
    mixed = random.sample(samples, len(samples))
    assert shuffled(samples, seed=seed) == shuffled(mixed, seed=seed)
    assert sorted(sample.id for sample in shuffled(samples, seed=seed)) == sorted(ids)
