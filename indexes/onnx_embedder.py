"""A sentence-transformers model run by ONNX Runtime: the same vectors, without importing torch."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

from indexes.embedder import TextKind
from indexes.errors import EmbedderUnavailableError
from indexes.model_folder import PACKAGED_MODEL
from indexes.onnx_folder import INT8_MODEL, MODEL, Exported, place_of, read_export
from indexes.onnx_session import OnnxSession
from indexes.sentence_transformer import SentenceTransformerEmbedder
from indexes.texts import embed_contentful
from indexes.vectors import Matrix

Precision = Literal["fp32", "int8"]


class OnnxEmbedder:
    """An exported model, run in this process. Promises: see `Embedder`.

    The model is exported by the first text that finds no export of it (`indexes/onnx_export.py`: torch is loaded, and
    it takes a while). With fp32 the vectors are those of `SentenceTransformerEmbedder` to 1e-4, and `model_id`
    is its: vectors that are stored stay right. With int8 they are others, and so is `model_id`. The scale of
    dynamic int8 comes from the numbers of a whole batch, so that a text's vector would depend on its neighbours
    (promise E2); its texts therefore go through one by one.

    Args:
        model: as for `SentenceTransformerEmbedder`.
        cache: folder in which exports are kept.
        precision: `int8` quantises the weights, and the activations as they come; less exact.
        threads: that one call may use; None leaves it to ONNX Runtime.
        batch_size: texts that go through the model at once, for fp32.

    Raises:
        EmbedderUnavailableError: there is no such model on this machine, or ONNX Runtime is not installed.
    """

    def __init__(
        self,
        model: str | Path = PACKAGED_MODEL,
        *,
        cache: Path,
        precision: Precision = "fp32",
        threads: int | None = None,
        batch_size: int = 32,
    ) -> None:
        if importlib.util.find_spec("onnxruntime") is None:
            raise EmbedderUnavailableError("ONNX Runtime is not installed. Run: pip install 'cheatsheet[onnx]'")
        self._name = Path(model).name
        self._source = SentenceTransformerEmbedder(model)
        self._cache = cache
        self._precision = precision
        self._threads = threads
        self._batch_size = batch_size if precision == "fp32" else 1
        self._making = threading.Lock()

    @property
    def ready(self) -> bool:
        """Whether the export is there, so that nothing has to be made before the first vector."""
        return self._source.folder is not None and self._found() is not None

    @cached_property
    def model_id(self) -> str:
        found = self._found()
        own = found.model_id if found else self._source.model_id
        return own if self._precision == "fp32" else f"{own}+int8"

    @cached_property
    def dim(self) -> int:
        found = self._found()
        return found.dim if found else self._source.dim

    @cached_property
    def symmetric(self) -> bool:
        found = self._found()
        return found.symmetric if found else self._source.symmetric

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        return embed_contentful(texts, lambda kept: self._session.embed(kept, kind), lambda: self.dim)

    def prepare(self) -> Path:
        """Make the export unless it is there; returns its folder.

        Raises:
            EmbedderUnavailableError: the model cannot be exported.
        """
        from indexes.onnx_export import export, quantise

        export(self._source, self._folder, self._place)
        if self._precision == "int8":
            quantise(self._place)
        return self._place

    def _found(self) -> Exported | None:
        exported = read_export(self._place, self._folder)
        return exported if exported and (self._place / self._graph).is_file() else None

    @cached_property
    def _graph(self) -> str:
        return MODEL if self._precision == "fp32" else INT8_MODEL

    @cached_property
    def _folder(self) -> Path:
        folder = self._source.folder
        if folder is None:
            raise EmbedderUnavailableError(
                "A model is exported from its files on this machine, and this one was not downloaded. "
                "Use it without ONNX once, which downloads it, or give its folder."
            )
        return folder

    @cached_property
    def _place(self) -> Path:
        return place_of(self._cache, self._folder, self._name)

    @property
    def _session(self) -> OnnxSession:
        with self._making:
            return self._opened

    @cached_property
    def _opened(self) -> OnnxSession:
        exported = self._found()
        if exported is None:
            self.prepare()
            exported = self._found()
        assert exported is not None, "an export that was just made is there"
        return OnnxSession(exported, self._place, graph=self._graph, threads=self._threads, batch_size=self._batch_size)
