"""Where the memory is kept and what finds in it, by the settings."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

import cheatsheet
from cheatsheet.errors import MissingExtraError, SettingsError
from cheatsheet.interfaces.stores import index_class, index_folder, open_store, retriever_of
from cheatsheet.memory.search import index_file
from cheatsheet.memory.search.hybrid import HybridRetriever
from cheatsheet.memory.search.local import LocalNeighbours
from cheatsheet.memory.search.retriever import Retriever
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.settings import load_settings
from indexes.auto import AutoIndex
from indexes.exact import ExactIndex
from indexes.faiss_flat import FaissFlatIndex
from indexes.faiss_pq import FaissPQIndex
from indexes.hashing import HashingEmbedder

POSTGRES = "postgresql://nobody@localhost:1/nothing"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("auto", AutoIndex), ("exact", ExactIndex), ("faiss", FaissFlatIndex), ("pq", FaissPQIndex)],
)
def test_indexes_by_name(name: str, kind: type) -> None:
    made: object = index_class(load_settings(index=name))
    assert made is kind


def test_the_index_of_a_server_is_refused_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"not kept by one\. Use 'auto', 'exact', 'faiss' or 'pq'"):
        cheatsheet.open(tmp_path / "memory.db", embedder="hashing", index="pgvector")


@pytest.mark.parametrize(("search", "kind"), [("vectors", Retriever), ("hybrid", HybridRetriever)])
def test_searches_by_name(search: str, kind: type) -> None:
    settings = load_settings(path=":memory:", search=search)
    store = open_store(settings)
    retriever = retriever_of(settings, store, HashingEmbedder())
    assert type(retriever) is kind
    assert isinstance(retriever._neighbours, LocalNeighbours)
    store.close()


def test_indexes_are_kept_beside_a_file_only(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    folder = index_folder(load_settings(path=str(path)))
    assert folder == index_file.IndexFolder(tmp_path / "memory.db.index")
    assert index_folder(load_settings(path=str(path), keep_index=False)) is None
    assert index_folder(load_settings(path=":memory:")) is None
    assert index_folder(load_settings(path=POSTGRES)) is None


def test_a_server_needs_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for name in [name for name in sys.modules if name.startswith("cheatsheet.memory.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtraError, match=r"pip install 'cheatsheet\[postgres\]'"):
        open_store(load_settings(path=POSTGRES))


def test_a_memory_that_is_opened_again_uses_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(index_file, "LEAST_ROWS", 1)
    path = tmp_path / "memory.db"
    with cheatsheet.open(path, embedder="hashing") as memory:
        memory.learn("How heavy is it?", "5 kg", feedback="wrong: weigh the parcel with its box")
        shown = memory.recall("the weight of a parcel").text
    assert len(list((tmp_path / "memory.db.index").iterdir())) == 2
    loaded: list[Path] = []
    load = AutoIndex.load.__func__  # type: ignore[attr-defined]  # of a class method

    def noted(cls: type[AutoIndex], path: Path, *, fingerprint: str | None = None) -> AutoIndex:
        loaded.append(path)
        index: AutoIndex = load(cls, path, fingerprint=fingerprint)
        return index

    monkeypatch.setattr(AutoIndex, "load", classmethod(noted))
    with cheatsheet.open(path, embedder="hashing") as memory:
        assert memory.recall("the weight of a parcel").text == shown
    assert len(loaded) == 2
    assert caplog.text == ""


def test_a_memory_that_cannot_be_written_keeps_no_index(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = load_settings(path=str(tmp_path / "memory.db"))
    store = SqliteStore(settings.memory_path)
    store._connections.read_only = True
    with caplog.at_level(logging.WARNING):
        retriever = retriever_of(settings, store, HashingEmbedder())
    neighbours = retriever._neighbours
    assert isinstance(neighbours, LocalNeighbours)
    assert neighbours._bullets._file is not None
    assert not neighbours._bullets._file._writable
    store.close()
