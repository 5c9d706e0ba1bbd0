"""Running an exported model with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from indexes.embedder import TextKind
from indexes.errors import EmbedderUnavailableError, first_line
from indexes.onnx_folder import MODEL, TOKENIZER, Exported
from indexes.vectors import Matrix, normalise

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer


class OnnxSession:
    """A graph and its tokenizer, loaded by the first text. Safe for use from several threads.

    Args:
        graph: file of the graph in the folder.
        threads: that one call may use; None leaves it to ONNX Runtime, which takes one a core.
        batch_size: texts that go through the graph at once, those of like length together.

    Raises:
        EmbedderUnavailableError: by the first text: a file of the export is damaged.
    """

    def __init__(
        self, exported: Exported, folder: Path, *, graph: str = MODEL, threads: int | None = None, batch_size: int = 32
    ) -> None:
        self._exported = exported
        self._folder = folder
        self._graph = graph
        self._threads = threads
        self._batch_size = batch_size

    def embed(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """Unit rows `[len(texts), dim]`; `texts` are one or more that are not blank."""
        encodings = self._tokenizer.encode_batch([self._written(text, kind) for text in texts])
        order = sorted(range(len(texts)), key=lambda place: len(encodings[place].ids))
        rows = np.empty((len(texts), self._exported.dim), dtype=np.float32)
        for start in range(0, len(order), self._batch_size):
            places = order[start : start + self._batch_size]
            rows[places] = self._run([encodings[place] for place in places])
        return normalise(rows)

    def _written(self, text: str, kind: TextKind) -> str:
        whole = self._exported.prompts[kind] + text
        return whole.lower() if self._exported.lower_case else whole

    def _run(self, batch: Sequence[Encoding]) -> npt.NDArray[np.float32]:
        known = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        fills = {"input_ids": self._exported.pad_id, "attention_mask": 0, "token_type_ids": self._exported.pad_type_id}
        feed = {
            name: _padded([getattr(each, known[name]) for each in batch], fills[name]) for name in self._exported.inputs
        }
        (rows,) = self._session.run(None, feed)
        return np.asarray(rows, dtype=np.float32)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        with self._loading(TOKENIZER):
            tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._exported.max_tokens)
        return tokenizer

    @cached_property
    def _session(self) -> InferenceSession:
        import onnxruntime

        options: Any = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors
        if self._threads is not None:
            options.intra_op_num_threads = self._threads
        # Threads that spin while they wait take the cores from FAISS and from a model on this machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        with self._loading(self._graph):
            return onnxruntime.InferenceSession(
                str(self._folder / self._graph), options, providers=["CPUExecutionProvider"]
            )

    @contextmanager
    def _loading(self, file: str) -> Iterator[None]:
        """Both libraries raise errors of many kinds, without a common root; there is no export to embed with then."""
        try:
            yield
        except Exception as error:
            raise EmbedderUnavailableError(
                f"{file!r} of the export of {self._exported.model_id!r} cannot be loaded: {first_line(error)}. Delete "
                f"the folder {str(self._folder)!r}, and the model is exported anew (`cheatsheet warm`)."
            ) from error


def _padded(rows: Sequence[Sequence[int]], fill: int) -> npt.NDArray[np.int64]:
    """Rows of different lengths as one matrix `[n, longest]`."""
    matrix = np.full((len(rows), max(map(len, rows))), fill, dtype=np.int64)
    for place, row in enumerate(rows):
        matrix[place, : len(row)] = row
    return matrix
