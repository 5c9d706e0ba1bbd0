"""Running streams (cases N01, N02, N04, N05, N06, N07)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import ModelAuthError, ModelRateError, ModelUnavailableError, RunStoppedError, TaskError
from cheatsheet.evaluation.metrics import summarise
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.reading import read_run
from cheatsheet.evaluation.runs.results import RunResult
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.runner import run
from cheatsheet.evaluation.runs.spec import ArmSpec
from cheatsheet.evaluation.task import Sample, Task
from cheatsheet.llm.model import Outcome
from cheatsheet.memory.experience import Query
from tests.evaluation.fakes import World, letters, spec_for

TASK = letters(5)


def _run(folder: Path, world: World, task: Task = TASK, *modes: str, **options: Any) -> RunResult:
    return run(spec_for(task, *modes), task, world.open, folder=folder / "run", **options)


def _written(folder: Path, arm: str = "retrieval") -> list[dict[str, Any]]:
    text = (folder / "run" / "arms" / arm / "rows.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def test_every_arm_is_asked_every_question_in_order(tmp_path: Path) -> None:
    world = World()
    result = _run(tmp_path, world, TASK, "default", "retrieval")
    assert world.asked == [f"{arm}:{place}" for arm in ("default", "retrieval") for place in range(1, 6)]
    assert [arm.arm.mode for arm in result.arms] == ["default", "retrieval"]
    for arm in result.arms:
        assert [row.id for row in arm.rows] == ["1", "2", "3", "4", "5"]
        assert [row.correct for row in arm.rows] == [True, True, False, True, True]
        assert [row.experiences for row in arm.rows] == [0, 1, 2, 3, 4]  # a memory of its own, which learns
        assert arm.memory is not None
        assert arm.memory.version == 5
    assert world.opened == world.closed == 2
    assert result.scored == 10


def test_a_row_tells_all_of_its_turn(tmp_path: Path) -> None:
    result = _run(tmp_path, World(), letters(1))
    row = Row(
        id="1",
        position=0,
        question="a",
        target="A",
        answer="A",
        reply="I say: A",
        correct=True,
        score=1.0,
        outcome=Outcome.OK,
        context="what is known",
        context_tokens=7,
        notes=("a note",),
        prompt_tokens=10,
        completion_tokens=2,
        model_calls=1,
        cost_usd=0.5,
        seconds=0.25,
    )
    assert result.arms[0].rows == (row,)
    assert [Row.model_validate(row) for row in _written(tmp_path)] == list(result.arms[0].rows)


def test_the_choices_are_told_and_the_metadata_is_not(tmp_path: Path) -> None:
    sample = Sample(id="1", input="a", target="A", choices=("A", "B"), metadata={"hint": "A"})
    world = World()
    _run(tmp_path, world, Task(name="t", samples=(sample,), sha256="0"))
    assert world.queries == [Query(text="a", choices=("A", "B"))]


def test_rows_are_utf8_lines_also_with_half_a_character(tmp_path: Path) -> None:
    world = World(replies={"a": "é\u2028\ud83d"})
    assert _run(tmp_path, world, letters(1)).arms[0].rows[0].answer == "é\u2028\ud83d"
    data = (tmp_path / "run" / "arms" / "retrieval" / "rows.jsonl").read_bytes()
    assert "é\u2028\\ud83d".encode() in data
    assert read_run(tmp_path / "run").arms[0].rows[0].answer == "é\u2028\ud83d"


def test_a_failed_call_is_a_row_that_counts_as_wrong(tmp_path: Path) -> None:
    """N04: 3 of 5, not 3 of 4. N05: the failure is told apart."""
    world = World(failures={"b": ModelRateError("slow down")})
    result = _run(tmp_path, world)
    row = result.arms[0].rows[1]
    assert (row.correct, row.error, row.outcome, row.cost_complete) == (False, "ModelRateError: slow down", None, False)
    summary = summarise(result.arms[0])
    assert (summary.n, summary.correct, summary.errors, summary.accuracy) == (5, 3, 1, 0.6)
    assert result.scored == 4


def test_when_every_call_fails_there_is_no_score(tmp_path: Path) -> None:
    """N06."""
    world = World(failures={text: ModelUnavailableError("no connection") for text in "abcde"})
    result = _run(tmp_path, world)
    assert result.scored == 0
    assert summarise(result.arms[0]).accuracy is None
    assert summarise(result.arms[0]).errors == 5


def test_failed_rows_are_kept_unless_a_retry_is_wished(tmp_path: Path) -> None:
    """N07: what is finished is not asked again, and what failed does not come back for ever."""
    world = World(failures={"b": ModelRateError("slow down")})
    _run(tmp_path, world)
    world.failures.clear()
    world.asked.clear()
    assert _run(tmp_path, world, resume=True).arms[0].rows[1].error
    assert world.asked == []
    rows = _run(tmp_path, world, resume=True, retry_failed=True).arms[0].rows
    assert world.asked == ["retrieval:2"]
    assert [row.id for row in rows] == ["1", "2", "3", "4", "5"]
    assert [row.correct for row in rows] == [True, True, False, True, True]
    assert [row["id"] for row in _written(tmp_path)] == ["1", "2", "3", "4", "5", "2"]
    assert read_run(tmp_path / "run").arms[0].rows == rows


def test_a_refused_key_stops_the_run_and_leaves_it_to_be_resumed(tmp_path: Path) -> None:
    world = World(failures={"c": ModelAuthError("the key was revoked")})
    with pytest.raises(ModelAuthError, match="revoked"):
        _run(tmp_path, world)
    assert [row["id"] for row in _written(tmp_path)] == ["1", "2"]
    world.failures.clear()
    assert [row.error for row in _run(tmp_path, world, resume=True).arms[0].rows] == [""] * 5
    assert world.closed == world.opened


def test_the_check_comes_before_the_first_question_and_the_first_file(tmp_path: Path) -> None:
    def check() -> None:
        raise ModelAuthError("no key")

    world = World()
    with pytest.raises(ModelAuthError, match="no key"):
        _run(tmp_path, world, check=check)
    assert world.asked == []
    assert not (tmp_path / "run").exists()


def test_a_target_that_cannot_be_read_stops_the_run_before_the_first_question(tmp_path: Path) -> None:
    world = World()
    with pytest.raises(TaskError, match="cannot read the target 'A' of question '1'"):
        run(spec_for(TASK, scorer="number"), TASK, world.open, folder=tmp_path / "run")
    assert world.asked == []
    assert not (tmp_path / "run").exists()


def test_stopping_says_where_to_go_on(tmp_path: Path) -> None:
    world = World(kill={"retrieval:2": ("before-commit", KeyboardInterrupt())})
    with pytest.raises(RunStoppedError, match=r"Stopped after 6 of 10 questions.*--resume --out .*run") as stop:
        _run(tmp_path, world, TASK, "default", "retrieval")
    assert (stop.value.done, stop.value.total, stop.value.folder) == (6, 10, tmp_path / "run")
    assert world.opened == world.closed
    resumed = _run(tmp_path, world, TASK, "default", "retrieval", resume=True)
    clean = run(spec_for(TASK, "default", "retrieval"), TASK, World().open, folder=tmp_path / "clean")
    assert [arm.rows for arm in resumed.arms] == [arm.rows for arm in clean.arms]


def test_what_is_left_to_do_is_found_by_ids(tmp_path: Path) -> None:
    """N01: with 1 to 5, 7 and 8 of nine done, 6 and 9 are asked."""
    task, world = letters(9), World(failures={text: ModelRateError("slow down") for text in "fi"})
    _run(tmp_path, world, task)
    path = tmp_path / "run" / "arms" / "retrieval" / "rows.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for place, line in enumerate(lines, start=1) if place not in (6, 9)))
    world.failures.clear()
    world.asked.clear()
    assert len(_run(tmp_path, world, task, resume=True).arms[0].rows) == 9
    assert world.asked == ["retrieval:6", "retrieval:9"]


def test_another_run_is_not_resumed(tmp_path: Path) -> None:
    """N02: the message names what differs."""
    _run(tmp_path, World())
    other = spec_for(TASK, model="other", settings={"top_k": 7})
    with pytest.raises(
        TaskError, match=r'model was "fake/model", is now "other"; settings.top_k was not set, is now 7'
    ):
        run(other, TASK, World().open, folder=tmp_path / "run", resume=True)


def test_a_finished_run_resumed_asks_nothing_and_has_all_rows(tmp_path: Path) -> None:
    """N02: totals include what was done before."""
    world = World()
    first = _run(tmp_path, world)
    world.asked.clear()
    again = _run(tmp_path, world, resume=True)
    assert world.asked == []
    assert again.arms[0].rows == first.arms[0].rows
    assert summarise(again.arms[0]) == summarise(first.arms[0])
    assert again.spec == first.spec


def test_a_folder_is_used_by_one_run(tmp_path: Path) -> None:
    _run(tmp_path, World())
    with pytest.raises(TaskError, match=r"holds a run already\. Resume it with --resume"):
        _run(tmp_path, World())


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").touch()
    for resume in (False, True):
        with pytest.raises(TaskError, match=r"is not empty and holds no run \(there is 'thesis.tex'\)"):
            _run(tmp_path, World(), resume=resume)


def test_resuming_what_was_never_begun_begins_it(tmp_path: Path) -> None:
    assert _run(tmp_path, World(), resume=True).scored == 5


def test_two_runs_do_not_write_one_folder(tmp_path: Path) -> None:
    with RunFolder(path=tmp_path / "run").locked(), pytest.raises(TaskError, match="Another process is running"):
        _run(tmp_path, World())
    assert _run(tmp_path, World()).scored == 5


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    with pytest.raises(TaskError, match="cannot be used for a run: File exists"):
        _run(tmp_path, World())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"spec": {}}', '{"fingerprint": "x"}'])
def test_a_damaged_run_json(tmp_path: Path, content: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(content, encoding="utf-8")
    with pytest.raises(TaskError, match=r"run\.json cannot be read as a run"):
        _run(tmp_path, World(), resume=True)


def test_a_row_without_its_turn_in_the_memory(tmp_path: Path) -> None:
    _run(tmp_path, World())
    (tmp_path / "run" / "arms" / "retrieval" / "memory.db").unlink()
    with pytest.raises(TaskError, match=r"has the answer to question '1', but the memory .* does not know of it"):
        _run(tmp_path, World(), resume=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": "9", "position": 0, "target": "A"}\n', "line 6: the task has no question '9' at position 0"),
        (b'{"id": "2", "position": 3, "target": "A"}\n', "line 6: the task has no question '2' at position 3"),
        (b'{"id": "2", "position": 1, "target": "A"}\n', "line 6: question '2' was answered before"),
        (b'{"id": "2"}\n', "line 6 is not a row of this version of cheatsheet: position"),
        (b"not json\n", "line 6 cannot be read"),
    ],
)
def test_a_damaged_file_of_rows(tmp_path: Path, line: bytes, message: str) -> None:
    """N03."""
    _run(tmp_path, World())
    path = tmp_path / "run" / "arms" / "retrieval" / "rows.jsonl"
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(TaskError, match=message):
        _run(tmp_path, World(), resume=True)


def test_a_result_is_read_from_its_folder_without_changing_it(tmp_path: Path) -> None:
    result = _run(tmp_path, World(), TASK, "default", "retrieval")
    path = tmp_path / "run" / "arms" / "retrieval" / "rows.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    shutil.rmtree(tmp_path / "run" / "arms" / "default")
    before = path.read_bytes()
    read = read_run(tmp_path / "run")
    assert read.spec == result.spec
    assert [arm.rows for arm in read.arms] == [(), result.arms[1].rows[:-1]]
    assert "torn" in read.arms[1].notes[0]
    assert path.read_bytes() == before
    with pytest.raises(TaskError, match="holds no run"):
        read_run(tmp_path / "nowhere")


def test_arms_of_one_mode_are_told_apart_by_name(tmp_path: Path) -> None:
    arms = (ArmSpec(mode="retrieval", name="k3"), ArmSpec(mode="retrieval", name="k8", settings={"top_k": 8}))
    opened: list[tuple[str, dict[str, Any], Path]] = []
    world = World()

    def open_memory(arm: ArmSpec, path: Path) -> Any:
        opened.append((arm.mode, arm.settings, path))
        return world.open(arm, path)

    run(spec_for(TASK, arms=arms), TASK, open_memory, folder=tmp_path)
    assert opened == [
        ("retrieval", {}, tmp_path / "arms" / "k3" / "memory.db"),
        ("retrieval", {"top_k": 8}, tmp_path / "arms" / "k8" / "memory.db"),
    ]
