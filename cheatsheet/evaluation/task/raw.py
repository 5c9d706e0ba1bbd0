"""What a source gives, before its columns are questions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RawSample:
    """One question as its source tells it.

    Attributes:
        place: where it stands in the source, for messages: "line 3", "row 3".
        values: by the source's own names.
    """

    place: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTask:
    """All questions of a source, in its order.

    Attributes:
        path: the source as it was named.
        sha256: of the file's bytes, unpacked; empty where there is no file, so that the questions tell it.
        strict: whether rows with `input` and `target` are in our own form, in which an unknown name is a slip.
        own_split: the source's own split that was asked for and is given; empty where it knows of none.
        instruction, scorer, version: as in `Task`.
    """

    name: str
    path: str
    samples: tuple[RawSample, ...]
    sha256: str = ""
    strict: bool = False
    own_split: str = ""
    instruction: str = ""
    scorer: str = ""
    version: str = ""


def safe_name(name: str) -> str:
    """The name of a task as it can be part of the name of a folder."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)
