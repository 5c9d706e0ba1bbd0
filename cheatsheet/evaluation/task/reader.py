"""Rows become questions: each value is checked, and what is wrong is told with its place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.task.fields import Named, named
from cheatsheet.evaluation.task.raw import RawTask
from cheatsheet.evaluation.task.sample import Sample


def samples_of(raw: RawTask, *, fields: Mapping[str, str]) -> list[Sample]:
    """The questions of a source, in its order. A row without an id is given its number, from 1.

    Raises:
        TaskError: there is none, one of them cannot be used, or two have the same id.
    """
    rows = (named(sample, source=raw.path, fields=fields, strict=raw.strict) for sample in raw.samples)
    samples = [_sample(row, number) for number, row in enumerate(rows, start=1)]
    if not samples:
        raise TaskError(f"{raw.path} holds no questions. Each row must have 'input' and 'target'.")
    _refuse_twins(samples, raw)
    return samples


def _sample(row: Named, number: int) -> Sample:
    sample = Sample(
        id=_text(row, "id") if row.values.get("id") is not None else str(number),
        input=_text(row, "input"),
        target=_text(row, "target"),
        choices=_choices(row),
        metadata=_metadata(row),
    )
    return _with_valid_target(sample, row)


def _text(row: Named, field: str) -> str:
    value = row.values[field]
    label = row.label(field)
    if value is None:
        raise TaskError(f"{row.where}: {label} has no value.")
    if isinstance(value, (int, float)) and not isinstance(value, bool) and field != "input":
        return str(value)
    if not isinstance(value, str):
        raise TaskError(f"{row.where}: {label} is a {type(value).__name__}, but must be a text.")
    if not value.strip():
        raise TaskError(f"{row.where}: {label} is blank.")
    return value


def _choices(row: Named) -> tuple[str, ...]:
    choices = _from_json(row.values.get("choices"))
    label = row.label("choices")
    if choices is None:
        return ()
    if not isinstance(choices, (list, tuple)) or not all(isinstance(each, str) and each.strip() for each in choices):
        raise TaskError(
            f"{row.where}: {label} must be a list of texts that are not blank; in a table of texts, written as JSON."
        )
    if len(choices) < 2 or len(set(choices)) < len(choices):
        raise TaskError(f"{row.where}: {label} must be two or more different texts; leave it out for a free answer.")
    return tuple(choices)


def _metadata(row: Named) -> dict[str, Any]:
    metadata = _from_json(row.values.get("metadata"))
    if metadata is None:
        return dict(row.rest)
    if not isinstance(metadata, Mapping) and not row.own_form:
        return {**row.rest, "metadata": metadata}
    if not isinstance(metadata, Mapping):
        raise TaskError(f"{row.where}: 'metadata' is a {type(metadata).__name__}, but must be an object.")
    return {**row.rest, **metadata}


def _from_json(value: Any) -> Any:
    """A list or an object that is written as a text, as in a CSV file; anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _with_valid_target(sample: Sample, row: Named) -> Sample:
    """The sample with the wording of its choice as target, also where that was told by its letter."""
    if not sample.choices or sample.target in sample.choices:
        return sample
    stripped = sample.target.strip()
    if stripped in sample.choices:
        return replace(sample, target=stripped)
    place = ord(stripped) - ord("A") if len(stripped) == 1 else -1
    if 0 <= place < min(len(sample.choices), 26):
        return replace(sample, target=sample.choices[place])
    choices = ", ".join(map(repr, sample.choices))
    raise TaskError(f"{row.where}: the target {sample.target!r} is not one of the choices {choices}.")


def _refuse_twins(samples: Sequence[Sample], raw: RawTask) -> None:
    seen: dict[str, str] = {}
    for sample, place in zip(samples, (each.place for each in raw.samples), strict=True):
        if sample.id in seen:
            raise TaskError(
                f"{raw.path}, {place}: the id {sample.id!r} is taken by {seen[sample.id]}. Ids must differ; a row "
                f"without an id is given its row number, and with --fields id= all rows are."
            )
        seen[sample.id] = place
