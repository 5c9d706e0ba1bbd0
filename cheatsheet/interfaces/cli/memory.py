"""`show`, `history`, `settings`: looking into a memory and at how it is set."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cheatsheet.interfaces.cli.options import AsJson, option_name, with_settings
from cheatsheet.interfaces.cli.output import print_json, print_note, print_table
from cheatsheet.settings import ENV_PREFIX, Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.memory.bullet import Bullet
    from cheatsheet.memory.journal import JournalEntry
    from cheatsheet.memory.sqlite_store import SqliteStore

Limit = Annotated[int | None, typer.Option(min=1, help="At most so many.")]


@with_settings()
def show(
    section: Annotated[str | None, typer.Option(help="Only this section.")] = None,
    by: Annotated[Literal["id", "utility", "recent"], typer.Option(help="Order.")] = "id",
    status: Annotated[Literal["active", "archived", "merged", "all"], typer.Option(help="Which bullets.")] = "active",
    limit: Limit = None,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Show the bullets of a memory."""
    from cheatsheet.memory.bullet import section_key

    store = _open(settings)
    bullets = store.bullets(
        settings.namespace,
        status=None if status == "all" else status,
        section=section_key(section) if section else None,
        order=by,
        limit=limit,
        harmful_weight=settings.harmful_weight,
    )
    experiences = store.count_experiences(settings.namespace)
    store.close()
    if as_json:
        print_json([bullet.model_dump(mode="json") for bullet in bullets])
        return
    columns = ("id", "section", "helpful", "harmful", "uses", "content")
    print_table(columns, [_cells(bullet) for bullet in bullets])
    print_note(f"bullets shown: {len(bullets)}, experiences remembered: {experiences}")


@with_settings()
def history(limit: Limit = 20, as_json: AsJson = False, *, settings: Settings) -> None:
    """Show the journal: every change of a memory, newest first."""
    store = _open(settings)
    entries = store.journal(settings.namespace, limit=limit, newest_first=True)
    store.close()
    if as_json:
        print_json([entry.model_dump(mode="json") for entry in entries])
        return
    columns = ("version", "time", "cause", "mode", "operations", "experience", "notes")
    print_table(columns, [_entry_cells(entry) for entry in entries])


@with_settings()
def show_settings(as_json: AsJson = False, *, settings: Settings) -> None:
    """List every setting with its value and meaning."""
    values = settings.model_dump(mode="json")
    if settings.api_key:
        values["api_key"] = "(set)"
    if as_json:
        print_json(values)
        return
    rows = [
        (name, _plain(values[name]), ENV_PREFIX + name.upper(), option_name(name), field.description or "")
        for name, field in Settings.model_fields.items()
    ]
    print_table(("setting", "value", "environment", "option", "meaning"), rows)


def _open(settings: Settings) -> SqliteStore:
    from cheatsheet.memory.sqlite_store import SqliteStore

    return SqliteStore(settings.memory_path, busy_timeout_s=settings.busy_timeout_s)


def _cells(bullet: Bullet) -> tuple[str, ...]:
    counts = (str(bullet.helpful), str(bullet.harmful), str(bullet.uses))
    return (bullet.id, bullet.section, *counts, bullet.content)


def _entry_cells(entry: JournalEntry) -> tuple[str, ...]:
    counts = Counter(operation.type for operation in entry.operations)
    summary = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    time = entry.at.isoformat(sep=" ", timespec="seconds")
    return (str(entry.version), time, entry.cause, entry.mode, summary, entry.experience_id, str(len(entry.notes)))


def _plain(value: Any) -> str:
    return "" if value is None else str(value)
