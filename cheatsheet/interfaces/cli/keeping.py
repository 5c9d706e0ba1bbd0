"""`backup`, `verify`, `vacuum`: a memory is copied, looked through, and made smaller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cheatsheet.errors import SetupError, StoreCorruptError
from cheatsheet.interfaces.cli.bar import Bar
from cheatsheet.interfaces.cli.memory import PLACE, place
from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_json, print_note, print_text
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.memory.store import MemoryStore
    from cheatsheet.memory.upkeep.flaw import Flaw
    from cheatsheet.memory.upkeep.vacuum import Vacuumed

_EXIT_FLAWS = 1
_KIB = 2**10


@with_settings()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.", metavar="FILE")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Copy the memory to a file, while others read and write it; the copy is a memory of its own."""
    with _opened(settings) as store, Bar("copied", "pages") as bar:
        store.backup(file, force=force, progress=bar)
    if as_json:
        print_json({"memory": settings.memory_shown, "file": str(file), "bytes": file.stat().st_size})
    else:
        print_note(f"{settings.memory_shown} was copied to {file}, as it was at one moment, and the copy is sound.")


@with_settings()
def verify(as_json: AsJson = False, *, settings: Settings) -> None:
    """Check that the memory is what its journal tells, with all that is kept beside it; exit code 1 if it is not."""
    flaws = _flaws(settings)
    if as_json:
        print_json([asdict(flaw) for flaw in flaws])
    for flaw in flaws if not as_json else ():
        where = f"{flaw.namespace}: " if flaw.namespace else ""
        print_text(f"{flaw.severity}: {where}{flaw.text}")
        if flaw.remedy:
            print_text(f"  {flaw.remedy}")
    if flaws:
        raise typer.Exit(_EXIT_FLAWS)
    if not as_json:
        print_note(f"{settings.memory_shown} is what its journal tells.")


@with_settings()
def vacuum(
    keep_days: Annotated[
        float | None, typer.Option(min=0, help="Keep the whole past of so many days; 30 where nothing is given.")
    ] = None,
    before: Annotated[str | None, typer.Option(help=f"Keep it from here on: {PLACE}.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would go.")] = False,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Forget of the past what explains nothing that lives, and give back the room; the memory stays as it is."""
    from cheatsheet.memory.history.past import History
    from cheatsheet.memory.upkeep.vacuum import since_days, vacuum

    if keep_days is not None and before is not None:
        raise SetupError("--keep-days and --before cannot be given together: choose one.")
    with _opened(settings) as store:
        history = History.of(store, settings.namespace)
        if before is not None:
            version = place(history, before)
        else:
            version = since_days(history, keep_days, now=datetime.now(UTC))
        done = vacuum(store, settings.namespace, version, dry_run=dry_run)
    if as_json:
        print_json(asdict(done))
    else:
        print_text(_summary(done))


@contextmanager
def _opened(settings: Settings) -> Iterator[MemoryStore]:
    """The store of a memory that is there.

    Raises:
        SetupError: there is none.
    """
    from cheatsheet.interfaces.stores import open_store

    if not settings.on_postgres and not Path(settings.memory_path).is_file():
        raise SetupError(f"There is no memory {settings.memory_shown}. Give the path of one (--path).")
    with closing(open_store(settings)) as store:
        yield store


def _flaws(settings: Settings) -> list[Flaw]:
    from cheatsheet.interfaces.stores import index_class, index_folder
    from cheatsheet.memory.upkeep.check_index import check_indexes
    from cheatsheet.memory.upkeep.flaw import Flaw
    from cheatsheet.memory.upkeep.verify import verify

    try:
        with _opened(settings) as store:
            flaws, folder = verify(store), index_folder(settings, writable=False)
            if folder is not None and not any(flaw.severity == "error" for flaw in flaws):
                for namespace in store.namespaces():
                    flaws += check_indexes(store, namespace, folder, index_class(settings))
    except StoreCorruptError as error:
        return [Flaw(text=str(error), remedy="")]
    return flaws


def _summary(done: Vacuumed) -> str:
    known = f"since version {done.since}" if done.since else "from its beginning"
    would = "would go" if done.dry_run else "went"
    lines = [
        f"entries of the journal that {would}: {done.entries:,}",
        f"operations in it that {would}: {done.operations:,}, together {_size(done.journal_bytes)}",
        f"embeddings that {would}: {done.vectors:,}",
        f"the past {'would be' if done.dry_run else 'is'} known {known}",
    ]
    if not done.dry_run:
        lines.append(f"size {_size(done.bytes_before)}, now {_size(done.bytes_after)}")
    return "\n".join(lines)


def _size(count: int) -> str:
    return f"{count / _KIB:,.1f} KiB"
