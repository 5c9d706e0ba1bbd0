"""The command line.

Exit codes: 0 done; 1 it could not be done (a model or a memory failed); 2 a mistake in what was asked (an unknown
setting, a file that cannot be read); 3 a run without a single scored answer; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

import typer

from cheatsheet.errors import CheatsheetError, RunStoppedError, SetupError
from cheatsheet.interfaces.cli.output import print_note

EXIT_FAILED = 1
EXIT_MISTAKE = 2
EXIT_STOPPED = 130


# Where each command is, and the first line of its help; so `cheatsheet --help` need not import them (a test compares).
COMMANDS = {
    "ask": ("turns:ask", "Answer a question with what is remembered, and learn where the right answer is told."),
    "recall": ("turns:recall", "Print the context for a question, within the token budget."),
    "learn": ("turns:learn", "Learn from an answer that was given elsewhere."),
    "show": ("memory:show", "Show the bullets of a memory."),
    "history": ("memory:history", "Show the journal: every change of a memory, newest first."),
    "eval": ("evaluate:evaluate", "Run a stream of questions under several memory modes and compare them."),
    "settings": ("memory:show_settings", "List every setting with its value and meaning."),
}


def build_app(wanted: str | None = None) -> typer.Typer:
    """The application.

    Args:
        wanted: the one command that will be used; the others are only listed. None makes all of them usable.
    """
    app = typer.Typer(
        name="cheatsheet",
        help="A memory for LLM agents: recall before answering, learn after.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for name, (place, summary) in COMMANDS.items():
        app.command(name, help=None if wanted in (None, name) else summary)(
            _load(place) if wanted in (None, name) else _listed
        )
    return app


def _load(place: str) -> Callable[..., object]:
    module, _, function = place.partition(":")
    loaded: Callable[..., object] = getattr(import_module(f"{__name__}.{module}"), function)
    return loaded


def _listed() -> None:
    """Stand in for a command that is not the one wanted."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code; the user's mistakes are sentences, ours are tracebacks."""
    given = sys.argv[1:] if arguments is None else arguments
    # The first word is the command; the application itself has no option but --help.
    wanted = given[0] if given and given[0] in COMMANDS else ""
    try:
        build_app(wanted)(args=given, prog_name="cheatsheet")
    except RunStoppedError as stopped:
        print_note(str(stopped))
        sys.exit(EXIT_STOPPED)
    except CheatsheetError as error:
        print_note("\n".join([f"Error: {error}", *getattr(error, "__notes__", ())]))
        sys.exit(EXIT_MISTAKE if isinstance(error, SetupError) else EXIT_FAILED)
