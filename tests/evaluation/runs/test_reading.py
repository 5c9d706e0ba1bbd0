"""Finding runs in folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.reading import find_runs
from cheatsheet.evaluation.runs.runner import run
from cheatsheet.evaluation.runs.spec import AdaptSpec, TaskSpec
from tests.evaluation.fakes import NOON, World, letters, spec_for

TASK = letters(2)


def make(folder: Path) -> Path:
    run(spec_for(TASK), TASK, World().open, folder=folder)
    return folder


def test_runs_are_found_at_any_depth_in_a_stable_order(tmp_path: Path) -> None:
    names = ("b--seed-10", "b--seed-2", "a/deep/er", "b--file-order")
    folders = [make(tmp_path / "grid" / name) for name in names]
    found = find_runs([tmp_path / "grid"])
    assert [result.folder.relative_to(tmp_path / "grid").as_posix() for result in found] == [
        "a/deep/er",
        "b--file-order",
        "b--seed-2",
        "b--seed-10",
    ]
    assert [row.id for row in found[0].arms[0].rows] == ["1", "2"]
    assert [result.folder for result in find_runs(folders)] == folders  # the order of the paths holds


def test_a_run_that_two_paths_lead_to_comes_once(tmp_path: Path) -> None:
    folder = make(tmp_path / "run")
    assert len(find_runs([folder, tmp_path, str(folder)])) == 1


def adaptation(folder: Path) -> Path:
    spec = AdaptSpec(train=TaskSpec.of(TASK), validation=None, epochs=1, batch_size=1, scorer="exact", created_at=NOON)
    place = RunFolder(path=folder)
    with place.locked():
        place.begin(spec, resume=False)
    return folder


def test_an_adaptation_among_runs_is_passed_over_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    adapted, compared = adaptation(tmp_path / "adapted"), make(tmp_path / "compared")
    assert [result.folder for result in find_runs([tmp_path])] == [compared]
    assert f"{adapted} is passed over: it is the adaptation of a memory" in caplog.text
    with pytest.raises(TaskError, match="adapted holds no comparison of memories, only adaptations"):
        find_runs([adapted])


def test_a_folder_is_not_resumed_as_what_it_is_not(tmp_path: Path) -> None:
    adapted = adaptation(tmp_path / "adapted")
    with pytest.raises(TaskError, match="holds the adaptation of a memory, not a comparison of memories"):
        run(spec_for(TASK), TASK, World().open, folder=adapted, resume=True)
    with pytest.raises(TaskError, match="holds a comparison of memories, not the adaptation of a memory"):
        RunFolder(path=make(tmp_path / "compared")).read(AdaptSpec)


@pytest.mark.parametrize(
    ("path", "message"),
    [("nowhere", "nowhere is no folder"), ("empty", "empty holds no run: there is no run.json"), ("file", "no folder")],
)
def test_where_there_is_no_run(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(TaskError, match=message):
        find_runs([tmp_path / path])
