"""Reading recorded runs: which files there are, which cell of the table each belongs to, and its rows.

A file is JSON Lines, compressed or not, in one of two forms:

    TASK__MODEL_APPROACH.jsonl.gz           index, input, raw_input, target, output, answer
    TASK/MODEL_APPROACH[_anything].jsonl    as the published program writes it: input, raw_input, target, final_answer,
                                            final_output, and more; a first line may hold the arguments of the program

The names tell the task, the model and the approach; where they do not, the arguments may (`task`, `model_name`,
`approach_name`). What cannot be used is told: a row in the run's `skipped`, a file as an error.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.published.scoring import TASKS
from benchmarks.published.table_1 import APPROACHES
from cheatsheet.errors import TaskError
from cheatsheet.evaluation import jsonl

SUFFIXES: Final = (".jsonl.gz", ".jsonl")

_GZIP: Final = b"\x1f\x8b"
_NAME: Final = re.compile(rf"(?P<model>.+)_(?P<approach>{'|'.join(sorted(APPROACHES, key=len, reverse=True))})(?:_.*)?")
_ARGUMENTS: Final = ("task", "model_name", "approach_name")
_PROMPT: Final = re.compile(r"\A.*?Question #\d+:\s*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRow:
    """A question that was asked.

    Attributes:
        index: of the question in its run, from 0.
        question: without the prompt around it.
        target: the right answer; empty where the question alone says what is right.
        reply: all that the model wrote.
        answer: what the authors took for its answer; None where the file does not say.
    """

    index: int
    question: str
    target: str
    reply: str
    answer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """A task, run with a model under an approach.

    Attributes:
        arm: the approach, by its name in the table.
        skipped: for each line that is no row, where it stands and why.
    """

    file: Path
    task: str
    model: str
    arm: str
    rows: tuple[RecordedRow, ...]
    skipped: tuple[str, ...] = ()


def find_files(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The files of runs among `paths` and in the folders among them, and the other files of those folders; both sorted.

    Raises:
        TaskError: a path is not there, a file has another ending, or there is no run at all.
    """
    runs: set[Path] = set()
    others: set[Path] = set()
    for path in paths:
        found = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [_file(path)]
        runs |= {file for file in found if file.name.endswith(SUFFIXES)}
        others |= {file for file in found if not file.name.endswith(SUFFIXES)}
    if not runs:
        raise TaskError(
            f"There is no recorded run in {', '.join(map(str, paths))}. Runs are {' or '.join(SUFFIXES)} files."
        )
    return sorted(runs), sorted(others)


def read_run(file: Path) -> RecordedRun:
    """The run in a file.

    Raises:
        TaskError: the file or one of its lines cannot be read, its task, model and approach cannot be told, or it has
            no row that can be used.
    """
    lines = jsonl.parse(_content(file), source=str(file))
    arguments, records = _without_arguments(lines.records)
    task, model, approach = _identity(file, arguments)
    read = [_row(record, index, task) for index, record in enumerate(records)]
    skipped = [f"{file}: {problem}" for problem in read if isinstance(problem, str)]
    if lines.torn:
        skipped.append(f"{file}: its last line is not whole JSON")
    rows = tuple(row for row in read if isinstance(row, RecordedRow))
    if not rows:
        raise TaskError(f"{file} holds no row that can be scored. A row has a target and an output (or final_output).")
    return RecordedRun(file=file, task=task, model=model, arm=APPROACHES[approach], rows=rows, skipped=tuple(skipped))


def _file(path: Path) -> Path:
    if not path.exists():
        raise TaskError(f"There is no file or folder {path}.")
    if not path.name.endswith(SUFFIXES):
        raise TaskError(f"{path} is no recorded run. Runs are {' or '.join(SUFFIXES)} files.")
    return path


def _content(file: Path) -> bytes:
    try:
        data = file.read_bytes()
        return gzip.decompress(data) if data.startswith(_GZIP) else data
    except (OSError, EOFError, zlib.error) as error:
        raise TaskError(f"{file} cannot be read: {error}. Was it copied to its end?") from error


def _without_arguments(records: Sequence[jsonl.Record]) -> tuple[Mapping[str, str], Sequence[jsonl.Record]]:
    """The arguments of the program, where the first line holds them, and the other lines."""
    first = records[0].value if records else {}
    arguments = {name: first[name] for name in _ARGUMENTS if isinstance(first.get(name), str)}
    return (arguments, records[1:]) if arguments and "input" not in first else ({}, records)


def _identity(file: Path, arguments: Mapping[str, str]) -> tuple[str, str, str]:
    """Task, model and approach."""
    stem = next(file.name.removesuffix(suffix) for suffix in SUFFIXES if file.name.endswith(suffix))
    named, parted, rest = stem.partition("__")
    name = _NAME.fullmatch(rest if parted else stem)
    folder = next((part for part in reversed(file.resolve().parts[:-1]) if part in TASKS), None)
    task = named if parted else folder or arguments.get("task")
    model = name["model"] if name else arguments.get("model_name")
    approach = name["approach"] if name else arguments.get("approach_name")
    if task is None or task not in TASKS:
        raise TaskError(_unknown(file, "task", task, TASKS))
    if approach is None or approach not in APPROACHES:
        raise TaskError(_unknown(file, "approach", approach, APPROACHES))
    if not model:
        raise TaskError(_unknown(file, "model", model, ("any name",)))
    return task, model, approach


def _unknown(file: Path, what: str, name: object, allowed: Iterable[str]) -> str:
    told = f"its {what} {name!r} is not known" if name else f"its name does not tell the {what}"
    return (
        f"{file}: {told}; allowed is {', '.join(allowed)}. Name it TASK__MODEL_APPROACH.jsonl, such as "
        f"AIME_2024__gpt-4o_Baseline.jsonl, or TASK/MODEL_APPROACH.jsonl."
    )


def _row(record: jsonl.Record, index: int, task: str) -> RecordedRow | str:
    """The row of a line, or why it is none."""
    values = record.value
    reply = _first_of(values, "output", "final_output")
    target = "" if TASKS[task].by_question else _first_of(values, "target")
    question = _first_of(values, "raw_input") or _PROMPT.sub("", _first_of(values, "input") or "")
    lacking = [
        name for name, value in (("output", reply), ("target", target), ("input", question or None)) if value is None
    ]
    if reply is None or target is None or not question:
        return f"line {record.line} has no {' and no '.join(lacking)}"
    index = values["index"] if isinstance(values.get("index"), int) else index
    answer = _first_of(values, "answer", "final_answer")
    return RecordedRow(index=index, question=question, target=target, reply=reply, answer=answer)


def _first_of(values: Mapping[str, Any], *names: str) -> str | None:
    """The first of these fields that is a text or a number."""
    found = (values.get(name) for name in names)
    return next((str(value) for value in found if isinstance(value, (str, int)) and not isinstance(value, bool)), None)
