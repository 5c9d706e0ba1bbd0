"""`history`, `blame`, `diff`, `rollback`: the past of a memory, and the way back to it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from cheatsheet.errors import OperationError, SetupError
from cheatsheet.interfaces.cli.memory import PLACE, Limit, place
from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_json, print_note, print_table
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.memory.history.blame import Touch
    from cheatsheet.memory.history.journal import JournalEntry
    from cheatsheet.memory.store import MemoryStore


@with_settings()
def history(
    limit: Limit = 20,
    turn: Annotated[str | None, typer.Option(help="Only this turn, with every operation.")] = None,
    bullet: Annotated[str | None, typer.Option(help="Only changes of this bullet, and what they changed.")] = None,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Show the journal: every change of a memory, newest first."""
    if turn is not None and bullet is not None:
        raise SetupError("--turn and --bullet cannot be given together: choose one.")
    from cheatsheet.interfaces.stores import open_store

    with closing(open_store(settings)) as store:
        if turn is not None:
            _show_turn(_entry(store, settings.namespace, turn), as_json)
        elif bullet is not None:
            _show_bullet(_touches(store, settings.namespace, bullet), bullet, limit, as_json)
        else:
            _show_entries(store.journal(settings.namespace, limit=limit, newest_first=True), as_json)


@with_settings()
def blame(
    bullet: Annotated[str, typer.Argument(help="The id of a bullet, whatever became of it.")],
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Tell why a bullet is what it is: every change, with its turn, its model and the feedback that it came from."""
    from cheatsheet.interfaces.cli.past_rows import BLAME, blame_rows, touch_json
    from cheatsheet.interfaces.stores import open_store

    with closing(open_store(settings)) as store:
        touches = _touches(store, settings.namespace, bullet)
    if as_json:
        print_json([touch_json(touch) for touch in touches])
        return
    print_table(BLAME, blame_rows(touches))
    now = next(touch.after for touch in reversed(touches) if touch.bullet_id == bullet)
    print_note(f"{bullet} is {now.status}: helpful {now.helpful}, harmful {now.harmful}, uses {now.uses}.")


@with_settings()
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help=f"From when on: {PLACE}.")],
    after: Annotated[str | None, typer.Argument(metavar="[B]", help="Until when; now, if it is not given.")] = None,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Show what changed in a memory between two places in its past, or from one until now."""
    from cheatsheet.interfaces.cli.past_rows import DIFFERENCE, difference_json, difference_rows
    from cheatsheet.interfaces.stores import open_store
    from cheatsheet.memory.history.past import History, difference

    with closing(open_store(settings)) as store:
        history = History.of(store, settings.namespace)
    first = place(history, before)
    last = history.newest if after is None else place(history, after)
    told = difference(history.as_of(first), history.as_of(last))
    if as_json:
        print_json({"from": first, "to": last, **difference_json(told)})
        return
    if told:
        print_table(DIFFERENCE, difference_rows(told))
    what = "What changed" if told else "Nothing changed"
    print_note(f"{what} from {_named(history.journal, first)} to {_named(history.journal, last)}.")


@with_settings()
def rollback(
    to: Annotated[str, typer.Argument(help=f"What to go back to: {PLACE}.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would change.")] = False,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Make a memory what it was; what came later is archived, not lost, and rolling back again brings it back."""
    from datetime import UTC, datetime

    from cheatsheet.interfaces.cli.past_rows import DIFFERENCE, difference_json, difference_rows
    from cheatsheet.memory.history.past import History, difference, roll_back, rollback_operations

    at = datetime.now(UTC)
    from cheatsheet.interfaces.stores import open_store

    with closing(open_store(settings)) as store:
        history = History.of(store, settings.namespace)
        target, newest, present = place(history, to), history.newest, history.as_of()
        operations = rollback_operations(present, history.as_of(target))
        told = difference(present, present.apply(operations, at=at))
        version = newest
        if operations and not dry_run:
            version = roll_back(store, settings.namespace, target, at=at, mode=settings.mode).entry.version
    if as_json:
        print_json({"to": target, "version": version, "dry_run": dry_run, **difference_json(told)})
        return
    if told:
        print_table(DIFFERENCE, difference_rows(told))
    if not operations:
        print_note(f"The memory is what it was at {_named(history.journal, target)}: there is nothing to do.")
    elif dry_run:
        print_note(f"This is what going back to {_named(history.journal, target)} would change; nothing was changed.")
    else:
        print_note(f"Back at {_named(history.journal, target)}. `cheatsheet rollback {newest}` takes this back.")


def _entry(store: MemoryStore, namespace: str, turn: str) -> JournalEntry:
    entry = store.entry_of_turn(namespace, turn)
    if entry is None:
        raise SetupError(f"There is no turn {turn!r} in this memory. `cheatsheet history` lists the turns.")
    return entry


def _touches(store: MemoryStore, namespace: str, bullet: str) -> list[Touch]:
    from cheatsheet.memory.history.blame import blame

    try:
        return blame(store, namespace, bullet)
    except OperationError as error:
        raise SetupError(str(error)) from error


def _show_entries(entries: Sequence[JournalEntry], as_json: bool) -> None:
    from cheatsheet.interfaces.cli.past_rows import HISTORY, entry_row

    if as_json:
        print_json([entry.model_dump(mode="json") for entry in entries])
    else:
        print_table(HISTORY, [entry_row(entry) for entry in entries])


def _show_turn(entry: JournalEntry, as_json: bool) -> None:
    from cheatsheet.interfaces.cli.past_rows import CHANGES, operation_rows, ranges

    if as_json:
        print_json([entry.model_dump(mode="json")])
        return
    print_table(CHANGES, operation_rows(entry))
    for text in (*(["remembered as " + ranges(entry.experience_ids)] if entry.experience_ids else []), *entry.notes):
        print_note(f"note: {text}")


def _show_bullet(touches: Sequence[Touch], bullet: str, limit: int | None, as_json: bool) -> None:
    from cheatsheet.interfaces.cli.past_rows import CHANGES, change_row, touch_json

    own = [touch for touch in reversed(touches) if touch.bullet_id == bullet][:limit]
    if as_json:
        print_json([touch_json(touch) for touch in own])
    else:
        print_table(CHANGES, [change_row(touch) for touch in own])


def _named(journal: Sequence[JournalEntry], version: int) -> str:
    from cheatsheet.interfaces.cli.past_rows import time_text

    entry = next((entry for entry in journal if entry.version == version), None)
    return "the empty memory" if entry is None else f"version {version} ({time_text(entry.at)} UTC)"
