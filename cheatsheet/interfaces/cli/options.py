"""Every setting as an option of the command line, under its own name."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from cheatsheet.settings import Settings, load_settings

Command = Callable[..., None]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def with_settings(*, without: frozenset[str] = frozenset()) -> Callable[[Command], Command]:
    """Give a command an option for every setting, and hand it the loaded `settings` as an argument of that name.

    Args:
        without: settings that make no sense for the command.
    """

    def decorate(command: Command) -> Command:
        fields = {name: field for name, field in Settings.model_fields.items() if name not in without}

        def wrapper(**values: Any) -> None:
            given = {name: _given(values.pop(name)) for name in fields}
            command(**values, settings=load_settings(**given))

        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "settings"]
        parameters = [*own, *(_option(name, field) for name, field in fields.items())]
        _pose_as(wrapper, command, parameters)
        return wrapper

    return decorate


def option_name(setting: str) -> str:
    """`top_k` becomes `--top-k`."""
    return "--" + setting.replace("_", "-")


def _pose_as(wrapper: Command, command: Command, parameters: list[inspect.Parameter]) -> None:
    wrapper.__name__ = command.__name__
    wrapper.__doc__ = command.__doc__
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what inspect looks for
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


def _given(value: Any) -> Any:
    return None if value == [] else value


def _option(name: str, field: FieldInfo) -> inspect.Parameter:
    default = "" if field.default in (None, ()) else f" Default: {field.default}."
    description = field.description or ""
    text = f"{description[:1].upper()}{description[1:]}.{default}"
    plain = _plain(field.annotation)
    flags = f"{option_name(name)}/--no-{option_name(name)[2:]}" if plain is bool else option_name(name)
    info = typer.Option(flags, help=text, rich_help_panel="Settings", show_default=False)
    annotation: Any = Annotated[plain | None, info]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _plain(annotation: Any) -> Any:
    """The type that the command line reads; the settings check it again."""
    if get_origin(annotation) in (Union, types.UnionType):
        return _plain(next(part for part in get_args(annotation) if part is not type(None)))
    if get_origin(annotation) is tuple:
        return list[str]
    return annotation if annotation in (int, float, bool) or get_origin(annotation) is Literal else str
