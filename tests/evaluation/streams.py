"""Rows and runs made by hand: one mark a question, `+` right, `-` wrong, `!` a call that failed, `~` a cheaper mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from cheatsheet.evaluation.runs.results import ArmResult, RunResult
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spec import ArmSpec, RunSpec, TaskSpec
from tests.evaluation.fakes import NOON


def rows_of(marks: str, **fields: Any) -> list[Row]:
    """One row a mark, with the ids 0, 1, …; a failed call has no other fields."""
    return [
        Row.model_validate(
            {
                "id": str(place),
                "position": place,
                "target": "x",
                "correct": mark == "+",
                "score": float(mark == "+"),
                "mode": "default" if mark == "~" else "",
            }
            | ({"error": "ModelError: no", "cost_complete": False} if mark == "!" else fields)
        )
        for place, mark in enumerate(marks)
    ]


def named(rows: Iterable[Row], ids: str) -> list[Row]:
    """The rows with other ids, one character each."""
    return [row.model_copy(update={"id": id}) for row, id in zip(rows, ids, strict=True)]


def run_of(
    arms: Mapping[str, list[Row]], *, seed: int | None = None, folder: Path = Path("none"), **spec: Any
) -> RunResult:
    """A run of these arms, whose files are not there."""
    made = tuple(ArmSpec(mode="retrieval", name=name) for name in arms)
    name = spec.pop("task", "letters")
    task = TaskSpec(name=name, sha256=sha256(name.encode()).hexdigest(), seed=seed)
    fields = {"model": "fake/model", "embedder": "hashing", "version": "0.1.0", "created_at": NOON} | spec
    results = (ArmResult(arm=arm, rows=tuple(rows)) for arm, rows in zip(made, arms.values(), strict=True))
    return RunResult(spec=RunSpec(task=task, arms=made, **fields), folder=folder, arms=tuple(results))
