"""The command line.

Exit codes: 0 done; 1 it could not be done (a model or a memory failed); 2 a mistake in what was asked (an unknown
setting, a file that cannot be read); 3 a run without a single scored answer; 4 a run whose budget is spent and that can
go on under a higher one; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

import typer

from cheatsheet.errors import CheatsheetError, RunStoppedError, SetupError
from cheatsheet.interfaces.cli.output import print_note, tolerate_encodings

EXIT_FAILED = 1
EXIT_MISTAKE = 2
EXIT_STOPPED = 130

# Set by the scripts of `--install-completion` when a shell asks for completions; and where each shell puts its line.
_COMPLETING = "_CHEATSHEET_COMPLETE"
_LINES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")

# Where each command is, and the first line of its help; so `cheatsheet --help` need not import them (a test compares).
COMMANDS = {
    "ask": ("turns:ask", "Answer a question with what is remembered, and learn where the right answer is told."),
    "recall": ("turns:recall", "Print the context for a question, within the token budget."),
    "context": ("context:context", "Print the context that an agent starts from, within the token budget."),
    "learn": ("turns:learn", "Learn from an answer that was given elsewhere."),
    "show": ("memory:show", "Show the bullets of a memory."),
    "import": ("playbooks:import_playbook", "Learn what stands in a playbook of any known format."),
    "export": ("playbooks:export_playbook", "Write the bullets as a playbook in one of the known formats."),
    "preload": ("playbooks:preload", "Load domain knowledge from files; a file that changed brings what is new."),
    "refine": ("upkeep:refine", "Archive what is expired, harmful or over the limits; nothing is destroyed."),
    "archive": ("upkeep:archive", "Take bullets or experiences out of service; `restore` brings them back."),
    "restore": ("upkeep:restore", "Bring archived bullets or experiences back into service."),
    "backup": (
        "keeping:backup",
        "Copy the memory to a file, while others read and write it; the copy is a memory of its own.",
    ),
    "verify": (
        "keeping:verify",
        "Check that the memory is what its journal tells, with all that is kept beside it; exit code 1 if it is not.",
    ),
    "vacuum": (
        "keeping:vacuum",
        "Forget of the past what explains nothing that lives, and give back the room; the memory stays as it is.",
    ),
    "migrate": (
        "moving:migrate",
        "Copy a whole memory with its past to an empty place: from a file to PostgreSQL, back, or among their like.",
    ),
    "history": ("past:history", "Show the journal: every change of a memory, newest first."),
    "blame": (
        "past:blame",
        "Tell why a bullet is what it is: every change, with its turn, its model and the feedback that it came from.",
    ),
    "diff": ("past:diff", "Show what changed in a memory between two places in its past, or from one until now."),
    "rollback": (
        "past:rollback",
        "Make a memory what it was; what came later is archived, not lost, and rolling back again brings it back.",
    ),
    "eval": ("evaluate:evaluate", "Run a stream of questions under several memory modes and compare them."),
    "report": (
        "report:report",
        "Show what runs came to: whether memory helps, how much, how sure that is, at what cost, and every question.",
    ),
    "adapt": (
        "adapt:adapt",
        "Let a memory learn from a training file in several epochs, and keep what it knew after its best one.",
    ),
    "warm": (
        "warm:warm",
        "Export the embedding model to ONNX once, so that the first recall comes without loading torch.",
    ),
    "mcp": ("mcp:serve", "Serve the memory to agents over MCP."),
    "settings": ("memory:show_settings", "List every setting with its value and meaning."),
    "init": ("home:init", "Make the home of an agent from templates; what is there already stays."),
    "audit": (
        "audit:audit",
        "List what looks like instructions, secrets, hidden characters or an overlong bullet; exit code 1 if any.",
    ),
    "doctor": ("home:doctor", "Check home, settings, memory, models and the rest, and tell how to mend what is wrong."),
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


def _wanted(given: Sequence[str], environment: Mapping[str, str]) -> str:
    """The command that will be used, or whose line a shell wants completed; empty for none.

    The first word is the command: no option of the application itself goes with one.
    """
    words = list(given)
    if _COMPLETING in environment:
        line = next((environment[name] for name in _LINES if name in environment), "")
        words = line.split()[1:]
    return words[0] if words and words[0] in COMMANDS else ""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code; the user's mistakes are sentences, ours are tracebacks."""
    tolerate_encodings()
    given = sys.argv[1:] if arguments is None else arguments
    try:
        build_app(_wanted(given, os.environ))(args=given, prog_name="cheatsheet")
    except RunStoppedError as stopped:
        print_note(str(stopped))
        sys.exit(EXIT_STOPPED)
    except CheatsheetError as error:
        print_note("\n".join([f"Error: {error}", *getattr(error, "__notes__", ())]))
        sys.exit(EXIT_MISTAKE if isinstance(error, SetupError) else EXIT_FAILED)
