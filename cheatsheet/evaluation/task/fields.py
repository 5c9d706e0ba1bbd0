"""Which column of a source is which field of a question.

A field is read from the column of its own name, from the one that was named for it (`--fields input=question`), or from
a column under one of the names that other people's task files use. What is left over is metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cheatsheet.errors import TaskError, nearest_name
from cheatsheet.evaluation.task.raw import RawSample

FIELDS = ("input", "target", "id", "choices", "metadata")

NAMEABLE = ("input", "target", "id", "choices")
"""The fields for which a column can be named."""

MAY_BE_LEFT_OUT = ("id", "choices")

ALIASES: Mapping[str, tuple[str, ...]] = {
    "input": ("question", "context", "problem", "prompt"),
    "target": ("answer",),
    "choices": ("options",),
}
"""What others call our fields; one of them is taken where it is the only one in a row."""


class Named(NamedTuple):
    """The values of one row under the names of our fields.

    Attributes:
        where: the row, for messages.
        columns: the column from which each field is read; a field that the row does not have is missing.
        rest: the columns that no field is read from.
        own_form: the row is in our own form, so that what looks wrong is wrong.
    """

    where: str
    columns: Mapping[str, str]
    values: Mapping[str, Any]
    rest: Mapping[str, Any]
    own_form: bool

    def label(self, field: str) -> str:
        """The field as messages call it: with its column where that has another name."""
        column = self.columns.get(field, field)
        return repr(field) if column == field else f"{field!r} (column {column!r})"


def read_fields(text: str) -> dict[str, str]:
    """The columns named in a text such as `input=question,target=answer`; `id=` says that no column is the id.

    Raises:
        TaskError: the text cannot be read, or names what is no field.
    """
    fields: dict[str, str] = {}
    for pair in filter(str.strip, text.split(",")):
        field, equals, column = (part.strip() for part in pair.partition("="))
        if not equals:
            raise TaskError(f"{pair.strip()!r} names no column. Write FIELD=COLUMN, such as input=question.")
        if field in fields:
            raise TaskError(f"The field {field!r} is given two columns: {fields[field]!r} and {column!r}.")
        fields[field] = column
    return checked(fields)


def checked(fields: Mapping[str, str]) -> dict[str, str]:
    """The same columns.

    Raises:
        TaskError: a name that is none of the fields, or a field that is needed and has no column.
    """
    for field, column in fields.items():
        if field not in NAMEABLE:
            raise TaskError(f"There is no field {field!r}.{_hint(field, column)} The fields are {_listed(NAMEABLE)}.")
        if not column and field not in MAY_BE_LEFT_OUT:
            raise TaskError(f"The field {field!r} needs a column, such as {field}={ALIASES[field][0]}.")
    return dict(fields)


def named(raw: RawSample, *, source: str, fields: Mapping[str, str], strict: bool) -> Named:
    """The values of a row under the names of our fields.

    Args:
        source: named in messages, with the row's place.
        fields: columns that were named by hand; any other column may then be there.
        strict: an unknown name beside `input` and `target` is a slip, where no column was named by hand.

    Raises:
        TaskError: a column is not there, is unknown, or several could be meant.
    """
    where = f"{source}, {raw.place}"
    own_form = strict and not fields and "input" in raw.values and "target" in raw.values
    if own_form:
        _refuse_unknown(raw.values, where)
    columns = _columns(raw.values, where, fields)
    return Named(
        where=where,
        columns=columns,
        values={field: raw.values[column] for field, column in columns.items()},
        rest={name: value for name, value in raw.values.items() if name not in columns.values()},
        own_form=own_form,
    )


def _columns(values: Mapping[str, Any], where: str, fields: Mapping[str, str]) -> dict[str, str]:
    taken = set(fields.values())
    found = {field: _given(values, where, field, column) for field, column in fields.items() if column}
    for field in FIELDS:
        if field not in fields and (column := _usual(values, where, field, taken)) is not None:
            found[field] = column
    for field in ("input", "target"):
        if field not in found:
            raise TaskError(f"{where}: the field {field!r} is missing.{_columns_told(values, field)}")
    return found


def _given(values: Mapping[str, Any], where: str, field: str, column: str) -> str:
    if column not in values:
        close = nearest_name(column, values)
        hint = f" Did you mean {close!r}?" if close else ""
        raise TaskError(f"{where}: there is no column {column!r} for {field!r}.{hint} The row has {_listed(values)}.")
    return column


def _usual(values: Mapping[str, Any], where: str, field: str, taken: set[str]) -> str | None:
    """The field's own column, or the only one under a name that others use for it."""
    if field in values and field not in taken:
        return field
    found = [name for name in ALIASES.get(field, ()) if name in values and name not in taken]
    if len(found) > 1:
        raise TaskError(
            f"{where}: {_listed(found)} could each be the {field!r}. Say which, such as --fields {field}={found[0]}."
        )
    return found[0] if found else None


def _refuse_unknown(values: Mapping[str, Any], where: str) -> None:
    for name in values:
        if name not in FIELDS:
            close = nearest_name(name, FIELDS)
            hint = f" Did you mean {close!r}?" if close else " What else is to be kept goes into 'metadata'."
            raise TaskError(f"{where}: unknown field {name!r}.{hint} The fields are {_listed(FIELDS)}.")


def _columns_told(values: Mapping[str, Any], field: str) -> str:
    if not values:
        return ""
    close = nearest_name(field, values)
    return f" The row has {_listed(values)}; say which one it is: --fields {field}={close or 'COLUMN'}."


def _hint(field: str, column: str) -> str:
    if column in NAMEABLE:
        return f" Did you mean {column}={field}?"
    close = nearest_name(field, NAMEABLE)
    return f" Did you mean {close!r}?" if close else ""


def _listed(names: Mapping[str, Any] | tuple[str, ...] | list[str]) -> str:
    return ", ".join(map(repr, names))
