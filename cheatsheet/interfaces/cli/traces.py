"""`learn --traces`: learning from turns that were recorded elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cheatsheet.interfaces.cli import EXIT_STOPPED
from cheatsheet.interfaces.cli.bar import Bar
from cheatsheet.interfaces.cli.output import print_embedding, print_json, print_note, print_text
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.evaluation.adaptation.teach import Taught

_EXIT_NOTHING = 1


def learn_traces(path: Path, settings: Settings, as_json: bool, batch: int = 1) -> None:
    """Learn from a file of traces, and tell what came of it.

    Raises:
        typer.Exit: with code 1 where nothing could be learnt, 130 where the user stopped it.
        TaskError: the file cannot be read.
    """
    from cheatsheet.evaluation.adaptation.teach import teach
    from cheatsheet.evaluation.adaptation.traces import load_traces
    from cheatsheet.interfaces.wiring import Given, build_engine

    traces = load_traces(path)
    with build_engine(settings, Given(progress=print_embedding)) as engine, _stoppable(), Bar("learnt", "turns") as bar:
        taught = teach(engine, traces, batch_size=batch, tell=bar)
    if as_json:
        print_json({"file": str(path)} | taught.as_dict())
    else:
        print_text(_summary(taught))
    for one in taught.unread:
        print_note(f"{path}, line {one.line}: {one.reason}.")
    for text, times in taught.said.items():
        print_note(f"note: {text}" + (f" ({times:,} times)" if times > 1 else ""))
    if not (taught.learnt or taught.known):
        print_note("Nothing could be learnt: " + ("see the reasons above." if taught.unread else f"{path} is empty."))
        raise typer.Exit(_EXIT_NOTHING)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Turn Ctrl-C into a sentence: every turn that was learnt is in the memory, and is not learnt again."""
    try:
        yield
    except KeyboardInterrupt:
        print_note("Stopped. Nothing is lost: give the same command again to go on.")
        raise typer.Exit(EXIT_STOPPED) from None


def _summary(taught: Taught) -> str:
    changes = ", ".join(f"{type} {times:,}" for type, times in sorted(taught.changes.items()))
    lines = [
        f"learnt {taught.learnt:,} of {taught.turns:,} turns",
        f"known before {taught.known:,}",
        f"could not be learnt {len(taught.unread):,}",
        f"changes {changes or 'none'}",
        f"experiences {taught.experiences:,}",
    ]
    return "\n".join(lines)
