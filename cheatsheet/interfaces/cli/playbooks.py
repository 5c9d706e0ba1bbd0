"""`import`, `export`, `preload`: playbooks into a memory and out of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cheatsheet.errors import SetupError
from cheatsheet.interfaces.cli import EXIT_STOPPED
from cheatsheet.interfaces.cli.bar import Bar
from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_embedding, print_json, print_note, print_table
from cheatsheet.interfaces.cli.writing import write_whole
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.engine.engine import Engine
    from cheatsheet.engine.playbooks import Imported

PRELOADED = "preloaded"
_FORMATS = "`ace`, `dc`, `skillbook`, `cass`, `reasoning-bank`, `axace`, `markdown` or `json`"
_COLUMNS = ("file", "format", "entries", "added", "merged", "known", "skipped", "damages")

Files = Annotated[list[Path], typer.Argument(help="Files; `-` reads standard input.", metavar="FILE…")]
FormatName = Annotated[
    str, typer.Option("--format", help=f"Format of the files: `auto` recognises it, else {_FORMATS}.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what stands in the files; write nothing.")]


@with_settings()
def import_playbook(
    files: Files,
    format: FormatName = "auto",
    dry_run: DryRun = False,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Learn what stands in a playbook of any known format.

    What is known already is merged. A file that was imported before, or in part, brings only what is new in it.
    """
    texts = _read(files)
    with _open(settings) as engine, _telling(engine) as progress:
        imported = [
            engine.import_playbook(text, format=format, dry_run=dry_run, name=name, progress=progress)
            for name, text in texts.items()
        ]
    _print(imported, as_json)


@with_settings()
def preload(
    files: Files,
    format: Annotated[
        str, typer.Option("--format", help=f"`auto`, `text` for words that people wrote for people, or {_FORMATS}.")
    ] = "auto",
    pin: Annotated[bool, typer.Option("--pin", help="Never archive what the files bring.")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """Load domain knowledge from files; a file that changed brings what is new.

    A file is a playbook of any known format, or a text, of which each paragraph and each item of a list is a bullet.
    """
    texts = _read(files)
    with _open(settings) as engine, _telling(engine) as progress:
        imported = [
            engine.import_playbook(
                text,
                format=_format_of(text) if format == "auto" else format,
                tags=(PRELOADED,),
                pin=pin,
                dry_run=dry_run,
                name=name,
                progress=progress,
            )
            for name, text in texts.items()
        ]
    _print(imported, as_json)


@with_settings()
def export_playbook(
    format: Annotated[str, typer.Option("--format", help=f"Format of the playbook: {_FORMATS}.")] = "json",
    section: Annotated[str | None, typer.Option(help="Only this section.")] = None,
    status: Annotated[Literal["active", "archived", "merged", "all"], typer.Option(help="Which bullets.")] = "active",
    out: Annotated[
        Path | None, typer.Option(help="File to write; by default the playbook goes to standard output.")
    ] = None,
    *,
    settings: Settings,
) -> None:
    """Write the bullets as a playbook in one of the known formats.

    What the format cannot carry is told on standard error.
    """
    from cheatsheet.memory.bullet import section_key
    from cheatsheet.memory.formats import format_named, write_playbook

    format_named(format)
    from cheatsheet.interfaces.stores import open_store

    with closing(open_store(settings)) as store:
        bullets = store.bullets(
            settings.namespace,
            status=None if status == "all" else status,
            section=section_key(section) if section else None,
        )
    written = write_playbook(bullets, format)
    if out is None:
        sys.stdout.write(written.text)
    else:
        _write(out, written.text)
        print_note(f"bullets written to {out}: {len(bullets)}")
    for told in written.lost:
        print_note(f"lost: {told}")


def _open(settings: Settings) -> Engine:
    from cheatsheet.interfaces.wiring import Given, build_engine

    return build_engine(settings, Given(progress=print_embedding))


@contextmanager
def _telling(engine: Engine) -> Iterator[Bar]:
    """Show how far a large playbook has come; where the user stops it, say what was stored."""
    before = _kept(engine)
    try:
        with Bar("imported", "entries") as bar:
            yield bar
    except KeyboardInterrupt:
        new = _kept(engine) - before
        print_note(f"Stopped. New bullets stored so far: {new:,}. Give the same command again to go on behind them.")
        raise typer.Exit(EXIT_STOPPED) from None


def _kept(engine: Engine) -> int:
    """How many bullets there are, with those that are not served, such as what is in quarantine."""
    stats = engine.stats()
    return stats.bullets + stats.archived


def _read(files: Sequence[Path]) -> dict[str, str]:
    """The texts by the names of their files; all are read before the first is learnt.

    Raises:
        SetupError: a file cannot be read, or two have the same name: names are how a memory knows them again.
    """
    from cheatsheet.engine.playbooks import read_file

    texts: dict[str, str] = {}
    for file in files:
        if file.name in texts:
            raise SetupError(f"Two files are named {file.name!r}. Import them one by one, or rename one of them.")
        texts[file.name] = sys.stdin.read() if str(file) == "-" else read_file(file)
    return texts


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error.strerror or error}. Give another file to --out.") from error


def _format_of(text: str) -> str:
    """The format of a text; plain Markdown, and what is of no format, is read as people's words."""
    from cheatsheet.memory.formats import recognise

    try:
        name = recognise(text).name
    except SetupError:
        return "text"
    return "text" if name == "markdown" else name


def _print(imported: Sequence[Imported], as_json: bool) -> None:
    if as_json:
        print_json([_values(one) for one in imported])
        return
    print_table(_COLUMNS, [_cells(one) for one in imported])
    for one in imported:
        for damage in one.damages:
            print_note(f"{one.source}:{damage.line}: {damage.text}" if damage.line else f"{one.source}: {damage.text}")
        for told in (*one.skipped, *one.notes):
            print_note(f"note: {told}")
    if any(one.dry_run for one in imported):
        print_note("Nothing was written: this was a dry run.")


def _cells(one: Imported) -> tuple[str, ...]:
    counts = (one.entries, len(one.added), len(one.merged), one.known, len(one.skipped), len(one.damages))
    return (one.source, one.format, *map(str, counts))


def _values(one: Imported) -> dict[str, Any]:
    return {
        "source": one.source,
        "format": one.format,
        "entries": one.entries,
        "known": one.known,
        "added": one.added,
        "merged": one.merged,
        "skipped": one.skipped,
        "notes": one.notes,
        "damages": [{"line": damage.line, "text": damage.text} for damage in one.damages],
        "archived": [operation.model_dump(mode="json") for operation in one.archived],
        "dry_run": one.dry_run,
        "version": one.version,
        "transactions": one.batches,
    }
