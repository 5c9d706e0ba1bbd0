"""The names under which modes are known, ours and the published ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cheatsheet.errors import UnknownNameError

MODES = ("default", "full-history", "cumulative", "retrieval", "auto")


@dataclass(frozen=True, slots=True)
class Variant:
    """A mode, and the settings that make it what the published name means.

    Attributes:
        settings: by their names; they hold unless they are set otherwise.
    """

    mode: str
    settings: Mapping[str, Any] = field(default_factory=dict)


_EMPTY = Variant("default", {"scaffold": True})
_REWRITTEN = Variant("cumulative", {"curation": "rewrite"})
_SYNTHESISED = Variant("retrieval", {"synthesis": True})

# From the repository of Dynamic Cheatsheet (suzgunmirac/dynamic-cheatsheet), its paper, and that of ACE.
_PUBLISHED = {
    "none": Variant("default"),
    "baseline": Variant("default"),
    "emptycheatsheet": _EMPTY,
    "dcempty": _EMPTY,
    "dc∅": _EMPTY,
    "fullhistory": Variant("full-history"),
    "fullhistoryappending": Variant("full-history"),
    "dynamiccheatsheetcumulative": _REWRITTEN,
    "dccu": _REWRITTEN,
    "ace": Variant("cumulative", {"curation": "delta"}),
    "dynamicretrieval": Variant("retrieval"),
    "dcdr": Variant("retrieval"),
    "dr": Variant("retrieval"),
    "dynamiccheatsheetretrievalsynthesis": _SYNTHESISED,
    "dcrs": _SYNTHESISED,
}


def variant(name: str) -> Variant:
    """The mode of that name, ours or a published one, whatever its case, hyphens and underscores.

    Raises:
        UnknownNameError: there is no such mode; the message lists all and suggests the nearest.
    """
    folded = "".join(letter for letter in name.casefold() if letter.isalnum() or letter == "∅")
    ours = {mode.replace("-", ""): Variant(mode) for mode in MODES}
    known = ours | _PUBLISHED
    if folded not in known:
        raise UnknownNameError("mode", name, MODES)
    return known[folded]


def mode_name(name: str) -> str:
    """Our name of a mode, from ours or a published one.

    Raises:
        UnknownNameError: there is no such mode; the message lists all and suggests the nearest.
    """
    return variant(name).mode
