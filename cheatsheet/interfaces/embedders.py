"""The embedder that settings name."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cheatsheet.errors import SettingsError
from cheatsheet.settings import Settings
from indexes.embedder import Embedder

if TYPE_CHECKING:
    from indexes.onnx_embedder import OnnxEmbedder, Precision

ONNX_NAMES: Final[Mapping[str, Precision]] = {"onnx": "fp32", "onnx-int8": "int8"}
"""What stands before the colon in the names of embedders on ONNX Runtime, and the precision that it means."""

LITELLM: Final = "litellm:"
"""What the names of embedders of a provider begin with."""


def embedder_of(settings: Settings) -> Embedder:
    """The embedder that the settings describe."""
    return build_embedder(settings.embedder, cache=_exports(settings), threads=settings.embedder_threads)


def build_embedder(name: str, *, cache: Path | None = None, threads: int | None = None) -> Embedder:
    """The embedder of that name; nothing is loaded before the first text.

    Args:
        cache: folder in which models exported to ONNX are kept. Without it, none is looked for.
        threads: that one embedding may use; None leaves it to the library.
    """
    if name == "hashing":
        from indexes.hashing import HashingEmbedder

        return HashingEmbedder()
    if name.startswith(LITELLM):
        from indexes.litellm_embedder import LiteLLMEmbedder

        return LiteLLMEmbedder(name.removeprefix(LITELLM))
    if not name:
        raise SettingsError(
            "embedder is empty. Use 'auto', 'onnx', 'onnx-int8', 'hashing', 'litellm:NAME', or a name or folder of a "
            "model."
        )
    return _of_this_machine(name, cache, threads)


def onnx_embedder_of(settings: Settings) -> OnnxEmbedder:
    """The model of the settings on ONNX Runtime, whether they ask for that or not.

    Raises:
        SettingsError: they name no model of this machine.
        EmbedderUnavailableError: there is no such folder, or ONNX Runtime is not installed.
    """
    if settings.embedder == "hashing" or settings.embedder.startswith(LITELLM):
        raise SettingsError(
            f"embedder={settings.embedder!r} is no model of this machine, so that there is nothing to export. Use "
            f"'auto', or a name or folder of a sentence-transformers model."
        )
    return _on_onnx(settings.embedder, _exports(settings), settings.embedder_threads)


def runs_on_onnx(name: str) -> bool:
    """Whether the embedder of that name runs on ONNX Runtime alone."""
    return name.partition(":")[0] in ONNX_NAMES


def _exports(settings: Settings) -> Path:
    return settings.home_folder / "embedders"


def _of_this_machine(name: str, cache: Path | None, threads: int | None) -> Embedder:
    """A model in this process; the default one without torch where it was exported."""
    from indexes.model_folder import PACKAGED_MODEL
    from indexes.sentence_transformer import SentenceTransformerEmbedder

    if runs_on_onnx(name):
        return _on_onnx(name, cache, threads)
    if name == "auto" and cache is not None and importlib.util.find_spec("onnxruntime"):
        exported = _on_onnx(name, cache, threads)
        if exported.ready:
            return exported
    return SentenceTransformerEmbedder(PACKAGED_MODEL if name == "auto" else name, threads=threads)


def _on_onnx(name: str, cache: Path | None, threads: int | None) -> OnnxEmbedder:
    """The model of a name, with a runtime before it or not: `auto`, `onnx`, `onnx-int8:NAME`, or that of a model."""
    from indexes.model_folder import PACKAGED_MODEL
    from indexes.onnx_embedder import OnnxEmbedder

    if cache is None:
        raise SettingsError("A model exported to ONNX needs a folder in which it is kept: give cache.")
    runtime, _, model = name.partition(":") if runs_on_onnx(name) else ("onnx", "", "" if name == "auto" else name)
    return OnnxEmbedder(model or PACKAGED_MODEL, cache=cache, precision=ONNX_NAMES[runtime], threads=threads)
