"""`show`, `settings`: looking into a memory and at how it is set."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cheatsheet.errors import OperationError, SetupError
from cheatsheet.interfaces.cli.options import AsJson, option_name, with_settings
from cheatsheet.interfaces.cli.output import print_json, print_note, print_table
from cheatsheet.settings import ENV_PREFIX, Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.memory.bullet import Bullet
    from cheatsheet.memory.history.past import History
    from cheatsheet.memory.history.sheet import Sheet
    from cheatsheet.memory.store import MemoryStore

PLACE = "a version, a time such as 2026-01-05T07:30 (UTC), or the id of a turn"
Limit = Annotated[int | None, typer.Option(min=1, help="At most so many.")]


@with_settings()
def show(
    section: Annotated[str | None, typer.Option(help="Only this section.")] = None,
    by: Annotated[Literal["id", "utility", "recent"], typer.Option(help="Order.")] = "id",
    status: Annotated[Literal["active", "archived", "merged", "all"], typer.Option(help="Which bullets.")] = "active",
    limit: Limit = None,
    as_of: Annotated[str | None, typer.Option(help=f"As it was at {PLACE}.")] = None,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Show the bullets of a memory."""
    from cheatsheet.memory.bullet import section_key
    from cheatsheet.memory.refine import RefinePolicy

    weights = RefinePolicy(helpful_weight=settings.helpful_weight, harmful_weight=settings.harmful_weight)
    wanted: dict[str, Any] = {
        "status": None if status == "all" else status,
        "section": section_key(section) if section else None,
        "order": by,
        "limit": limit,
        "harmful_weight": weights.order_weight,
    }
    from cheatsheet.interfaces.stores import open_store

    with closing(open_store(settings)) as store:
        if as_of is None:
            bullets = store.bullets(settings.namespace, **wanted)
            experiences = store.count_experiences(settings.namespace)
        else:
            sheet = _past(store, settings, as_of)
            bullets = sheet.listed(**wanted)
            experiences = sum(standing.status == "active" for standing in sheet.standings.values())
    if as_json:
        print_json([bullet.model_dump(mode="json") for bullet in bullets])
        return
    columns = ("id", "section", "helpful", "harmful", "uses", "content")
    print_table(columns, [_cells(bullet) for bullet in bullets])
    print_note(f"bullets shown: {len(bullets)}, experiences remembered: {experiences}")


@with_settings()
def show_settings(as_json: AsJson = False, *, settings: Settings) -> None:
    """List every setting with its value and meaning."""
    values = settings.model_dump(mode="json")
    if settings.api_key:
        values["api_key"] = "(set)"
    if settings.on_postgres:
        values["path"] = settings.memory_shown
    if as_json:
        print_json(values)
        return
    rows = [
        (name, _plain(values[name]), ENV_PREFIX + name.upper(), option_name(name), field.description or "")
        for name, field in Settings.model_fields.items()
    ]
    print_table(("setting", "value", "environment", "option", "meaning"), rows)


def place(history: History, given: str) -> int:
    """The version that a place in the past means.

    Raises:
        SetupError: there is no such version, time or turn, or it was compacted; the message tells which there are.
    """
    try:
        return history.version_at(given)
    except OperationError as error:
        raise SetupError(str(error)) from error


def _past(store: MemoryStore, settings: Settings, given: str) -> Sheet:
    from cheatsheet.memory.history.past import History

    history = History.of(store, settings.namespace)
    return history.as_of(place(history, given))


def _cells(bullet: Bullet) -> tuple[str, ...]:
    counts = (str(bullet.helpful), str(bullet.harmful), str(bullet.uses))
    return (bullet.id, bullet.section, *counts, bullet.content)


def _plain(value: Any) -> str:
    return "" if value is None else str(value)
