"""What an exported model is on the disk: graph, weights, `tokenizer.json` and `export.json` in one folder.

The weights lie in a file of their own, which ONNX Runtime maps into memory: a session then opens in less than half the
time, and processes share the pages. The folder is kept in a cache of the user's. It is a copy of the model that it was
exported from, and is known to be one by a hash of that model's files; so that opening need not read 90 MB, their sizes
and times are looked at first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from indexes.embedder import TextKind
from indexes.model_folder import content_hash, weight_files

FORMAT = 1
MODEL = "model.onnx"
WEIGHTS = f"{MODEL}.data"  # as torch's exporter calls it
INT8_MODEL = "model-int8.onnx"
TOKENIZER = "tokenizer.json"
_ABOUT = "export.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What is known of an exported model without loading it.

    Attributes:
        content: hash of the files that it was exported from.
        stamp: hash of their names, sizes and times.
        model_id, dim, symmetric: as of the embedder that it was exported from.
        inputs: of the graph, in the names of the tokenizer.
        prompts: what stands in front of a text of each kind.
        max_tokens: of a text, the marks around it among them; longer ones are cut.
        lower_case: whether texts are made lower case before they are cut into tokens.
        pad_id, pad_type_id, pad_token: what fills a text up to the longest of its batch.
        sizes: of the other files of the export, in bytes; empty where they were not noted.
    """

    content: str
    stamp: str
    model_id: str
    dim: int
    symmetric: bool
    inputs: tuple[str, ...]
    prompts: Mapping[TextKind, str]
    max_tokens: int
    lower_case: bool
    pad_id: int
    pad_type_id: int
    pad_token: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    format: int = FORMAT


def place_of(cache: Path, source: Path, name: str) -> Path:
    """The folder in which the export of a model lies, whether it exists or not.

    Args:
        source: folder of the model.
        name: what the model is called; it is for people who look into the cache.
    """
    name = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    where = blake2b(str(source.resolve()).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return cache / f"{name}-{where}"


def stamp_of(source: Path) -> str:
    """A hash that changes when a file of the model is replaced."""
    states = [(name, path.stat()) for name, path in weight_files(source)]
    text = json.dumps([(name, state.st_size, state.st_mtime_ns) for name, state in states])
    return blake2b(text.encode(), digest_size=8).hexdigest()


def read_export(place: Path, source: Path) -> Exported | None:
    """The export in a folder; None where there is none, it is not whole, or not one of the model as it is now."""
    exported = _read(place)
    if exported is None or not _is_whole(place, exported):
        return None
    stamp = stamp_of(source)
    if exported.stamp == stamp:
        return exported
    if exported.content != content_hash(source):
        return None
    touched = replace(exported, stamp=stamp)
    with suppress(OSError):  # where nothing can be written, the files are hashed the next time as well
        write_about(place, touched)
    return touched


def write_about(place: Path, exported: Exported) -> None:
    """Write `export.json`, whole or not at all."""
    draft = place / f"{_ABOUT}.new"
    draft.write_text(json.dumps(asdict(exported), indent=2), encoding="utf-8")
    draft.replace(place / _ABOUT)


def sizes_of(place: Path) -> dict[str, int]:
    """The size of every file in the folder, in bytes."""
    return {path.name: path.stat().st_size for path in sorted(place.iterdir())}


def _is_whole(place: Path, exported: Exported) -> bool:
    """Whether its files are there, and none was cut."""
    if not exported.sizes:
        return all((place / name).is_file() for name in (MODEL, TOKENIZER))
    there = sizes_of(place)
    return all(there.get(name) == size for name, size in exported.sizes.items())


def _read(place: Path) -> Exported | None:
    try:
        values = json.loads((place / _ABOUT).read_text(encoding="utf-8"))
        exported = Exported(
            **{**values, "inputs": tuple(values["inputs"]), "sizes": dict(values.get("sizes", {}))},
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return exported if exported.format == FORMAT else None
