"""What all formats of text share: clean lines, escapes that no content can forge, headings, and ids."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cheatsheet.memory.bullet import Bullet, section_key, section_title
from cheatsheet.memory.formats.format import Damage, Entry
from cheatsheet.memory.values import storable

MAX_COUNT = 10**15
"""The largest counter that is believed; sums of such counters still fit into 64 bits."""

# What some reader takes for the end of a line, and what cannot be seen. Tabs and line breaks are told apart below.
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
# What begins a heading or a bullet of ACE, a colon, which would be read as part of a label, and dashes alone, which are
# a line across the page to Markdown.
_OPENING = re.compile(r"#|:|\[[^\]\n]*\]\s*helpful=|-[- \t]*(?:\n|$)")
_NOT_IN_ID = re.compile(r"[\[\]\s]+")
_HEADING = re.compile(r" {0,3}(?:##{1,5}|#(?=[ \t]))[ \t]*(.*)")


def clean(text: str) -> str:
    """The text without lone surrogates and without byte order marks in front."""
    storable_text: str = storable(text)
    return storable_text.lstrip("\ufeff")


def lines_of(text: str) -> list[str]:
    """The clean lines of a text. Only line feeds and carriage returns end a line, as in the formats themselves."""
    return clean(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")


def quote(content: str, *, multiline: bool = False) -> str:
    """The content as it stands, or as a JSON string where it would not be read back as it is.

    What a plain line cannot carry (line breaks, white space at the ends) or what looks like structure (a heading, an
    id with counters) is quoted. So no backslash of a formula or a path has to be doubled, and `unquote` can tell our
    quotes from those of an author.

    Args:
        multiline: whether the format carries line breaks by itself.
    """
    if not _needs_quotes(content, multiline=multiline):
        return content
    literal = json.dumps(content, ensure_ascii=False)
    return _ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", literal)


def unquote(text: str, *, multiline: bool = False) -> str:
    """What `quote` was given; a text that only looks quoted is returned as it stands."""
    content = _literal(text)
    return text if content is None or not _needs_quotes(content, multiline=multiline) else content


def heading_of(line: str) -> str | None:
    """The words of a Markdown heading; None for another line. As in ACE, `##` needs no space behind it."""
    match = _HEADING.match(line)
    return match[1].strip() if match else None


def heading(section: str) -> str:
    """A section as it is shown, or its key where the shown form would be read as another section."""
    key = section_key(section)
    title = section_title(key)
    return title if section_key(title) == key else key


def safe_id(id: str) -> str:
    """The id without what could end it early."""
    return _NOT_IN_ID.sub("-", id).strip("-") or "id"


def unique_ids(bullets: Iterable[Bullet]) -> Iterator[tuple[str, Bullet]]:
    """Every bullet with its id; where an id comes again, as when memories are joined, with a number behind it."""
    seen: Counter[str] = Counter()
    for bullet in bullets:
        id = safe_id(bullet.id)
        seen[id] += 1
        yield (id if seen[id] == 1 else f"{id}-{seen[id]}"), bullet


def as_count(value: object) -> int | None:
    """A counter as a file states it, also as text or as a whole float; None when it is no count."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(MAX_COUNT)):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MAX_COUNT else None


def not_a_count(field: str, value: object, owner: str, line: int) -> Damage:
    """The sentence about a counter that is none."""
    return Damage(
        line=line, text=f"The field {field} of {owner} is {str(value)[:40]!r}, which is no count; 0 was used."
    )


def without_text(owner: str, line: int) -> Damage:
    """The sentence about an entry that has no words."""
    return Damage(line=line, text=f"{owner[:1].upper()}{owner[1:]} has no text; it was left out.")


def line_by_line(damages: Iterable[Damage], entries: Sequence[Entry]) -> tuple[Damage, ...]:
    """All that is damaged in the order of the lines, with the ids that a file gives more than once."""
    return tuple(sorted([*damages, *_repeated_ids(entries)], key=lambda damage: damage.line))


def _repeated_ids(listed: Sequence[Entry]) -> Iterator[Damage]:
    counts = Counter(entry.id for entry in listed if entry.id)
    last = {entry.id: entry.line for entry in listed}
    for id, count in counts.items():
        if count > 1:
            yield Damage(line=last[id], text=f"The id {id!r} is given {count} times; all of these entries were kept.")


def _needs_quotes(content: str, *, multiline: bool) -> bool:
    return bool(
        content != content.strip()
        or (not multiline and "\n" in content)
        or _ODD.search(content)
        or _OPENING.match(content)
        or _literal(content) is not None
    )


def _literal(text: str) -> str | None:
    """The string that a text spells in JSON; None when it spells none."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return storable(value) if isinstance(value, str) else None
