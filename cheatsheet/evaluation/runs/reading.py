"""Results of runs, read from their folders; nothing is changed there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cheatsheet.errors import TaskError
from cheatsheet.evaluation import jsonl
from cheatsheet.evaluation.runs import rows
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.results import ArmResult, RunResult, in_order
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spec import ArmSpec
from cheatsheet.evaluation.task import Sample
from cheatsheet.safety.logs import masking_logger

_log = masking_logger()


def read_run(folder: str | Path) -> RunResult:
    """The result of a run, finished or not, from its folder.

    Raises:
        TaskError: there is no run, or it cannot be read.
    """
    place = RunFolder(path=Path(folder))
    spec = place.spec()
    return RunResult(spec=spec, folder=place.path, arms=tuple(_read_arm(arm, place.arm(arm).rows) for arm in spec.arms))


def find_runs(paths: Iterable[str | Path]) -> tuple[RunResult, ...]:
    """The results of all runs in these folders.

    Each path is the folder of a run, or a folder that holds such folders at any depth. The runs come in the order of
    the paths, those of one path in the order of their names, numbers by their size (seed-2 before seed-10); a run that
    two paths lead to comes once. Adaptations that lie among them are passed over, which is logged.

    Raises:
        TaskError: a path holds no run, or a run in it cannot be read.
    """
    found: dict[Path, RunResult] = {}
    for path in map(Path, paths):
        for folder in _run_folders(path):
            if (key := folder.resolve()) not in found:
                found[key] = read_run(folder)
    return tuple(found.values())


def read_rows(path: Path, *, samples: Sequence[Sample] | None = None) -> tuple[dict[str, Row], bool]:
    """The rows of a file, by the question's id, and whether its last line is torn; none where there is no file.

    Args:
        samples: the questions that they must be about; any where it is left out.

    Raises:
        TaskError: a line that cannot be used; names it.
    """
    data = path.read_bytes() if path.exists() else b""
    lines = jsonl.parse(data, source=str(path))
    return rows.by_id(lines.records, path, samples=samples), bool(lines.torn)


def _run_folders(path: Path) -> list[Path]:
    if not path.is_dir():
        raise TaskError(f"{path} is no folder. Give the folder of a run, or a folder that holds runs.")
    begun = sorted(_below(path), key=lambda folder: [_by_number(part) for part in folder.parts])
    if not begun:
        raise TaskError(f"{path} holds no run: there is no run.json in it or in any folder below it.")
    folders = [folder for folder in begun if not RunFolder(path=folder).adapts]
    if not folders:
        raise TaskError(f"{path} holds no comparison of memories, only adaptations ({begun[0]}).")
    for folder in sorted({*begun} - {*folders}):
        _log.warning("%s is passed over: it is the adaptation of a memory, not a comparison.", folder)
    return folders


def _below(path: Path) -> Iterator[Path]:
    """The nearest folders that hold a run; inside a run there is no other."""
    for folder, below, _ in os.walk(path):
        if RunFolder(path=Path(folder)).begun:
            below.clear()
            yield Path(folder)


def _by_number(name: str) -> list[tuple[int, str]]:
    """A key by which `seed-2` stands before `seed-10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _read_arm(arm: ArmSpec, path: Path) -> ArmResult:
    found, torn = read_rows(path)
    notes = (f"{path}: the last line is torn and was left out.",) if torn else ()
    return ArmResult(arm=arm, rows=in_order(found), notes=notes)
