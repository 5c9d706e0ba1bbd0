"""The names under which modes are known, ours and the published ones."""

from __future__ import annotations

from cheatsheet.errors import UnknownNameError

MODES = ("default", "full-history", "cumulative", "retrieval")

# From the repository of Dynamic Cheatsheet (suzgunmirac/dynamic-cheatsheet) and from its paper.
_ALIASES = {
    "none": "default",
    "baseline": "default",
    "fullhistory": "full-history",
    "fullhistoryappending": "full-history",
    "dynamiccheatsheetcumulative": "cumulative",
    "dccu": "cumulative",
    "ace": "cumulative",
    "dynamicretrieval": "retrieval",
    "dcdr": "retrieval",
    "dr": "retrieval",
}


def mode_name(name: str) -> str:
    """Our name of a mode, from ours or a published one, whatever its case, hyphens and underscores.

    Raises:
        UnknownNameError: there is no such mode; the message lists all and suggests the nearest.
    """
    folded = "".join(filter(str.isalnum, name.casefold()))
    ours = {mode.replace("-", ""): mode for mode in MODES}
    if folded in ours:
        return ours[folded]
    if folded in _ALIASES:
        return _ALIASES[folded]
    raise UnknownNameError("mode", name, MODES)
