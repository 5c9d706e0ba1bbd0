"""`warm`: what takes long the first time is done before it is needed."""

from __future__ import annotations

import importlib.util

from cheatsheet.errors import MissingExtraError
from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_json, print_note
from cheatsheet.settings import Settings


@with_settings()
def warm(as_json: AsJson = False, *, settings: Settings) -> None:
    """Export the embedding model to ONNX once, so that the first recall comes without loading torch."""
    from cheatsheet.interfaces.embedders import onnx_embedder_of
    from indexes.onnx_export import PACKAGES

    _must_be_installed("onnxruntime")
    embedder = onnx_embedder_of(settings)
    there = embedder.ready
    if not there:
        _must_be_installed(*PACKAGES)
        print_note("Exporting the embedding model; this takes up to a minute, once.")
    folder = embedder.prepare()
    if as_json:
        print_json({"model": embedder.model_id, "folder": str(folder), "made": not there})
    else:
        print_note(f"{embedder.model_id} {'was exported before' if there else 'is exported'}: {folder}")


def _must_be_installed(*packages: str) -> None:
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"warm needs {' and '.join(missing)}: pip install 'cheatsheet[onnx]'.")
