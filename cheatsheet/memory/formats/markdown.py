"""Plain Markdown: headings are sections, list items are bullets; of prose, paragraphs as well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cheatsheet.memory.bullet import DEFAULT_SECTION, Bullet, section_key
from cheatsheet.memory.formats.format import Damage, Entry, Playbook, Written
from cheatsheet.memory.formats.losses import lost
from cheatsheet.memory.formats.signs import sign_of
from cheatsheet.memory.formats.text import heading, heading_of, lines_of, quote, unquote, without_text
from cheatsheet.memory.operations import Draft

PROSE = "text"
"""What `read_prose` calls its format: it is read only, and never recognised."""

_ITEM = re.compile(r"([ \t]*)([-*+•]|\d{1,9}[.)])(?:([ \t]+)(.*)|$)")
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*)$")
_FENCE = re.compile(r"(?:```|~~~)")
_WIDEST_MARK = 4  # columns behind a mark that belong to it; more begin indented code


class MarkdownFormat:
    """Lists under headings. An item carries line breaks by itself: its further lines are indented."""

    name = "markdown"
    title = "plain Markdown: lists under headings"

    def recognises(self, text: str) -> bool:
        """Whether there is a list item, and nothing that only another format has."""
        return sign_of(text) == self.name

    def read(self, text: str) -> Playbook:
        """Read list items; what stands outside of lists is named."""
        return _Reading(paragraphs=False).all(text, self.name)

    def write(self, bullets: Sequence[Bullet]) -> Written:
        """Write a heading wherever the section changes, and an item for each bullet."""
        text = "\n".join(_lines(bullets)).strip("\n")
        return Written(text=f"{text}\n" if text else "", lost=lost("Markdown", bullets, carried={"sections"}))


def read_prose(text: str) -> Playbook:
    """Read a text that people wrote for people: each list item and each paragraph is an entry."""
    return _Reading(paragraphs=True).all(text, PROSE)


@dataclass(slots=True)
class _Open:
    """What is being read: an item, or a paragraph.

    Attributes:
        indent: columns before an item's mark; -1 for a paragraph.
        inner: columns that further lines of an item are indented by.
    """

    line: int
    lines: list[str]
    indent: int = -1
    inner: int = 0


@dataclass(slots=True)
class _Reading:
    """The state of reading Markdown line by line."""

    paragraphs: bool
    entries: list[Entry] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)
    section: str = DEFAULT_SECTION
    open: _Open | None = None
    blanks: list[str] = field(default_factory=list)
    fence: str = ""

    def all(self, text: str, format: str) -> Playbook:
        for number, line in enumerate(lines_of(text), start=1):
            self.line(number, line)
        if self.fence and self.open:
            told = "The code that begins in these lines does not end; all that follows was read as code."
            self.damages.append(Damage(line=self.open.line, text=told))
        self.close()
        return Playbook(format=format, entries=tuple(self.entries), damages=tuple(self.damages))

    def line(self, number: int, line: str) -> None:
        if self.fence:
            self.inside_fence(line)
        elif not line.strip():
            self.blanks.append(line)
        elif self.open is not None and self.open.indent >= 0 and _columns(line) >= self.open.indent + 2:
            self.go_on(line)
        elif _FENCE.match(line):
            self.lazy(number, line)
            self.fence = line[:3]
        elif (title := heading_of(line)) is not None:
            self.close()
            self.section = title or DEFAULT_SECTION
        elif _RULE.match(line):
            self.rule(line)
        elif item := _ITEM.match(line):
            self.begin_item(number, item)
        else:
            self.lazy(number, line)

    def rule(self, line: str) -> None:
        """Take a line across the page: below a single line of text it makes a heading of it."""
        part = self.open
        if part and part.indent < 0 and not self.blanks and len(part.lines) == 1 and line[0] in "=-":
            self.section, self.open = part.lines[0].strip(), None
        self.close()

    def begin_item(self, number: int, item: re.Match[str]) -> None:
        if self.open and self.open.indent < 0 and self.paragraphs and self.open.lines[-1].rstrip().endswith(":"):
            told = "The text only introduces the list below it; it was left out."
            self.damages.append(Damage(line=self.open.line, text=told))
            self.open = None
        self.close()
        indent = _columns(item[1])
        gap = _columns(item[3] or " ")
        inner = indent + len(item[2]) + (gap if gap <= _WIDEST_MARK else 1)
        self.open = _Open(number, [(item[4] or "").lstrip()], indent, inner)

    def lazy(self, number: int, line: str) -> None:
        """Take a line that begins at the margin: part of what is open where no blank line stands between."""
        if self.open is None or self.blanks:
            self.close()
            self.open = _Open(number, [])
        self.go_on(line)

    def go_on(self, line: str) -> None:
        assert self.open is not None
        self.open.lines += [_dedent(part, self.open.inner) for part in (*self.blanks, line)]
        self.blanks = []

    def inside_fence(self, line: str) -> None:
        assert self.open is not None
        self.open.lines.append(line)
        if line.startswith(self.fence):
            self.fence = ""

    def close(self) -> None:
        part, self.open, self.blanks = self.open, None, []
        if part is None:
            return
        content = unquote("\n".join(part.lines).strip(), multiline=True)
        if part.indent < 0 and not self.paragraphs:
            self.damages.append(Damage(line=part.line, text="The text stands outside of any list; it was left out."))
        elif not content.strip():
            self.damages.append(without_text("the list item", part.line))
        else:
            draft = Draft(section=self.section, content=content)
            self.entries.append(Entry(draft=draft, line=part.line))


def _columns(line: str) -> int:
    """How far a line is indented; a tab reaches to the next multiple of four."""
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))


def _dedent(line: str, columns: int) -> str:
    """The line without up to so many columns of white space in front; further white space is part of it."""
    taken = 0
    for position, mark in enumerate(line):
        if taken >= columns or mark not in " \t":
            return line[position:]
        taken += 1 if mark == " " else 4 - taken % 4
    return ""


def _lines(bullets: Sequence[Bullet]) -> Iterator[str]:
    section = None
    for bullet in bullets:
        key = section_key(bullet.section)
        if key != section:
            yield from ("", f"## {heading(key)}", "")
            section = key
        first, *further = quote(bullet.content, multiline=True).split("\n")
        yield f"- {first}"
        yield from (f"  {line}" if line else "" for line in further)
