"""Tasks: streams of questions with known answers, read from JSON Lines."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cheatsheet.errors import TaskError, nearest_name
from cheatsheet.evaluation import jsonl

FIELDS = ("input", "target", "id", "choices", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question.

    Attributes:
        id: unique in its task.
        input: the question, as the memory is asked.
        target: the right answer.
        choices: the only answers allowed, `target` among them; empty when the answer is free.
        metadata: whatever else the file says; scorers see it, the memory does not.
    """

    id: str
    input: str
    target: str
    choices: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Questions in the order in which they are asked.

    Attributes:
        name: the file's name without its ending.
        sha256: of the file's bytes, in hexadecimal.
        seed: of the order; None is the file's own order.
        limit: only so many questions, counted in this order; None is all of them.
    """

    name: str
    samples: tuple[Sample, ...]
    sha256: str
    path: str = ""
    seed: int | None = None
    limit: int | None = None


def load_task(path: str | Path, *, limit: int | None = None, seed: int | None = None) -> Task:
    """Read a task from a file with one JSON object a line.

    `input` and `target` are needed; `id`, `choices` and `metadata` may be left out. A missing id is the row's number,
    from 1. A target or an id that is written as a number is taken as its text.

    Raises:
        TaskError: the file, one of its lines, or `limit` cannot be used; names the line.
    """
    path = Path(path)
    if limit is not None and limit < 1:
        raise TaskError(f"The limit is {limit}; it must be 1 or more.")
    data = _bytes_of(path)
    samples = _samples(data, str(path))
    ordered = samples if seed is None else shuffled(samples, seed=seed)
    return Task(
        name=path.stem,
        samples=tuple(ordered[:limit]),
        sha256=hashlib.sha256(data).hexdigest(),
        path=str(path),
        seed=seed,
        limit=limit,
    )


def shuffled(samples: Sequence[Sample], *, seed: int) -> list[Sample]:
    """An order that follows from the seed and the ids alone.

    `random.shuffle` may give another order under another version of Python; a hash does not.
    """
    return sorted(
        samples, key=lambda sample: hashlib.sha256(f"{seed}:{sample.id}".encode(errors="surrogatepass")).digest()
    )


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TaskError(f"The task file {path} cannot be read: {error.strerror}.") from error


def _samples(data: bytes, source: str) -> list[Sample]:
    lines = jsonl.parse(data, source=source)
    if lines.torn:
        number = data.count(b"\n") + 1
        raise TaskError(f"{source}, line {number}: the last line is not whole JSON. Was the file written to its end?")
    samples = [
        _sample(record, row=row, where=f"{source}, line {record.line}")
        for row, record in enumerate(lines.records, start=1)
    ]
    if not samples:
        raise TaskError(f"{source} holds no questions. Each line must be a JSON object with 'input' and 'target'.")
    _refuse_twins(samples, [record.line for record in lines.records], source)
    return samples


def _sample(record: jsonl.Record, *, row: int, where: str) -> Sample:
    values = record.value
    _refuse_unknown(values, where)
    sample = Sample(
        id=_text(values, "id", where) if values.get("id") is not None else str(row),
        input=_text(values, "input", where),
        target=_text(values, "target", where),
        choices=_choices(values, where),
        metadata=_metadata(values, where),
    )
    return _with_valid_target(sample, where)


def _refuse_unknown(values: Mapping[str, Any], where: str) -> None:
    for name in values:
        if name not in FIELDS:
            close = nearest_name(name, FIELDS)
            hint = f" Did you mean {close!r}?" if close else " What else is to be kept goes into 'metadata'."
            raise TaskError(f"{where}: unknown field {name!r}.{hint} The fields are {', '.join(map(repr, FIELDS))}.")


def _text(values: Mapping[str, Any], name: str, where: str) -> str:
    value = values.get(name)
    if value is None:
        raise TaskError(f"{where}: the field {name!r} is missing.")
    if isinstance(value, (int, float)) and not isinstance(value, bool) and name != "input":
        return str(value)
    if not isinstance(value, str):
        raise TaskError(f"{where}: {name!r} is a {type(value).__name__}, but must be a text.")
    if not value.strip():
        raise TaskError(f"{where}: {name!r} is blank.")
    return value


def _choices(values: Mapping[str, Any], where: str) -> tuple[str, ...]:
    choices = values.get("choices")
    if choices is None:
        return ()
    if not isinstance(choices, list) or not all(isinstance(choice, str) and choice.strip() for choice in choices):
        raise TaskError(f"{where}: 'choices' must be a list of texts that are not blank.")
    if len(choices) < 2 or len(set(choices)) < len(choices):
        raise TaskError(f"{where}: 'choices' must be two or more different texts; leave it out for a free answer.")
    return tuple(choices)


def _metadata(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    metadata = values.get("metadata")
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        raise TaskError(f"{where}: 'metadata' is a {type(metadata).__name__}, but must be an object.")
    return metadata


def _with_valid_target(sample: Sample, where: str) -> Sample:
    if not sample.choices or sample.target in sample.choices:
        return sample
    stripped = sample.target.strip()
    if stripped in sample.choices:
        return replace(sample, target=stripped)
    choices = ", ".join(map(repr, sample.choices))
    raise TaskError(f"{where}: the target {sample.target!r} is not one of the choices {choices}.")


def _refuse_twins(samples: Sequence[Sample], lines: Sequence[int], source: str) -> None:
    seen: dict[str, int] = {}
    for sample, line in zip(samples, lines, strict=True):
        if sample.id in seen:
            raise TaskError(
                f"{source}, line {line}: the id {sample.id!r} is taken by line {seen[sample.id]}. Ids must differ; "
                f"a row without an id is given its row number."
            )
        seen[sample.id] = line
