"""What the reader and the writer of Dynamic Cheatsheet's format share: tags, blocks, escapes, headings, lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

EXAMPLE = "\n\nExample:\n"
"""What stands between the description and the example of an item in a bullet's content."""

_NAMES = r"memory[_ -]?item|description|example|cheatsheet"
TAG = re.compile(rf"<[ \t]{{0,3}}(?P<close>/?)[ \t]{{0,3}}(?P<name>{_NAMES})[ \t]{{0,3}}>", re.IGNORECASE)

# A backslash behind the bracket makes text of what would be read as a tag or a reference; reading takes it away again.
_TEXT = rf"(?=[ \t]{{0,3}}/?[ \t]{{0,3}}(?:{_NAMES})\b)"
_BARE_TAG, _ESCAPED_TAG = (re.compile(rf"<{slash}(\\*){_TEXT}", re.IGNORECASE) for slash in ("", r"\\"))
_BARE_REF, _ESCAPED_REF = (re.compile(rf"\({slash}(\\*)(?=references?:)", re.IGNORECASE) for slash in ("", r"\\"))

_SOURCE = r"[^\s,()<>]+"
_REFERENCE = re.compile(rf"[ \t]*\(references?:[ \t]*({_SOURCE}(?:[ \t]*,[ \t]*{_SOURCE})*)[ \t]*\)", re.IGNORECASE)

COUNT = re.compile(r"[\s*_>-]*(?:usage[ _])?count[\s*_]*:[\s*_]*(\d+)[\s*_]*", re.IGNORECASE)
VERSION = re.compile(r"[\s*_#]*version[\s*_]*:[\s*_]*v?[\d.]+[\s*_]*", re.IGNORECASE)
PAIRS_START = re.compile(r"\s*#{1,6}[ \t]*PREVIOUS SOLUTIONS \(START\)")
PAIRS_END = re.compile(r"#{1,6}[ \t]*PREVIOUS SOLUTIONS \(END\)")
_NOISE = (
    VERSION,
    PAIRS_END,
    re.compile(r"\s*(?:-{3,}|={3,}|\*{3,}|_{3,}|`{3,}\w*)\s*"),
    re.compile(r"\s*\(\s*empty\s*\)\s*", re.IGNORECASE),
)
_HEADINGS = (
    re.compile(r"\s{0,3}#{1,6}\s+(?P<title>\S.{0,150}?)\s*#*\s*"),
    re.compile(r"\s*(?P<mark>\*\*|__)(?P<title>[^*_].{0,150}?)(?P=mark)\s*:?\s*"),
    re.compile(r"\s*(?:={2,}|-{2,})\s*(?P<title>[^\s=-].{0,150}?)\s*(?:={2,}|-{2,})\s*"),
)
_LIST_MARK = re.compile(r"\s{0,3}(?:[-*+•]|\d{1,3}[.)])\s+")


def last_block(text: str) -> tuple[int, int] | None:
    """Where the last complete `<cheatsheet>…</cheatsheet>` begins and ends inside; None when there is none.

    A tag that prose only mentions begins no block: one begins at the last opening tag before its closing tag. Blocks
    with an item in them come before any that has none, such as a mention of both tags behind the cheatsheet.
    """
    blocks: list[tuple[int, int]] = []
    opened: int | None = None
    for tag in TAG.finditer(text):
        if tag_name(tag) != "cheatsheet":
            continue
        if not tag["close"]:
            opened = tag.end()
        elif opened is not None:
            blocks.append((opened, tag.start()))
            opened = None
    with_items = [(start, end) for start, end in blocks if _has_item(text[start:end])]
    return next(iter([*with_items[::-1], *blocks[::-1]]), None)


def open_block(text: str) -> int | None:
    """Where the text begins behind the last `<cheatsheet>` that begins a line."""
    openings = [match.end() for match in re.finditer(r"^[ \t]*<cheatsheet>", text, re.IGNORECASE | re.MULTILINE)]
    return openings[-1] if openings else None


def finished_items(text: str) -> str:
    """A cheatsheet that breaks off, up to the end of the last item that is finished."""
    ends = [tag.end() for tag in TAG.finditer(text) if tag["close"] and tag_name(tag) in ("item", "example")]
    return text[: ends[-1]] if ends else ""


def tag_name(tag: re.Match[str]) -> str:
    """`item`, `description`, `example` or `cheatsheet`."""
    name = tag["name"].casefold()
    return "item" if name.startswith("memory") else name


def _has_item(text: str) -> bool:
    return any(tag_name(tag) == "item" for tag in TAG.finditer(text))


def body(text: str) -> str:
    """The text of a part, without blank lines around it; the indentation of a first line of its own stays."""
    lines = text.rstrip().split("\n")
    lines[0] = lines[0].lstrip()
    first = next((index for index, line in enumerate(lines) if line.strip()), len(lines))
    return "\n".join(lines[first:])


def is_clean(text: str) -> bool:
    """Whether a text on lines of its own is read back as it is."""
    return bool(text.strip()) and body(f"\n{text}\n") == text


def escaped(text: str) -> str:
    """The text, so that nothing in it is read as a tag or a reference."""
    return _BARE_REF.sub(r"(\\\1", _BARE_TAG.sub(r"<\\\1", text))


def unescaped(text: str) -> str:
    """What `escaped` was given."""
    return _ESCAPED_REF.sub(r"(\1", _ESCAPED_TAG.sub(r"<\1", text))


def is_source(text: str) -> bool:
    """Whether a source can be named in a reference."""
    return re.fullmatch(_SOURCE, text) is not None


def without_references(description: str) -> tuple[str, tuple[str, ...]]:
    """The description without `(Reference: Q1, Q2)`, and what it names."""
    named = [name.strip() for found in _REFERENCE.findall(description) for name in found.split(",")]
    return body("\n" + _REFERENCE.sub("", description)), tuple(dict.fromkeys(named))


def is_noise(line: str) -> bool:
    """Whether a line says nothing of its own: a version, a rule, an empty sheet."""
    return any(shape.fullmatch(line) for shape in _NOISE)


def heading(line: str) -> str | None:
    """The title, where a line is a heading by its marks or by its capitals."""
    for shape in _HEADINGS:
        found = shape.fullmatch(line)
        if found:
            return found["title"].strip(" :*_") or None
    title = line.strip().removesuffix(":").rstrip()
    capitals = title.isupper() and len(title) <= 150 and not title.endswith((".", "!", "?", ";"))
    return title if capitals and len(re.findall(r"[^\W\d_]", title)) >= 3 and title[0] not in "[(<`" else None


def plain_heading(line: str) -> str | None:
    """The title, where a line is short enough to be one and stands right before an item."""
    title = line.strip().removesuffix(":").strip()
    short = len(title) <= 80 and len(title.split()) <= 10
    return title if short and re.fullmatch(r"[^\W_][^.!?;\[\]]*", title) else None


def paragraphs(lines: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Free text in pieces, paragraphs and single items of lists, each with its place."""
    pieces: list[tuple[int, list[str]]] = []
    fresh = True
    for place, line in lines:
        if not line.strip():
            fresh = True
        elif fresh or _LIST_MARK.match(line):
            pieces.append((place, [_LIST_MARK.sub("", line, count=1)]))
            fresh = False
        else:
            pieces[-1][1].append(line)
    return [(place, body("\n" + "\n".join(text))) for place, text in pieces]
