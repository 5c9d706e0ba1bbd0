"""`context`: what an agent starts from, here and now."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_embedding, print_json, print_note, print_text
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.context.ledger import LedgerEntry
    from cheatsheet.engine.engine import Engine
    from cheatsheet.interfaces.adaptive import AgentContext


@with_settings()
def context(
    question: Annotated[
        str | None,
        typer.Argument(
            help="The question; `-` reads it from standard input. Without one, the start of a session.",
            show_default=False,
        ),
    ] = None,
    minimal: Annotated[bool, typer.Option("--minimal", help="For an agent that was started by an agent.")] = False,
    at: Annotated[
        str | None,
        typer.Option(help="At another moment, such as 2026-01-05T07:30 in your time zone; nothing is kept."),
    ] = None,
    budget: Annotated[int | None, typer.Option(min=0, help="Tokens, instead of --token-budget.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print what each section wanted and got, and why.")
    ] = False,
    workspace: Annotated[
        Path | None, typer.Option(help="The folder that is worked in; by default this one.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Print the context that an agent starts from, within the token budget.

    It is made of the files of the home, the part of the day, the workspace, today's log and what the memory recalls.
    Neither a home nor a memory has to be there, and looking makes none.
    """
    from cheatsheet.interfaces.adaptive import AdaptiveContext, current_folder

    moment = None if at is None else _moment(at)
    with ExitStack() as opened:
        adaptive = AdaptiveContext(
            settings, lambda: _open(settings, opened), workspace=workspace if workspace else current_folder()
        )
        asked = sys.stdin.read() if question == "-" else question or ""
        found = adaptive.context_for(asked, minimal=minimal, budget=budget, at=moment)
    if as_json:
        print_json(_as_json(found))
        return
    _print(found, explain=explain)


def _print(found: AgentContext, *, explain: bool) -> None:
    if found.context.text:
        print_text(found.context.text)
    else:
        print_note("The budget leaves no room for anything.")
    if explain:
        from cheatsheet.context.ledger import render_ledger

        print_note(render_ledger(found.context.ledger, found.context.budget))
    for text in [note.text for note in found.notes] if explain else found.warnings:
        print_note(f"note: {text}")


def _open(settings: Settings, opened: ExitStack) -> Engine | None:
    """The memory, closed at the end; None where there is no file yet."""
    if not settings.on_postgres and not Path(settings.memory_path).is_file():
        return None
    from cheatsheet.interfaces.wiring import Given, build_engine

    return opened.enter_context(build_engine(settings, Given(progress=print_embedding)))


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no moment. Write it like 2026-01-05T07:30.", param_hint="--at") from None


def _as_json(found: AgentContext) -> dict[str, Any]:
    context, assembled = found.context, found.assembled
    return {
        "text": context.text,
        "messages": context.messages,
        "tokens": context.tokens,
        "budget_tokens": context.budget.tokens,
        "now": found.now.isoformat(),
        "time_zone": str(found.now.tzinfo),
        "mode": assembled.mode,
        "time_mode": assembled.time_mode.value,
        "is_continuation": assembled.continuation.is_continuation,
        "last_activity": assembled.continuation.last_activity,
        "ledger": [_row(entry) for entry in context.ledger],
        "notes": [{"kind": note.kind, "from": note.provider, "text": note.text} for note in found.notes],
    }


def _row(entry: LedgerEntry) -> dict[str, Any]:
    return {
        "section": entry.section,
        "priority": entry.priority,
        "wanted_tokens": entry.wanted_tokens,
        "got_tokens": entry.got_tokens,
        "action": entry.action,
        "reason": entry.reason,
    }
