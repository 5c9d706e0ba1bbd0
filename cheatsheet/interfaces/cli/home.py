"""`init`, `doctor`: making the home of an agent, and finding out what is wrong."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cheatsheet.errors import SetupError
from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_json, print_note, print_table, print_text
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.interfaces.finding import Finding

_NEXT: Final = """Next:
  write into {home}/IDENTITY.md and USER.md who the agent is and whom it serves;
  cheatsheet context --explain   shows what an agent starts from, and why;
  cheatsheet doctor              checks that all is well."""


@with_settings()
def init(
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write the templates over files that are there.")
    ] = False,
    *,
    settings: Settings,
) -> None:
    """Make the home of an agent from templates; what is there already stays."""
    from cheatsheet.context.home import create_home

    home = settings.home_folder
    created = create_home(home, overwrite=overwrite)
    print_text("\n".join(f"{done} {home / name}" for done, name in _told(created.written, created.kept)))
    print_note(_NEXT.format(home=home))


def _told(written: Sequence[str], kept: Sequence[str]) -> list[tuple[str, str]]:
    return [*(("wrote", name) for name in written), *(("kept", name) for name in kept)]


def _without_settings_too(command: Callable[..., None]) -> Callable[..., None]:
    """Where the settings cannot be read, that is the one finding; the rest depends on them."""

    @functools.wraps(command)
    def wrapper(*, as_json: bool, **values: Any) -> None:
        try:
            command(as_json=as_json, **values)
        except SetupError as error:
            from cheatsheet.interfaces.finding import Finding

            text = "The settings cannot be read; nothing else was looked at."
            _report([Finding(check="settings", level="error", text=text, mend=str(error))], as_json)

    return wrapper


@_without_settings_too
@with_settings()
def doctor(
    full: Annotated[
        bool, typer.Option("--full", help="Also what takes time: load the embedding model, replay long journals.")
    ] = False,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Check home, settings, memory, models and the rest, and tell how to mend what is wrong.

    Ends with 1 where something does not work, and with 0 otherwise. No model is called, and nothing is changed.
    """
    from cheatsheet.interfaces.doctor import examine

    _report(examine(settings, full=full), as_json)


def _report(findings: Sequence[Finding], as_json: bool) -> None:
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        rows = [(finding.level, finding.check, finding.text, finding.mend) for finding in findings]
        print_table(("level", "check", "finding", "how to mend it"), rows)
    counts = Counter(finding.level for finding in findings)
    print_note(f"errors: {counts['error']}, warnings: {counts['warning']}, ok: {counts['ok']}")
    if counts["error"]:
        raise typer.Exit(1)
