"""The published rules written anew, and the forms in which recorded runs are read (case N19)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.published import rules
from benchmarks.published.runs import RecordedRun, find_files, read_run
from benchmarks.published.scoring import TASKS
from benchmarks.published.strict import strict_answer
from benchmarks.published.table_1 import figure
from cheatsheet.errors import TaskError

OPTIONS = "How far?\nOptions:\n(A) 0.5 m\n(B) 5 m (about)\n(C) .08%"


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize(
    ("reply", "answer", "strictly"),
    [
        ("<answer>\n 7 \n</answer>", "7", "7"),
        ("<answer>7</answer> … no: <answer>8</answer>", "7", "8"),
        ("so <answer>7", "7", "7"),
        ("I cannot say.", "I cannot say.", "I cannot say."),
        ("", "", ""),
    ],
)
def test_the_paper_reads_the_first_answer_and_we_read_the_last(reply: str, answer: str, strictly: str) -> None:
    assert (rules.first_answer(reply), strict_answer(reply)) == (answer, strictly)


@pytest.mark.parametrize(
    ("answer", "target", "right"),
    [
        ("35", "35", True),
        (r"$\boxed{35}$", "35", True),
        ("3.5", "35", True),  # N19: looser than it should be
        ("1,234", "1,234", False),  # N19: the target keeps its comma
        ("035", "35", False),
        ("80", "080 or 081 (both were accepted)", False),
        ("The answer is 35", "35", False),
    ],
)
def test_the_papers_rule_for_aime(answer: str, target: str, right: bool) -> None:
    judged = rules.integer("q", target, answer)
    assert judged.right == right
    assert judged.reason


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("(A)", True),
        ("`a`", True),
        ("A.", True),
        ("Option A", True),
        ("0.5 M", True),
        ("(A) 0.5 m", True),
        ("10.5 m", True),  # the text stands in it, which is looser than it should be
        ("(B)", False),
        ("A or B", False),
        ("", False),
    ],
)
def test_the_papers_rule_for_choices(answer: str, right: bool) -> None:
    assert rules.choice(OPTIONS, "(A)", answer).right == right


def test_the_papers_rule_takes_parentheses_out_of_the_answer_but_not_out_of_the_option() -> None:
    judged = rules.choice(OPTIONS, "(B)", "(B) 5 m (about)")
    assert judged == (False, "it is not the letter B, and without parentheses it has not the text '5 m (about)' in it")


@pytest.mark.parametrize(
    ("answer", "right", "reason"),
    [
        ("4 - 17 / 1 = -13", True, "its left side is -13"),
        ("4 - 17 * 1 = -13", True, "its left side is -13"),
        ("4 - 17 * 1", True, "its left side is -13"),  # what stands on the right does not count
        ("4 - 17 + 1 = -13", False, "its left side is -12"),
        ("4 - 17 × 1 = -13", False, "without + - * / its left side is '417×1', not '4171'"),
        ("4 - (17 * 1) = -13", False, "without + - * / its left side is '4(171)', not '4171'"),
        ("4 - 17 * = -13", False, "without + - * / its left side is '417', not '4171'"),
        ("4 - 17 1 = -13", False, "its left side cannot be computed (An operator is missing before '1')"),
        ("", False, "without + - * / its left side is '', not '4171'"),
    ],
)
def test_the_papers_rule_for_equations(answer: str, right: bool, reason: str) -> None:
    assert rules.equation("4 ? 17 ? 1 = -13", "4 - 17 / 1 = -13", answer) == (right, reason)


@pytest.mark.parametrize(
    ("answer", "right"),
    [("(7 - 8 / 8) × 4 = 24", True), ("4 * 8 - 8", False), ("4 + 7 + 8 + 8", False), ("24", False), ("4 x 7 -", False)],
)
def test_the_papers_rule_for_the_game_of_24(answer: str, right: bool) -> None:
    assert rules.game("4 7 8 8", "", answer).right == right


@given(st.text(max_size=200), st.sampled_from(sorted(TASKS)))
def test_no_answer_is_an_error(answer: str, task: str) -> None:
    target = {"MathEquationBalancer": "1 + 2 + 3 = 6"}.get(task, "(A)")
    assert TASKS[task].rule(OPTIONS, target, answer).reason


def test_figures_are_found_by_the_models_name_whatever_its_date_and_provider() -> None:
    names = ("gpt-4o", "gpt-4o-2024-11-20", "openai/gpt-4o-latest", "claude-3-5-sonnet-20241022", "gpt-4o-mini")
    figures = [figure("AIME_2024", name, "BL") for name in names]
    assert [found and found.percent for found in figures] == [20.0, 20.0, 20.0, 23.3, None]
    shorter = figure("MathEquationBalancer", "claude-3-5-sonnet", "DC-RS")
    assert shorter is not None
    assert (shorter.percent, shorter.rows, shorter.correct) == (97.8, 139, 136)
    assert [figure("AIME_2020_2024", "gpt-4o", "DC-RS"), figure("AIME_2024", "gpt-4o", "FH")] == [None, None]
    assert figure("GPQA_Diamond", "gpt-4o", "BL") is None


ROW = {"index": 4, "input": "Question #5:\n1+1?", "raw_input": "1+1?", "target": "2", "output": "<answer>2</answer>"}
OWN_FORM = {
    "input": "Question #1:\n1+1?",
    "target": "2",
    "raw_input": "1+1?",
    "input_txt": "prompt",
    "steps": [],
    "previous_answers": [],
    "final_answer": "2",
    "final_cheatsheet": "(empty)",
    "final_output": "<answer>2</answer>",
}
ARGUMENTS = {"task": "AIME_2025", "model_name": "openai/gpt-4o", "approach_name": "DynamicCheatsheet_Cumulative"}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("AIME_2024__gpt-4o_Baseline.jsonl.gz", ("AIME_2024", "gpt-4o", "BL")),
        ("AIME_2024__claude-3-5-sonnet_EmptyCheatsheet.jsonl", ("AIME_2024", "claude-3-5-sonnet", "DC-∅")),
        ("AIME_2020_2024__gpt-4o_Dynamic_Retrieval.jsonl", ("AIME_2020_2024", "gpt-4o", "DR")),
        ("AIME_2025/gpt-4o_DynamicCheatsheet_Cumulative.jsonl", ("AIME_2025", "gpt-4o", "DC-Cu")),
        (
            "AIME_2025/openai/gpt-4o_DynamicCheatsheet_RetrievalSynthesis_2025-01-02-03-04_.jsonl",
            ("AIME_2025", "gpt-4o", "DC-RS"),
        ),
        ("GameOf24/gpt-4o_default.jsonl", ("GameOf24", "gpt-4o", "DC-∅")),
        ("GPQA_Diamond/gpt-4o_FullHistoryAppending_x.jsonl", ("GPQA_Diamond", "gpt-4o", "FH")),
    ],
)
def test_the_name_of_a_file_tells_its_cell(name: str, place: tuple[str, str, str], tmp_path: Path) -> None:
    run = read_run(write(tmp_path / name, [ROW]))
    assert (run.task, run.model, run.arm) == place


def test_both_forms_of_rows_are_read(tmp_path: Path) -> None:
    ours = read_run(write(tmp_path / "AIME_2024__gpt-4o_Baseline.jsonl", [ROW, {**ROW, "answer": "3"}])).rows
    assert [(row.index, row.question, row.answer) for row in ours] == [(4, "1+1?", None), (4, "1+1?", "3")]
    theirs = read_run(write(tmp_path / "results.jsonl", [ARGUMENTS, OWN_FORM, {**OWN_FORM, "raw_input": None}]))
    assert (theirs.task, theirs.model, theirs.arm) == ("AIME_2025", "openai/gpt-4o", "DC-Cu")
    assert theirs.skipped == ()
    assert [(row.index, row.question, row.target, row.reply, row.answer) for row in theirs.rows] == [
        (0, "1+1?", "2", "<answer>2</answer>", "2"),
        (1, "1+1?", "2", "<answer>2</answer>", "2"),
    ]


def test_a_game_needs_no_target(tmp_path: Path) -> None:
    row = {"input": "4 7 8 8", "final_output": "<answer>4 * (7 - 8 / 8)</answer>"}
    assert read_run(write(tmp_path / "GameOf24" / "gpt-4o_Baseline.jsonl", [row])).rows[0].target == ""


def test_lines_that_are_no_rows_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "AIME_2024__gpt-4o_Baseline.jsonl", [ROW, {"input": "q"}, {**ROW, "output": None}])
    path.write_bytes(path.read_bytes() + b'{"input": "cut')
    run = read_run(path)
    assert len(run.rows) == 1
    assert run.skipped == (
        f"{path}: line 2 has no output and no target",
        f"{path}: line 3 has no output",
        f"{path}: its last line is not whole JSON",
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "SUDOKU__gpt-4o_Baseline.jsonl",
            "its task 'SUDOKU' is not known; allowed is AIME_2024, .*Name it TASK__MODEL_",
        ),
        ("AIME_2024__gpt-4o_Magic.jsonl", "its name does not tell the approach; allowed is Baseline, "),
        ("notes.jsonl", "its name does not tell the task"),
        ("AIME_2024__Baseline.jsonl", "its name does not tell the approach"),
    ],
)
def test_a_file_that_belongs_to_no_cell_is_an_error(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=rf"{name}: {message}"):
        read_run(write(tmp_path / name, [ROW]))


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "AIME_2024__gpt-4o_Baseline.jsonl.gz", [ROW])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TaskError, match=r"cannot be read: .*Was it copied to its end\?"):
        read_run(path)
    path.write_bytes(b"no json\n")
    with pytest.raises(TaskError, match="line 1 cannot be read"):
        read_run(path)
    path.write_bytes(b"")
    with pytest.raises(TaskError, match="holds no row that can be scored"):
        read_run(path)


def test_files_are_found_in_folders_at_any_depth_and_others_are_told(tmp_path: Path) -> None:
    runs = [write(tmp_path / name, [ROW]) for name in ("b.jsonl", "deep/er/a.jsonl.gz")]
    params = write(tmp_path / "b_params.json", [ARGUMENTS])
    assert find_files([tmp_path, runs[0]]) == (sorted(runs), [params])


def test_paths_that_hold_no_run_are_errors(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="There is no file or folder nowhere"):
        find_files([Path("nowhere")])
    with pytest.raises(TaskError, match="There is no recorded run in "):
        find_files([tmp_path])
    with pytest.raises(TaskError, match=r"x\.json is no recorded run"):
        find_files([write(tmp_path / "x.json", [ROW])])


def test_a_run_is_a_value(tmp_path: Path) -> None:
    path = write(tmp_path / "AIME_2024__gpt-4o_Baseline.jsonl", [ROW])
    assert read_run(path) == read_run(path)
    assert isinstance(read_run(path), RecordedRun)
