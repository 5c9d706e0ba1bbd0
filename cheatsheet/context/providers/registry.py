"""Which providers there are: ours, and those of users by a dotted path or an entry point."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from cheatsheet.context.fence import one_line
from cheatsheet.context.providers.bootstrap import BootstrapProvider
from cheatsheet.context.providers.clock import TimeModeProvider
from cheatsheet.context.providers.daily_log import DailyLogProvider
from cheatsheet.context.providers.entities import EntitiesProvider
from cheatsheet.context.providers.home_files import HomeFilesProvider
from cheatsheet.context.providers.provider import Note, Provider
from cheatsheet.context.providers.runtime import RuntimeProvider
from cheatsheet.context.providers.skills import SkillsProvider
from cheatsheet.context.providers.workspace import WorkspaceProvider
from cheatsheet.errors import SetupError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP: Final = "cheatsheet.providers"

_HOW: Final = (
    "A provider has a `name` and a method `provide(request)` that returns a `Provided` "
    "(cheatsheet.context.providers.provider)."
)


def default_providers() -> tuple[Provider, ...]:
    """Ours, in the order of the design's table."""
    return (
        HomeFilesProvider(),
        TimeModeProvider(),
        WorkspaceProvider(),
        SkillsProvider(),
        EntitiesProvider(),
        RuntimeProvider(),
        DailyLogProvider(),
        BootstrapProvider(),
    )


def load_provider(path: str) -> Provider:
    """The provider at a dotted path `package.module:name`: an instance, or a class or function that makes one.

    Raises:
        SetupError: there is none, or it is no provider.
    """
    module, _, name = path.partition(":")
    if not module or module.startswith(".") or not name.isidentifier():
        raise SetupError(f"{path!r} is no path of a provider. Write it as 'package.module:name'.")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise SetupError(
            f"Cannot load the provider {path!r}: {error}. Install or correct it, or leave it out."
        ) from error
    return _provider(found, path)


def installed_providers(
    find: Callable[..., Iterable[EntryPoint]] | None = None,
) -> tuple[tuple[Provider, ...], tuple[Note, ...]]:
    """Providers that installed packages offer in the group `cheatsheet.providers`, by name; a broken one is told.

    Args:
        find: as `importlib.metadata.entry_points`, which is the default.
    """
    from importlib.metadata import entry_points  # 30 ms

    providers: list[Provider] = []
    notes: list[Note] = []
    for entry in sorted((find or entry_points)(group=ENTRY_POINT_GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            providers.append(_provider(entry.load(), entry.value))
        except Exception as error:  # whatever a package of others does when it is imported
            text = f"The provider {entry.name!r} ({entry.value}) cannot be loaded: {one_line(str(error))}"
            notes.append(Note(kind="left-out", provider=entry.name, text=text))
    return tuple(providers), tuple(notes)


def _provider(found: Any, path: str) -> Provider:
    made = found
    if inspect.isclass(found) or not _is_provider(found):
        try:
            made = found()
        except Exception as error:  # code of others
            raise SetupError(f"Making the provider {path!r} failed: {one_line(str(error))}. {_HOW}") from error
    if not _is_provider(made):
        raise SetupError(f"{path!r} is no provider. {_HOW}")
    provider: Provider = made
    return provider


def _is_provider(value: Any) -> bool:
    return isinstance(getattr(value, "name", None), str) and callable(getattr(value, "provide", None))
