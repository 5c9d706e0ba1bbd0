"""Data sets of the Hugging Face Hub, by name: `hf:NAME`, or `hf:NAME+config=CONFIG+split=SPLIT+revision=REVISION`.

A folder that `save_to_disk` of `datasets` has written, or one with data files, can stand in the place of the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cheatsheet.errors import MissingExtraError, TaskError, UnknownNameError
from cheatsheet.evaluation.task.arrow import INSTALL, rows_of
from cheatsheet.evaluation.task.options import parted
from cheatsheet.evaluation.task.raw import RawTask, safe_name

PREFIX = "hf:"
OPTIONS = ("config", "split", "revision")

# What `save_to_disk` leaves in the folder of a data set, and in that of one with several splits.
_SAVED = ("state.json", "dataset_dict.json")


def read_hub(source: str, *, split: str | None) -> RawTask:
    """The questions of a data set; the name of its revision, where one is given, is its version.

    Args:
        split: of the data set's own, where the source does not name one itself.

    Raises:
        TaskError: the data set cannot be had, or which of its splits is meant is not clear.
        MissingExtraError: `datasets` is not installed.
    """
    name, options = parted(source.removeprefix(PREFIX))
    for option in options:
        if option not in OPTIONS:
            raise UnknownNameError("option of a data set", option, OPTIONS)
    if not name:
        raise TaskError(f"{source!r} names no data set. Write one as on the Hub, such as hf:openai/gsm8k+config=main.")
    splits = _splits(name, options.get("config"), options.get("revision"))
    chosen = _chosen(splits, options.get("split") or split, source)
    return RawTask(
        name=safe_name("-".join(filter(None, (Path(name).name, options.get("config"))))),
        path=source,
        samples=rows_of(chosen.with_format("arrow")[:], labels=_labels(chosen)),
        own_split="" if "split" in options else split or "",
        version=options.get("revision", ""),
    )


def _splits(name: str, config: str | None, revision: str | None) -> Mapping[str, Any]:
    """All splits of a data set, by name."""
    datasets = _library()
    try:
        if any((Path(name) / file).exists() for file in _SAVED):
            loaded = datasets.load_from_disk(name)
        else:
            loaded = datasets.load_dataset(name, config, revision=revision)
    except ConnectionError as error:
        raise TaskError(
            f"The data set {name!r} cannot be reached: {error}. Without a network only what was loaded before can be "
            f"used, and HF_HUB_OFFLINE=1 saves the waiting. A file works everywhere: .jsonl, .csv or .parquet."
        ) from error
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        hint = "" if config else f" A configuration is named by {PREFIX}{name}+config=."
        raise TaskError(f"The data set {name!r} cannot be loaded: {error}{hint}") from error
    return loaded if isinstance(loaded, Mapping) else {str(loaded.split or "train"): loaded}


def _library() -> Any:
    try:
        import datasets
        import datasets.exceptions
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"Data sets of the Hugging Face Hub need datasets, which is not installed: {INSTALL}."
        ) from error
    return datasets


def _chosen(splits: Mapping[str, Any], split: str | None, source: str) -> Any:
    there = ", ".join(map(repr, splits))
    if split is None and len(splits) > 1:
        first = next(iter(splits))
        raise TaskError(f"{source} has the splits {there}. Choose one, such as {source}+split={first}.")
    name = next(iter(splits)) if split is None else split
    if name not in splits:
        hint = "" if "+split=" in source else f" To cut it into parts, give their shares: --split {name}:60/20/20."
        raise TaskError(f"{source} has no split {name!r}; it has {there}.{hint}")
    return splits[name]


def _labels(dataset: Any) -> dict[str, list[str]]:
    """The names of the columns that hold numbers for names."""
    return {column: feature.names for column, feature in dataset.features.items() if hasattr(feature, "names")}
