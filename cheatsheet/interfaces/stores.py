"""Where the memory is kept, and what finds in it, as settings name them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cheatsheet.errors import SettingsError
from cheatsheet.memory.apply import Limits
from cheatsheet.memory.search.neighbours import IndexKind, Neighbours, Progress
from cheatsheet.memory.search.retriever import Retriever
from cheatsheet.settings import Settings
from indexes.embedder import Embedder

if TYPE_CHECKING:
    from cheatsheet.memory.search.index_file import IndexFolder
    from cheatsheet.memory.store import MemoryStore


def open_store(settings: Settings) -> MemoryStore:
    """The memory that the settings name; a file is made when it is not there."""
    limits = Limits(max_bullet_chars=settings.max_bullet_chars)
    if settings.on_postgres:
        return _on_postgres(settings, limits)
    from cheatsheet.memory.sqlite.sqlite_store import SqliteStore

    return SqliteStore(
        settings.memory_path,
        limits=limits,
        synchronous=settings.synchronous,
        busy_timeout_s=settings.busy_timeout_s,
    )


def retriever_of(
    settings: Settings, store: MemoryStore, embedder: Embedder, *, progress: Progress | None = None
) -> Retriever:
    """What finds in the memory."""
    neighbours = _neighbours(settings, store, embedder, progress)
    if settings.search == "vectors":
        return Retriever(store, embedder, namespace=settings.namespace, neighbours=neighbours)
    from cheatsheet.memory.search.hybrid import HybridRetriever

    return HybridRetriever(store, embedder, namespace=settings.namespace, neighbours=neighbours)


def index_class(settings: Settings) -> IndexKind:
    """The class of the indexes in this process, by the settings.

    Raises:
        SettingsError: they ask for the index of a PostgreSQL server.
    """
    if settings.index == "exact":
        from indexes.exact import ExactIndex

        return ExactIndex
    if settings.index == "faiss":
        from indexes.faiss_flat import FaissFlatIndex

        return FaissFlatIndex
    if settings.index == "pq":
        from indexes.faiss_pq import FaissPQIndex

        return FaissPQIndex
    if settings.index == "pgvector":
        raise SettingsError(
            f"index='pgvector' is that of a PostgreSQL server, and the memory {settings.memory_shown} is not kept by "
            f"one. Use 'auto', 'exact', 'faiss' or 'pq', or open a memory at postgresql://…"
        )
    from indexes.auto import AutoIndex

    return AutoIndex


def index_folder(settings: Settings, *, writable: bool = True) -> IndexFolder | None:
    """Where the indexes of a memory file are kept; None where they are not."""
    if not settings.keep_index or settings.on_postgres or settings.memory_path == ":memory:":
        return None
    from cheatsheet.memory.search.index_file import IndexFolder

    return IndexFolder(Path(f"{settings.memory_path}.index").absolute(), writable)


def _neighbours(settings: Settings, store: MemoryStore, embedder: Embedder, progress: Progress | None) -> Neighbours:
    if settings.on_postgres and settings.index in ("auto", "pgvector"):
        from cheatsheet.memory.postgres.postgres_neighbours import PostgresNeighbours
        from cheatsheet.memory.postgres.postgres_store import PostgresStore

        assert isinstance(store, PostgresStore)  # what such an address opens
        return PostgresNeighbours(store, embedder, namespace=settings.namespace, progress=progress)
    from cheatsheet.memory.search.local import LocalNeighbours

    return LocalNeighbours(
        store,
        embedder,
        namespace=settings.namespace,
        make_index=index_class(settings),
        folder=index_folder(settings, writable=not store.read_only),
        progress=progress,
    )


def _on_postgres(settings: Settings, limits: Limits) -> MemoryStore:
    from cheatsheet.memory.postgres.postgres_store import PostgresStore

    return PostgresStore(
        settings.memory_path,
        limits=limits,
        timeout_s=settings.busy_timeout_s,
        max_connections=settings.max_connections,
    )
