"""Where the memory is kept, and what finds in it, as settings name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cheatsheet.memory.apply import Limits
from cheatsheet.memory.search.local import LocalNeighbours
from cheatsheet.memory.search.neighbours import IndexFactory, Neighbours, Progress
from cheatsheet.memory.search.retriever import Retriever
from cheatsheet.settings import Settings
from indexes.embedder import Embedder

if TYPE_CHECKING:
    from cheatsheet.memory.store import MemoryStore


def open_store(settings: Settings) -> MemoryStore:
    """The memory that the settings name; a file is made when it is not there."""
    from cheatsheet.memory.sqlite.sqlite_store import SqliteStore

    return SqliteStore(
        settings.memory_path,
        limits=Limits(max_bullet_chars=settings.max_bullet_chars),
        synchronous=settings.synchronous,
        busy_timeout_s=settings.busy_timeout_s,
    )


def retriever_of(
    settings: Settings, store: MemoryStore, embedder: Embedder, *, progress: Progress | None = None
) -> Retriever:
    """What finds in the memory."""
    return Retriever(
        store, embedder, namespace=settings.namespace, neighbours=_neighbours(settings, store, embedder, progress)
    )


def _neighbours(settings: Settings, store: MemoryStore, embedder: Embedder, progress: Progress | None) -> Neighbours:
    return LocalNeighbours(
        store, embedder, namespace=settings.namespace, make_index=index_class(settings), progress=progress
    )


def index_class(settings: Settings) -> IndexFactory:
    """What makes an empty index, by the settings."""
    if settings.index == "exact":
        from indexes.exact import ExactIndex

        return ExactIndex
    from indexes.faiss_flat import FaissFlatIndex

    return FaissFlatIndex
