"""What the doctor looks at in the memory: its file or its server, and its journal."""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cheatsheet.interfaces.finding import Found, read_by_others
from cheatsheet.memory.sqlite.migrations import APPLICATION_ID, MIGRATIONS
from cheatsheet.settings import Settings

if TYPE_CHECKING:
    from cheatsheet.memory.upkeep.flaw import Flaw

# Replaying takes 0.1 ms a version: this many are done while one waits.
_REPLAYED: Final = 20_000
_MIB: Final = 2**20
_CONNECT: Final = "`cheatsheet doctor --full` connects to it; `cheatsheet verify` looks through the memory."
_NO_PGVECTOR: Final = "Let an administrator install pgvector 0.8 or newer on the server, or choose index='faiss'."
_RESTORE: Final = "Restore a backup, or move it away and start anew."


@dataclass(frozen=True, slots=True)
class _Looked:
    """What the file says of itself; `sound` is `ok`, or what is damaged."""

    application: int
    schema: int
    tables: int
    sound: str


def check_memory_file(settings: Settings, full: bool) -> Iterator[Found]:
    """Opens, is a memory of ours, is sound, and private; or what is known of its server."""
    path = Path(settings.memory_path)
    if settings.on_postgres:
        yield from _server(settings, full)
    elif settings.memory_path == ":memory:":
        yield "ok", "It is in RAM, and nothing is kept.", ""
    elif not path.exists():
        yield "ok", f"{path} is made when it is needed.", ""
    elif not path.is_file():
        yield "error", f"{path} is no file.", "Choose another path (CHEATSHEET_PATH)."
    else:
        if others := read_by_others(path):
            yield "warning", f"{path} is open to others (mode {others:03o}).", f"chmod 600 {path}"
        try:
            yield _memory(path, _looked_into(path))
        except sqlite3.Error as error:
            yield "error", f"{path} cannot be read: {error}.", _RESTORE


def _server(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether there is a client, and with `full` whether the server answers; nothing is made there."""
    missing = [name for name in ("psycopg", "psycopg_pool") if importlib.util.find_spec(name) is None]
    if missing:
        yield "error", f"{' and '.join(missing)} must be installed.", "pip install 'cheatsheet[postgres]'"
        return
    from cheatsheet.memory.postgres.looking import look, shown

    if not full:
        yield "ok", f"{shown(settings.memory_path)} is asked when it is needed.", _CONNECT
        return
    seen = look(settings.memory_path, timeout_s=settings.busy_timeout_s)
    memory = f"holds a memory in schema {seen.schema}" if seen.has_memory else "holds no memory yet"
    yield "ok", f"{seen.shown} answers: PostgreSQL {seen.version}; it {memory}.", ""
    if settings.index in ("auto", "pgvector") and not seen.pgvector:
        yield "error", "pgvector is neither in the database nor on the server.", _NO_PGVECTOR


def _memory(path: Path, found: _Looked) -> Found:
    if found.tables and found.application != APPLICATION_ID:
        return "error", f"{path} is a file of another program.", "Choose another path (CHEATSHEET_PATH)."
    if found.schema > len(MIGRATIONS):
        text = f"{path} has schema {found.schema}; this version knows up to {len(MIGRATIONS)}."
        return "error", text, "Install the version that wrote it, or a newer one."
    if found.sound != "ok":
        return "error", f"{path} is damaged: {found.sound}.", _RESTORE
    size = f"{path.stat().st_size / _MIB:.1f} MiB"
    if found.schema < len(MIGRATIONS):
        text = f"{path} is sound; {size}; schema {found.schema} is brought up to date when it is next used."
        return "ok", text, ""
    return "ok", f"{path} is sound; {size}; schema {found.schema}.", ""


def check_journal(settings: Settings, full: bool) -> Iterator[Found]:
    """What each namespace holds, and whether its journal leads to it; with `full` all that `cheatsheet verify` asks."""
    path = Path(settings.memory_path)
    if settings.on_postgres or not is_current(path):
        return  # what is wrong is told by the check of the memory
    from cheatsheet.interfaces.stores import open_store
    from cheatsheet.memory.upkeep.verify import verify, verify_namespace

    with closing(open_store(settings)) as store:
        everywhere = verify(store) if full else []
        for name in store.namespaces():
            holds = f"{name} has bullets: {store.count_bullets(name):,}, experiences: {store.count_experiences(name):,}"
            if store.version(name) > _REPLAYED and not full:
                yield "ok", f"{holds}; the journal was not replayed.", "`cheatsheet doctor --full` does that."
                continue
            flaws = [flaw for flaw in everywhere if flaw.namespace == name] if full else verify_namespace(store, name)
            told = [_told(flaw) for flaw in flaws]
            yield from told or [("ok", f"{holds}; the journal leads to them.", "")]
        yield from (_told(flaw) for flaw in everywhere if not flaw.namespace)


def _told(flaw: Flaw) -> Found:
    where = f"{flaw.namespace}: " if flaw.namespace else ""
    return flaw.severity, f"{where}{flaw.text}", flaw.remedy or _RESTORE


def is_current(path: Path) -> bool:
    """Whether a memory file is there and can be opened without being brought up to date."""
    if not path.is_file():
        return False
    try:
        found = _looked_into(path)
    except sqlite3.Error:
        return False
    return (found.application, found.schema, found.sound) == (APPLICATION_ID, len(MIGRATIONS), "ok")


def _looked_into(path: Path) -> _Looked:
    """What the file says of itself; nothing is written."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as db:
        db.execute("PRAGMA query_only = ON")
        (application,), (schema,), (sound,) = (
            db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version", "quick_check(1)")
        )
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return _Looked(application, schema, tables, sound)
