"""`migrate`: a memory moves from a file to a PostgreSQL server, or back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cheatsheet.interfaces.cli.bar import Bar
from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_json, print_note
from cheatsheet.settings import Settings

PLACE = "a memory file, or postgresql://USER@HOST/DATABASE"


@with_settings(without=frozenset({"path"}))
def migrate(
    source: Annotated[str, typer.Argument(help=f"Where the memory is: {PLACE}.")],
    target: Annotated[str, typer.Argument(help=f"Where it is to go, which must be empty: {PLACE}.")],
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Copy a whole memory with its past to an empty place: from a file to PostgreSQL, back, or among their like."""
    from cheatsheet.memory.moving.move import move

    with Bar("moved", "rows") as bar:
        moved = asdict(move(source, target, timeout_s=settings.busy_timeout_s, told=bar))
    if as_json:
        print_json(moved)
    else:
        print_note("moved and verified: " + ", ".join(f"{count:,} {what}" for what, count in moved.items()))
