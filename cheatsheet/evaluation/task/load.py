"""Loading a task from whatever source is named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.task.fields import checked
from cheatsheet.evaluation.task.files import read_file
from cheatsheet.evaluation.task.hub import PREFIX, read_hub
from cheatsheet.evaluation.task.python import is_python, read_python
from cheatsheet.evaluation.task.raw import RawTask
from cheatsheet.evaluation.task.reader import samples_of
from cheatsheet.evaluation.task.sample import Sample, Task, shuffled
from cheatsheet.evaluation.task.split import Shares, Split


def load_task(
    source: str | Path,
    *,
    limit: int | None = None,
    seed: int | None = None,
    fields: Mapping[str, str] | None = None,
    split: Split | str | None = None,
) -> Task:
    """Read a task: a file, a data set of the Hugging Face Hub, or what Python code gives.

    `input` and `target` are needed; `id`, `choices` and `metadata` may be left out. A missing id is the row's number,
    from 1. A target or an id that is written as a number is taken as its text, and a target that is a choice's letter
    as that choice. What other columns hold is kept as metadata; in JSON Lines that have `input` and `target` an unknown
    name is an error.

    Args:
        source: `.jsonl`, `.csv` or `.tsv`, each also with `.gz`; `.parquet`; `hf:NAME`; `package.module:name`.
        limit: only the first so many questions, counted after the split and in the order of `seed`.
        seed: of the order; None is the source's own order.
        fields: the columns that are `input`, `target`, `id` or `choices`, where they are named otherwise.
        split: a part of the source, such as `test`, or `test:60/20/20`, which cuts it by these shares.

    Raises:
        TaskError: the source, one of its rows, or an argument cannot be used; names the row.
        UnknownNameError: a source that is cut has no such part.
        MissingExtraError: an optional package is needed to read the source.
    """
    if limit is not None and limit < 1:
        raise TaskError(f"The limit is {limit}; it must be 1 or more.")
    wanted = Split.parse(split) if isinstance(split, str) else split
    columns = checked(fields or {})
    raw = _read(source, split=wanted.name if wanted and wanted.shares is None else None)
    whole = samples_of(raw, fields=columns)
    samples, part = _part(whole, wanted, raw)
    ordered = samples if seed is None else shuffled(samples, seed=seed)
    return Task(
        name=raw.name,
        samples=tuple(ordered[:limit]),
        sha256=raw.sha256 or _sha256(whole, raw),
        path=raw.path,
        seed=seed,
        limit=limit,
        fields=columns,
        split=part,
        instruction=raw.instruction,
        scorer=raw.scorer,
        version=raw.version,
    )


def _read(source: str | Path, *, split: str | None) -> RawTask:
    text = str(source)
    if text.startswith(PREFIX):
        return read_hub(text, split=split)
    if isinstance(source, str) and is_python(source) and not Path(source).exists():
        return read_python(source, split=split)
    return read_file(Path(source))


def _part(whole: Sequence[Sample], split: Split | None, raw: RawTask) -> tuple[Sequence[Sample], str]:
    """The samples that were asked for, and how they were cut, as a text."""
    if split is None or raw.own_split:
        return whole, raw.own_split
    shares = split.shares or Shares()
    return shares.part(split.name, whole, source=raw.path), str(Split(name=split.name, shares=shares))


def _sha256(samples: Sequence[Sample], raw: RawTask) -> str:
    """Of the questions and the instruction, as JSON with sorted names."""
    told = [[each.id, each.input, each.target, each.choices, each.metadata] for each in samples]
    try:
        text = json.dumps([raw.instruction, told], sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TaskError(f"{raw.path}: the metadata of its questions cannot be written as JSON: {error}.") from error
    return hashlib.sha256(text.encode("ascii")).hexdigest()
