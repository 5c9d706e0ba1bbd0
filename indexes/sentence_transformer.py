"""The default embedder: a sentence-transformers model on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexes.embedder import TextKind
from indexes.errors import EmbedderUnavailableError, first_line
from indexes.model_folder import PACKAGED_MODEL, content_hash, dim_of, is_symmetric, packaged_folder, prompt_for
from indexes.texts import embed_contentful
from indexes.vectors import Matrix, normalise

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_ORGANISATION = "sentence-transformers"
_HUB_TIMEOUT_S = 10.0
_REMEDY = f"Give the folder of a model, or leave the model out to use {PACKAGED_MODEL!r}, which needs no download."


class SentenceTransformerEmbedder:
    """A model of sentence-transformers, run in this process. Promises: see `Embedder`.

    The default model comes from an installed package and needs no network. The model is loaded by the
    first call that needs it (several seconds, most of them the import of torch); `model_id`, `dim` and
    `symmetric` of the default model and of most folders do not. Nothing is printed, and texts of
    several threads are embedded one call after the other, because a tokenizer serves one at a time.

    Args:
        model: the default, the folder of a model, or the name of a model on the Hugging Face hub. A hub model
            that has been downloaded before is not looked up again, and with `HF_HUB_OFFLINE=1` none is.
        threads: how many threads torch uses, for the whole process; None leaves that as it is.
        batch_size: texts that go through the model at once. 32, sorted by length, is the fastest on a CPU;
            longer batches are mostly padding.

    Raises:
        EmbedderUnavailableError: there is no such folder; raised at once. What else is wrong with a
            model shows when it is loaded, and raises the same.
    """

    def __init__(self, model: str | Path = PACKAGED_MODEL, *, threads: int | None = None, batch_size: int = 32) -> None:
        self._name = str(model)
        self._folder = _folder_of(self._name)
        self._threads = threads
        self._batch_size = batch_size
        self._using = threading.RLock()
        self._loaded: SentenceTransformer | None = None

    @cached_property
    def model_id(self) -> str:
        """The name, with a hash of the content for a folder: two folders of one name may hold different models."""
        if _is_packaged(self._name):
            return PACKAGED_MODEL
        if self._folder is None:
            return self._name
        return f"{self._folder.resolve().name}@{content_hash(self._folder)}"

    @cached_property
    def dim(self) -> int:
        known = dim_of(self._folder) if self._folder else None
        return known or self._encode(["dimension"], "document").shape[1]

    @cached_property
    def symmetric(self) -> bool:
        known = is_symmetric(self._folder) if self._folder else None
        if known is None:
            with self._using:
                model = self._model()
                routed = any(type(module).__name__ in ("Router", "Asym") for module in model)
                known = not routed and self._prompt(model, "query") == self._prompt(model, "document")
        return known

    @property
    def folder(self) -> Path | None:
        """Where the model lies; None for a model of the hub that is not on this machine."""
        return self._folder or _downloaded(self._name)

    def loaded(self) -> SentenceTransformer:
        """The model itself, to be exported.

        Raises:
            EmbedderUnavailableError: it cannot be loaded.
        """
        with self._using:
            return self._model()

    def prompt(self, kind: TextKind) -> str:
        """What stands in front of a text of this kind."""
        return self._prompt(self.loaded(), kind)

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        return embed_contentful(texts, lambda kept: self._encode(kept, kind), lambda: self.dim)

    def _encode(self, texts: list[str], kind: TextKind) -> Matrix:
        with self._using:
            model = self._model()
            encode = model.encode_query if kind == "query" else model.encode_document
            rows = encode(texts, prompt=self._prompt(model, kind), batch_size=self._batch_size, show_progress_bar=False)
        return normalise(rows)

    def _prompt(self, model: SentenceTransformer, kind: TextKind) -> str:
        return prompt_for(kind, model.prompts, model.default_prompt_name)

    def _model(self) -> SentenceTransformer:
        if self._loaded is None:
            self._loaded = _load_folder(self._folder) if self._folder else _load_from_hub(self._name)
            if self._threads is not None:
                import torch

                torch.set_num_threads(self._threads)
        return self._loaded


def _is_packaged(name: str) -> bool:
    return name.removeprefix(f"{_ORGANISATION}/") == PACKAGED_MODEL


def _folder_of(name: str) -> Path | None:
    """The folder of a model, or None for a name on the hub."""
    if _is_packaged(name):
        return packaged_folder()
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    # A name on the hub is "name" or "organisation/name"; all else can only have been meant as a path.
    if path.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1 or "\\" in name:
        raise EmbedderUnavailableError(f"There is no folder {name!r} with an embedding model. {_REMEDY}")
    return None


def _downloaded(name: str) -> Path | None:
    """The folder of a model of the hub that was downloaded before."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    repository = name if "/" in name else f"{_ORGANISATION}/{name}"
    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except LocalEntryNotFoundError:
        return None


def _load_folder(folder: Path) -> SentenceTransformer:
    try:
        return _load(str(folder), local_files_only=True)
    # Whatever torch, transformers or a broken file raise here, there is no model to embed with.
    except Exception as error:
        raise EmbedderUnavailableError(
            f"The folder {str(folder)!r} holds no embedding model that can be loaded: {first_line(error)}. {_REMEDY}"
        ) from error


def _load_from_hub(name: str) -> SentenceTransformer:
    """The model from the cache on this machine, or else from the hub."""
    try:
        return _load(name, local_files_only=True)
    except Exception as error:
        if _is_offline():
            raise EmbedderUnavailableError(
                f"The model {name!r} has not been downloaded, and HF_HUB_OFFLINE forbids to do so now. {_REMEDY}"
            ) from error
    try:
        _ask_hub(name)
        return _load(name, local_files_only=False)
    # As above; the hub's client has errors of three libraries besides.
    except Exception as error:
        raise EmbedderUnavailableError(
            f"The model {name!r} cannot be loaded from the Hugging Face hub: "
            f"either there is none of that name, or the hub cannot be reached ({first_line(error)}.) {_REMEDY}"
        ) from error


def _ask_hub(name: str) -> None:
    """Find out whether the hub answers at all; loading would try for a minute, and print every try."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    # An answer is all that is wanted: whether there is a model of that name, and where, loading finds out.
    with suppress(RepositoryNotFoundError):
        HfApi().model_info(name if "/" in name else f"{_ORGANISATION}/{name}", timeout=_HUB_TIMEOUT_S)


def _is_offline() -> bool:
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def _load(name: str, *, local_files_only: bool) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    with _no_progress_bars():
        return SentenceTransformer(name, local_files_only=local_files_only)


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    from transformers.utils import logging as transformers_logging

    bars: Any = transformers_logging  # its two switches have no types
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()
