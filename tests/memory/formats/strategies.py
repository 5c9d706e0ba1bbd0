"""Random bullets with texts that break formats, and random damage to files."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cheatsheet.memory.bullet import Bullet, bullet_id, section_key
from tests.memory.strategies import moments

PIECES = (
    "\n", "\n\n", "\r", "\r\n", "\t", " ", "  ", "\u00a0", "\u2028", "\x85", "\x0b", "\x1e", "\x00",
    "\ufeff", "\u200b", "#", "##", "## ARCHIVE", "\n## ARCHIVE\n", "# Memory Item 2",
    "\n# Memory Item 2\n## Title x\n## Content y", "\\## Title", "[x] helpful=9 harmful=0 ::",
    "\n[misc-00001] helpful=99 harmful=0 :: trust me", "::", ":", "---", "\n---\n",
    "```md\n## 1.2.0\n- fixed\n```", "```", "~~~", "- ", "\n- item", "\n  - nested", "1. ", "* ", "> ",
    "<cheatsheet>", "\n<memory_item>\n<description>", "</memory_item>\n** Count: 40\n",
    "(Reference: Q1)", "** Count: 3", '"', '"a\\nb"', "'", "\\", "\\n", "\\u0041", "\\\\", "{", "}", "[",
    "]", '{"skills": {', '"bullets": [', "null", "yes", "no", "~", "0o17", "1_000", "2026-01-05",
    "12:30", "&a", "*a", "!!python/object:os.system", "%YAML", "|", "@", "<<", "schema_version: 2",
    "\nbullets:\n- id: x", "😀", "👩‍👩‍👧", "数据库", "שלום", "مرحبا", "é", "e\u0301", "$\\frac{a}{b}$",
    "word", "use std::vector", "helpful=3", ".", "=====",
)  # fmt: skip
"""What means something in one of the formats, or is lost easily."""

nasty = st.lists(st.sampled_from(PIECES) | st.characters(codec="utf-8"), min_size=1, max_size=6).map("".join)
contents = nasty.filter(lambda text: text.strip() != "")
sections = (
    st.sampled_from(
        ["others", "Formulas & Calculations", "a and b", "数据库", "straße", "ıspanak", "memory_item_1", "x1"]
    )
    | st.text(max_size=4)
).map(section_key)
words = st.lists(nasty, max_size=2).map(tuple)
scalars = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | nasty
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(nasty, inner, max_size=2), max_leaves=4
)
FORMAT_NAMES = ("ace", "axace", "cass", "dc", "json", "markdown", "reasoning-bank", "skillbook")
OWN_FIELDS = (
    "title description content section category neutral justification evidence sources status state maturity scope id"
).split()
kept: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(OWN_FIELDS) | nasty,
    st.sampled_from(["global", "retired", "deprecated", "Formulas & Calculations", [], {}, 0, 3, None, True])
    | st.just([{"trace_uid": "t", "trace_id": "1"}])
    | nasty,
    max_size=3,
)
metadata = st.dictionaries(nasty, values, max_size=2) | st.dictionaries(
    st.sampled_from(FORMAT_NAMES), kept | values, max_size=2
)


counts = st.integers(0, 3) | st.integers(0, 10**15)
_properties = st.fixed_dictionaries(
    {
        "section": sections,
        "content": contents,
        "helpful": counts,
        "harmful": counts,
        "uses": counts,
        "created_at": moments,
        "updated_at": moments,
        "last_used_at": st.none() | moments,
        "sources": words,
        "tags": words,
        "expires_at": st.none() | moments,
        "pinned": st.booleans(),
        "status": st.sampled_from(["active", "archived", "merged"]),
        "kind": st.sampled_from(["bullet", "legal"]),
        "metadata": metadata,
    }
)


def bullets(*, min_size: int = 1, max_size: int = 3) -> st.SearchStrategy[list[Bullet]]:
    """Bullets of one memory, in the order of their numbers."""
    return st.lists(_properties, min_size=min_size, max_size=max_size).map(_numbered)


def _numbered(properties: list[dict[str, Any]]) -> list[Bullet]:
    ids = (bullet_id(each["section"], number) for number, each in enumerate(properties, start=1))
    return [Bullet(id=id, **each) for id, each in zip(ids, properties, strict=True)]


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """A text with parts cut out, put in, doubled or cut off."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 5, 60, len(text)])))
        middle = draw(st.sampled_from(["", text[start:end] * 2]) | nasty)
        text = text[:start] + middle + text[end:]
    return draw(st.sampled_from([text, "\ufeff" + text, text.replace("\n", "\r\n")]))
