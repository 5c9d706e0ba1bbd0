"""Exporting a sentence-transformers model to ONNX: once for each model, with torch; afterwards torch is not needed.

The graph is the whole model, pooling and normalisation included, with batch and length left open. An export is kept
only when it gives the vectors of the model itself.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexes.embedder import TextKind
from indexes.errors import EmbedderUnavailableError, first_line
from indexes.model_folder import content_hash
from indexes.onnx_folder import INT8_MODEL, MODEL, TOKENIZER, Exported, read_export, sizes_of, stamp_of, write_about
from indexes.sentence_transformer import SentenceTransformerEmbedder

if TYPE_CHECKING:
    from filelock import FileLock
    from sentence_transformers import SentenceTransformer

TOLERANCE = 1e-4
"""Largest difference of any number of a vector, from that of the model itself."""

PACKAGES = ("onnx", "onnxscript")
"""What is needed to export, and to quantise, and not to run what was exported."""

_KINDS: tuple[TextKind, ...] = ("query", "document")
_PROBES = ["Where is my PARCEL?", "x", "如何重置密码", "long " * 600, "a third, somewhat longer text: E4, 3.5 %"]


def export(embedder: SentenceTransformerEmbedder, source: Path, place: Path) -> Exported:
    """Export a model into a folder, which is replaced whole or not at all; one that is there already is returned.

    Two processes that want the same export wait for each other.

    Raises:
        EmbedderUnavailableError: a package is missing, the model cannot be loaded or exported, or its export gives
            other vectors.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with _held(place):
        if (exported := read_export(place, source)) is not None:
            return exported
        _must_have_packages()
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as name:
            draft = Path(name) / "export"
            draft.mkdir()
            exported = _exported(embedder, source, draft)
            shutil.rmtree(place, ignore_errors=True)
            draft.replace(place)
        return exported


def quantise(place: Path) -> None:
    """Add to an export its int8 graph, unless it is there: dynamic, one scale for each channel of the weights.

    Per channel, because one scale for a whole matrix moves the vectors further from those in full precision.

    Raises:
        EmbedderUnavailableError: a package is missing, or the graph cannot be quantised.
    """
    with _held(place):
        if (place / INT8_MODEL).is_file():
            return
        _must_have_packages()
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as name:
            draft = Path(name) / INT8_MODEL
            with _told("quantised", place.name):
                _write_int8(place / MODEL, draft)
            draft.replace(place / INT8_MODEL)


def _held(place: Path) -> FileLock:
    from filelock import FileLock

    return FileLock(place.with_name(f"{place.name}.lock"))


def _must_have_packages() -> None:
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise EmbedderUnavailableError(
            f"To export a model, {' and '.join(missing)} must be installed. Run: pip install 'cheatsheet[onnx]'"
        )


@contextlib.contextmanager
def _told(done: str, model: str) -> Iterator[None]:
    """Whatever the libraries raise in this block (they are four), there is no export: say so in a sentence."""
    try:
        yield
    except Exception as error:
        raise EmbedderUnavailableError(
            f"The model {model!r} cannot be {done}: {first_line(error)}. Use it without ONNX."
        ) from error


def _write_int8(graph: Path, path: Path) -> None:
    with _quiet():
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(graph, path, per_channel=True, weight_type=QuantType.QInt8)


def _exported(embedder: SentenceTransformerEmbedder, source: Path, draft: Path) -> Exported:
    model = embedder.loaded()
    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise EmbedderUnavailableError(
            f"The model {embedder.model_id!r} cannot be exported: its tokenizer is none of the library tokenizers. "
            f"Use it without ONNX."
        )
    exported = _described(embedder, source, model)
    backend.save(str(draft / TOKENIZER))
    with _told("exported to ONNX", embedder.model_id):
        _write_graph(model, exported, draft / MODEL)
    exported = replace(exported, sizes=sizes_of(draft))
    write_about(draft, exported)
    _check(embedder, exported, draft)
    return exported


def _described(embedder: SentenceTransformerEmbedder, source: Path, model: SentenceTransformer) -> Exported:
    tokenizer: Any = model.tokenizer
    return Exported(
        content=content_hash(source),
        stamp=stamp_of(source),
        model_id=embedder.model_id,
        dim=embedder.dim,
        symmetric=embedder.symmetric,
        inputs=tuple(tokenizer.model_input_names),
        prompts={kind: embedder.prompt(kind) for kind in _KINDS},
        max_tokens=int(model.max_seq_length or tokenizer.model_max_length),
        lower_case=bool(getattr(model[0], "do_lower_case", False)),
        pad_id=int(tokenizer.pad_token_id),
        pad_type_id=int(getattr(tokenizer, "pad_token_type_id", 0)),
        pad_token=str(tokenizer.pad_token),
    )


def _write_graph(model: SentenceTransformer, exported: Exported, path: Path) -> None:
    import torch

    class Graph(torch.nn.Module):
        """The model as a function of its tensors, which is what an exporter takes."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            features = dict(zip(exported.inputs, tensors, strict=True))
            embedding: torch.Tensor = self.inner(features)["sentence_embedding"]
            return embedding

    batch, length = torch.export.Dim("batch"), torch.export.Dim("length", max=exported.max_tokens)
    example = model.tokenizer(_PROBES[:2], padding=True, return_tensors="pt")
    with _quiet():
        program: Any = torch.onnx.export(
            Graph().eval(),
            tuple(example[name] for name in exported.inputs),
            input_names=list(exported.inputs),
            output_names=["sentence_embedding"],
            dynamic_shapes={"tensors": tuple({0: batch, 1: length} for _ in exported.inputs)},
            dynamo=True,
            verbose=False,
        )
        program.save(str(path), external_data=True)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The exporter tells its steps and its doubts; what counts is whether the vectors agree."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


def _check(embedder: SentenceTransformerEmbedder, exported: Exported, draft: Path) -> None:
    from indexes.onnx_session import OnnxSession

    session = OnnxSession(exported, draft)
    for kind in _KINDS:
        differs = float(np.abs(session.embed(_PROBES, kind) - embedder.embed(_PROBES, kind)).max())
        if not differs <= TOLERANCE:
            raise EmbedderUnavailableError(
                f"The export of {embedder.model_id!r} gives other vectors than the model itself (they differ by up to "
                f"{differs:.1g}), and is not kept. Use it without ONNX."
            )
