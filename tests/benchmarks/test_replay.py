"""The published table, scored anew: within one row of the paper in every cell, every difference with its reason."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import replay
from benchmarks.published.cells import Cell
from benchmarks.published.runs import find_files
from tests.benchmarks.test_published import write

PROJECT = Path(__file__).parents[2]
PUBLISHED = PROJECT.parent / "shared" / "data" / "dc_runs"
GOLDEN = Path(__file__).parents[1] / "golden" / "replay.txt"
PHYSICS = "What is it?\nOptions:\n(A) 0.5 m\n(B) .08%"


def row(index: int, question: str, target: str, answer: str) -> dict[str, Any]:
    reply = f"I think so.\n<answer>\n{answer}\n</answer>"
    return {"index": index, "raw_input": question, "target": target, "output": reply, "answer": answer}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three runs: one beside a figure of the paper, one of fewer rows than its figure, one without a figure."""
    aime = [row(n, "How many?", f"{n}", f"{n}" if n < 6 else "x") for n in range(30)]
    aime[6] = row(6, "How many?", "080 or 081 (both were accepted)", "81")
    aime[7] |= {"output": "Seven, I would say.", "answer": "No final answer found"}
    write(tmp_path / "AIME_2024__gpt-4o_Baseline.jsonl.gz", aime)
    physics = [row(0, PHYSICS, "(B)", "0.08%"), row(1, PHYSICS, "(A)", "(A)"), row(2, PHYSICS, "(A)", "(A) 0.5 m")]
    write(tmp_path / "MMLU_Pro_Physics__gpt-4o_Baseline.jsonl", physics)
    equations = [row(0, "1 ? 2 ? 3 = 6", "1 + 2 + 3 = 6", "1 × 2 × 3 = 6"), row(1, "1 ? 2", "1 + 2", "3")]
    write(tmp_path / "MathEquationBalancer__llama_Dynamic_Retrieval.jsonl", equations)
    (tmp_path / "run_params.json").write_text("{}")
    return tmp_path


def test_the_printed_table(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([str(runs), "--rows"]) == 0
    out, err = capsys.readouterr()
    assert out == GOLDEN.read_text(encoding="utf-8")
    assert err == (
        f"Files left out, for they do not end in .jsonl or .jsonl.gz: 1 ({runs / 'run_params.json'})\n"
        f"Rows that could not be scored: 1\n"
        f"{runs / 'MathEquationBalancer__llama_Dynamic_Retrieval.jsonl'}: row 1: '1 ? 2' is no equation to balance. "
        f"Write it like '1 ? 2 ? 3 = 6'.\n"
    )


def test_the_same_for_programs(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([str(runs), "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)
    assert [(cell["task"], cell["model"], cell["arm"]) for cell in cells] == [
        ("AIME_2024", "gpt-4o", "BL"),
        ("MathEquationBalancer", "llama", "DR"),
        ("MMLU_Pro_Physics", "gpt-4o", "BL"),
    ]
    aime, equations, physics = cells
    assert (aime["n"], aime["correct"], aime["published"], aime["rows_apart"], aime["strict"]) == (30, 6, 20.0, 0, 7)
    assert (equations["published"], equations["rows_apart"], len(equations["skipped"])) == (None, None, 1)
    assert (physics["n"], physics["published"], physics["rows_apart"]) == (3, 75.6, None)
    assert [(found["row"], found["paper"], found["strict"]) for found in physics["differences"]] == [(0, True, False)]
    assert "readings" not in aime
    assert replay.main([str(runs), "--json", "--rows"]) == 0
    assert [found["recorded"] for found in json.loads(capsys.readouterr().out)[0]["readings"]] == [
        "No final answer found"
    ]


def test_a_cell_that_is_further_than_a_row_from_the_paper_is_told_by_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row(n, "How many?", "1", "1" if n < 8 else "2") for n in range(30)]
    path = write(tmp_path / "AIME_2024__gpt-4o_Baseline.jsonl", rows)
    assert replay.main([str(path)]) == 1
    out = capsys.readouterr().out
    assert "+2" in out
    assert "Cells to compare with the paper: 1; within 1 row of it: 0; equal: 0." in out
    assert "The strict scorer differs on 0 of 30 rows." in out


def test_a_mistake_of_the_caller_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "SUDOKU__gpt-4o_Baseline.jsonl", [row(0, "q", "1", "1")])
    assert replay.main([str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "its task 'SUDOKU' is not known" in err
    write(tmp_path / "SUDOKU__gpt-4o_Baseline.jsonl", []).unlink()
    write(tmp_path / "AIME_2024__gpt-4o_Baseline.jsonl", [row(0, "q", "seven", "7")])
    assert replay.main([str(tmp_path)]) == 2
    assert "holds no row that can be scored: row 0: Scorer 'integer' cannot read" in capsys.readouterr().err


def test_it_runs_as_a_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.replay", "nowhere"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "There is no file or folder nowhere.\n")


@pytest.fixture(scope="module")
def published() -> Mapping[tuple[str, str, str], Cell]:
    if not PUBLISHED.exists():
        pytest.skip("the published runs (../shared/data/dc_runs) are not here")
    files, others = find_files([PUBLISHED])
    assert others == []
    return {(cell.task, cell.model, cell.arm): cell for cell in replay.replay(files)}


def test_every_cell_is_within_one_row_of_the_paper(published: Mapping[tuple[str, str, str], Cell]) -> None:
    assert len(published) == 37
    assert sum(cell.n for cell in published.values()) == 4154
    assert {place: cell.apart for place, cell in published.items()} == dict.fromkeys(published, 0)
    assert [line for cell in published.values() for line in cell.skipped] == []


def test_the_strict_scorer_differs_on_these_rows_alone(published: Mapping[tuple[str, str, str], Cell]) -> None:
    """What was published wrong: × and parentheses, an answer of two that were both accepted, an option's letter before
    its text. What was published right and is not by our rules: an option's text inside the answer."""
    claude, gpt = "claude-3-5-sonnet", "gpt-4o"
    differing = {
        place: [found.row.index for found in cell.differences] for place, cell in published.items() if cell.differences
    }
    assert differing == {
        ("AIME_2020_2024", claude, "DC-∅"): [37],
        ("AIME_2020_2024", claude, "DC-Cu"): [37],
        ("AIME_2020_2024", gpt, "DC-∅"): [37],
        ("MathEquationBalancer", claude, "BL"): [72, 134, 210],
        ("MathEquationBalancer", gpt, "DC-∅"): [15],
        ("MMLU_Pro_Engineering", gpt, "BL"): [234],
        ("MMLU_Pro_Physics", gpt, "DC-∅"): [50, 53, 70, 74, 133, 158, 180, 227, 235, 236, 247],
    }
    stricter = [found for cell in published.values() for found in cell.differences if found.paper.right]
    assert [found.reason for found in stricter] == [
        "'0.08%': paper right, for the option's text '.08%' stands in it; strict wrong, for it picks no option."
    ]


def test_answers_are_read_as_recorded_where_there_is_an_answer(published: Mapping[tuple[str, str, str], Cell]) -> None:
    rows = [found for cell in published.values() for found in cell.rows]
    otherwise = [found for found in rows if not found.read_as_recorded]
    assert len(rows) - len(otherwise) == 4034
    assert {found.row.answer for found in otherwise} == {"No final answer found"}
    assert not any("<answer>" in found.row.reply or found.paper.right or found.strict.right for found in otherwise)
