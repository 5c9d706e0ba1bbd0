"""By what a text shows of which format it is: its first line, or first key, that no other format has."""

from __future__ import annotations

import re

from cheatsheet.memory.formats.json_text import top_level
from cheatsheet.memory.formats.text import lines_of

# What another format writes inside an entry never begins a line as these do: it stands behind a label or a bullet's
# mark, is indented, or is quoted. So the first of these lines decides, whatever follows.
_SIGNS = {
    "dc": r"(?i:<(?:cheatsheet|memory_item)>|#{1,6}[ \t]*previous solutions \(start\))",
    "reasoning-bank": r"(?i:#[ \t]+memory[ \t]+item\b)",
    "ace": r"(?:[-*+] )?\[[^\]\n]{1,200}\][ \t]*helpful=-?\d+[ \t]*harmful=-?\d+(?:[ \t]+\w{1,20}=-?\d+){0,9}[ \t]*::",
    "cass": r"[\"']?schema_version[\"']?[ \t]*:|bullets[ \t]*:[ \t]*\n(?:[ \t]*\n)*[ \t]*-[ \t]+[\"']?\w+[\"']?[ \t]*:",
}
_ANY = re.compile("|".join(f"(?P<{name.replace('-', '_')}>^(?:{sign}))" for name, sign in _SIGNS.items()), re.MULTILINE)
_LIST_ITEM = re.compile(r"^[ \t]{0,8}(?:[-*+•]|\d{1,4}[.)])[ \t]+\S", re.MULTILINE)


def sign_of(text: str) -> str:
    """The name of the format that the text is of; empty where it is of none."""
    joined = "\n".join(lines_of(text))
    opening = joined.lstrip()[:1]
    if opening in ("{", "[") and (name := _json_sign(joined, opening)):
        return name
    if match := _ANY.search(joined):
        return str(match.lastgroup).replace("_", "-")
    return "markdown" if _LIST_ITEM.search(joined) else ""


def _json_sign(text: str, opening: str) -> str:
    if opening == "[":
        return "json" if re.match(r"\s*\[\s*(?:\{[^{}]*\"content\"\s*:|\]\s*$)", text) else ""
    first = top_level(text)
    if first.get("skills") in ("{", "[") or first.get("bullets") == "{":
        return "skillbook"
    if first.get("bullets") == "[":
        return "cass" if "schema_version" in first else "json"
    return "axace" if first.get("sections") == "{" or first.get("playbook") == "{" else ""
