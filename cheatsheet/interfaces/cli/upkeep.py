"""`refine`, `archive`, `restore`: keeping a memory in order by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cheatsheet.errors import OperationError
from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_embedding, print_json, print_note, print_text
from cheatsheet.interfaces.cli.turns import describe
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.memory.history.journal import Committed
    from cheatsheet.memory.operations import Operation

Ids = Annotated[list[str], typer.Argument(help="Ids of bullets, or of experiences (`exp-00012`).", metavar="ID…")]


@with_settings()
def refine(
    full: Annotated[bool, typer.Option("--full", help="Also merge bullets that say the same.")] = False,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Archive what is expired, harmful or over the limits; nothing is destroyed."""
    from cheatsheet.interfaces.wiring import Given, build_engine

    with build_engine(settings, Given(progress=print_embedding)) as engine:
        committed = engine.refine(full=full)
    if committed is None:
        if as_json:
            print_json({"operations": [], "notes": []})
        else:
            print_note("There is nothing to do.")
        return
    _tell(committed, as_json)


@with_settings()
def archive(
    ids: Ids,
    reason: Annotated[str, typer.Option(help="Why; it is kept with what is archived.")] = "archived by hand",
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Take bullets or experiences out of service; `restore` brings them back."""
    from cheatsheet.memory.operations import Remove

    _tell(_applied(settings, [Remove(id=id, reason=reason) for id in ids]), as_json)


@with_settings()
def restore(ids: Ids, as_json: AsJson = False, *, settings: Settings) -> None:
    """Bring archived bullets or experiences back into service."""
    from cheatsheet.memory.operations import Restore

    _tell(_applied(settings, [Restore(id=id) for id in ids]), as_json)


def _applied(settings: Settings, operations: list[Operation]) -> Committed:
    from cheatsheet.interfaces.wiring import build_engine

    with build_engine(settings) as engine:
        committed = engine.apply(operations, grow_adds=False)
    if len(committed.skipped) == len(operations):
        raise OperationError("Nothing was changed. " + " ".join(committed.skipped))
    return committed


def _tell(committed: Committed, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "operations": [operation.model_dump(mode="json") for operation in committed.entry.operations],
                "notes": committed.entry.notes,
            }
        )
        return
    print_text("\n".join(map(describe, committed.entry.operations)))
    for note in committed.entry.notes:
        print_note(f"note: {note}")
