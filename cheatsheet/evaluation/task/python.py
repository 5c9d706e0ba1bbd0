"""Python code that gives questions: `package.module:name`, or `package.module:name+n=50` with arguments.

The name is a function or a class, which is called, or what can be gone through itself. It gives samples, or mappings
with the fields of a task file. These attributes are read where they are there, of what was given or of what was called:
`name`, `instruction`, `scorer` and `version`, all texts. One that takes an argument `split` has splits of its own.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cheatsheet.errors import TaskError, nearest_name
from cheatsheet.evaluation.task.fields import FIELDS
from cheatsheet.evaluation.task.options import parted
from cheatsheet.evaluation.task.raw import RawSample, RawTask, safe_name
from cheatsheet.evaluation.task.sample import Sample

_SOURCE = re.compile(r"[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*\s*(\+.*)?")


def is_python(source: str) -> bool:
    """Whether a source is of the form `package.module:name`."""
    return _SOURCE.fullmatch(source) is not None


def read_python(source: str, *, split: str | None) -> RawTask:
    """The questions that the code gives. What it raises itself is let through.

    Args:
        split: of the code's own splits, where the source does not name one itself.

    Raises:
        TaskError: the code is not there, cannot be called so, or gives something else.
    """
    place, options = parted(source)
    found = _found(place)
    own = split is not None and "split" not in options and _takes_split(found)
    given = _given(found, options | ({"split": split} if own and split else {}), place)
    return RawTask(
        name=safe_name(_told("name", given, found, place) or place.partition(":")[2]),
        path=source,
        samples=tuple(_raw(item, number, source) for number, item in enumerate(given, start=1)),
        strict=True,
        own_split=split if own and split else "",
        instruction=_told("instruction", given, found, place),
        scorer=_told("scorer", given, found, place),
        version=_told("version", given, found, place),
    )


def _found(place: str) -> Any:
    module_name, _, name = place.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise TaskError(
            f"Task {place!r}: {error}. Install the module, or put its folder into the PYTHONPATH."
        ) from error
    if not hasattr(module, name):
        close = nearest_name(name, vars(module))
        hint = f" Did you mean {close!r}?" if close else ""
        raise TaskError(f"Task {place!r}: the module {module_name!r} has no {name!r}.{hint}")
    return getattr(module, name)


def _takes_split(found: Any) -> bool:
    return callable(found) and "split" in inspect.signature(found).parameters


def _given(found: Any, arguments: Mapping[str, str], place: str) -> Iterable[Any]:
    if callable(found):
        found = found(**_converted(found, arguments, place))
    elif arguments:
        raise TaskError(f"Task {place!r} is no function and no class, and takes no {', '.join(arguments)}.")
    if not isinstance(found, Iterable) or isinstance(found, (str, bytes, Mapping)):
        raise TaskError(f"Task {place!r} gives a {type(found).__name__}, but must give samples, one after the other.")
    return found


def _converted(found: Any, arguments: Mapping[str, str], place: str) -> dict[str, Any]:
    """The arguments as the values that the call's annotations ask for; a text where there is none."""
    signature = inspect.signature(found, eval_str=bool(arguments))
    try:
        signature.bind(**arguments)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "nothing"
        raise TaskError(f"Task {place!r} cannot be called so: {error}. It takes {takes}.") from error
    return {name: _value(text, name, signature, place) for name, text in arguments.items()}


def _value(text: str, name: str, signature: inspect.Signature, place: str) -> Any:
    parameter = signature.parameters.get(name)  # None where the call takes any name
    if parameter is None or parameter.annotation is inspect.Parameter.empty:
        return text
    try:
        return TypeAdapter(parameter.annotation).validate_python(text)
    except ValidationError as error:
        raise TaskError(f"Task {place!r}: {name}={text} cannot be used: {error.errors()[0]['msg']}.") from error


def _told(attribute: str, given: Any, found: Any, place: str) -> str:
    value = getattr(given, attribute, None)
    value = getattr(found, attribute, "") if value is None else value
    if not isinstance(value, str):
        raise TaskError(f"Task {place!r}: {attribute!r} is a {type(value).__name__}, but must be a text.")
    return value


def _raw(item: Any, number: int, source: str) -> RawSample:
    if isinstance(item, Sample):
        item = {name: getattr(item, name) for name in FIELDS if name != "choices" or item.choices}
    if not isinstance(item, Mapping):
        raise TaskError(f"{source}, row {number} is a {type(item).__name__}, but must be a Sample or a mapping.")
    return RawSample(place=f"row {number}", values=item)
