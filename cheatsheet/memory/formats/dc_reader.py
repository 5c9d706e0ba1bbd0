"""One pass over a cheatsheet of Dynamic Cheatsheet, whatever a model made of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from cheatsheet.memory.bullet import DEFAULT_SECTION, section_key
from cheatsheet.memory.formats.dc_text import (
    COUNT,
    EXAMPLE,
    PAIRS_END,
    PAIRS_START,
    TAG,
    body,
    heading,
    is_noise,
    last_block,
    open_block,
    paragraphs,
    plain_heading,
    tag_name,
    unescaped,
    without_references,
)
from cheatsheet.memory.formats.format import Damage, Entry
from cheatsheet.memory.formats.text import MAX_COUNT
from cheatsheet.memory.gate.stand_ins import is_ellipsis, stand_ins
from cheatsheet.memory.operations import Draft


@dataclass(slots=True)
class _Item:
    """An item that is being read; words in it outside the tags of its parts belong to its description.

    Attributes:
        described: whether it had the tag of a description.
    """

    line: int
    section: str
    described: bool = False
    description: list[str] = field(default_factory=list)
    example: list[str] = field(default_factory=list)
    count: int | None = None


class Reader:
    """Reads the tags of a text in their order; the end of what has no closing tag is taken from what follows.

    Attributes:
        entries: what was read.
        damages: in the order in which they were found.
    """

    def __init__(self, text: str) -> None:
        self.entries: list[Entry] = []
        self.damages: list[Damage] = []
        self._text = text
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._section = DEFAULT_SECTION
        self._item: _Item | None = None
        self._part = ""  # the part whose tag is open: description or example
        self._countable: int | None = None  # place in `entries` of the item that a count behind its end is for
        self._unclosed: list[int] = []  # lines of items

    def read(self) -> None:
        start, end = self._block()
        position = self._behind_pairs(start, end)
        for tag in TAG.finditer(self._text, position, end):
            self._take_text(position, tag.start())
            self._take_tag(tag)
            position = tag.end()
        self._take_text(position, end)
        self._close_item(at=end, closed=False)
        if self._unclosed:
            many = f"{len(self._unclosed)} items have" if len(self._unclosed) > 1 else "An item has"
            told = f"{many} no closing tag; the end was taken from what follows."
            self.damages.append(Damage(line=self._unclosed[0], text=told))

    # The parts of a file

    def _block(self) -> tuple[int, int]:
        found = last_block(self._text)
        if found is None:
            start = open_block(self._text)
            if start is None:
                return 0, len(self._text)
            self._damage(start, "The cheatsheet has no closing tag; it was read up to the end.")
            found = start, len(self._text)
        for begin, end in ((0, found[0]), (found[1], len(self._text))):
            if TAG.sub("", self._text[begin:end]).strip().strip("\ufeff"):
                self._damage(begin, "The text outside the cheatsheet was left out.")
        return found

    def _behind_pairs(self, start: int, end: int) -> int:
        """Where reading begins: behind earlier questions and answers that a run kept in place of a cheatsheet."""
        if not PAIRS_START.match(self._text, start, end):
            return start
        told = "Earlier questions with their answers stand here in place of a cheatsheet; they were left out."
        self._damage(start, told)
        ends = [match.end() for match in PAIRS_END.finditer(self._text, start, end)]
        return ends[-1] if ends else end

    # Tags

    def _take_tag(self, tag: re.Match[str]) -> None:
        name = tag_name(tag)
        if name == "cheatsheet":
            self._damage(tag.start(), "A cheatsheet tag stands inside the cheatsheet; it was passed over.")
        elif name == "item" and tag["close"]:
            self._end_item(tag)
        elif name == "item":
            self._begin_item(tag.start())
        elif tag["close"]:
            self._end_part(tag, name)
        else:
            self._begin_part(tag, name)

    def _begin_item(self, at: int) -> None:
        self._close_item(at=at, closed=False)
        self._item = _Item(line=self._line_of(at), section=self._section)
        self._countable = None

    def _end_item(self, tag: re.Match[str]) -> None:
        if self._item is not None:
            self._close_item(at=tag.start(), closed=True)
        elif self._countable is None:
            self._damage(tag.start(), "A closing tag closes no item; it was passed over.")

    def _begin_part(self, tag: re.Match[str], name: str) -> None:
        self._close_part(tag.start())
        item = self._item
        if item is None or item.example or (name == "description" and item.described):
            self._begin_item(tag.start())
            self._damage(tag.start(), f"The tag of an item is missing before this {name}; an item was begun with it.")
        if self._item is not None and name == "description":
            self._item.described = True
        self._part = name

    def _end_part(self, tag: re.Match[str], name: str) -> None:
        if self._part == name:
            self._part = ""
        else:
            self._damage(tag.start(), f"A closing tag closes no {name}; it was passed over.")

    def _close_part(self, at: int) -> None:
        if self._part:
            self._damage(at, f"The {self._part} that ends here has no closing tag.")
            self._part = ""

    # Text

    def _take_text(self, start: int, end: int) -> None:
        text = self._text[start:end]
        if not text.strip():
            return
        if self._item is not None and self._part == "description":
            self._item.description.append(body(text))
        elif self._item is not None and self._part == "example":
            self._item.example.append(body(text))
        else:
            self._take_loose(text, start)

    def _take_loose(self, text: str, start: int) -> None:
        """Text outside the tags of parts: counts and headings, and words of an item or of none."""
        free: list[tuple[int, str]] = []
        lines = text.split("\n")
        last = max(index for index, line in enumerate(lines) if line.strip())
        for index, line in enumerate(lines):
            before_item = not any(words.strip() for _, words in free) and index == last
            if self._take_line(line, start, before_item=before_item):
                self._take_free(free)
                free = []
            else:
                free.append((start, line))
            start += len(line) + 1
        self._take_free(free)

    def _take_line(self, line: str, place: int, *, before_item: bool) -> bool:
        """Whether the line is anything but free words."""
        count = COUNT.fullmatch(line)
        if count:
            self._take_count(count[1], place)
            return True
        if not line.strip() or is_noise(line):
            return bool(line.strip())
        if self._inside_words() and not self._begins_section(line, place):
            return False
        if stand_ins(line) or is_ellipsis(line):
            self._damage(place, f"A line stands in place of items that are not there; it was left out: {_short(line)}.")
            return True
        title = heading(line) or (plain_heading(line) if before_item and self._item_follows(place) else None)
        if title is None:
            return False
        self._close_item(at=place, closed=False)
        self._section = section_key(title)
        return True

    def _inside_words(self) -> bool:
        """Whether words outside the tags of parts still belong to the item: until its example or its count."""
        return self._item is not None and not self._item.example and self._item.count is None

    def _begins_section(self, line: str, place: int) -> bool:
        """Whether a line behind a description is the heading of what follows, the item being unfinished."""
        has_words = self._item is not None and bool(self._item.description)
        return has_words and heading(line) is not None and self._item_follows(place)

    def _item_follows(self, place: int) -> bool:
        tag = TAG.search(self._text, place)
        return tag is not None and not tag["close"] and tag_name(tag) == "item"

    def _take_count(self, digits: str, place: int) -> None:
        if len(digits.lstrip("0")) > len(str(MAX_COUNT)) or _votes(int(digits)) > MAX_COUNT:
            self._damage(place, f"A count is larger than {MAX_COUNT:,}; it was left out.")
        elif self._item is not None and self._item.count is None:
            self._item.count = int(digits)
        elif self._item is None and self._countable is not None:
            entry = self.entries[self._countable]
            draft = entry.draft.model_copy(update={"helpful": _votes(int(digits))})
            self.entries[self._countable] = Entry(draft=draft, line=entry.line)
            self._countable = None
        else:
            self._damage(place, "A count belongs to no item; it was left out.")

    def _take_free(self, lines: Sequence[tuple[int, str]]) -> None:
        words = [place for place, line in lines if line.strip()]
        if not words:
            return
        if self._item is not None and self._inside_words():
            self._item.description.append(body("\n".join(line for _, line in lines)))
            return
        self._close_item(at=words[0], closed=False)
        self._countable = None
        for place, text in paragraphs(lines):
            self._damage(place, "Text outside the items was kept as an entry of its own.")
            self._add(_Item(line=self._line_of(place), section=self._section, description=[text]))

    # Items

    def _close_item(self, *, at: int, closed: bool) -> None:
        self._close_part(at)
        item, self._item = self._item, None
        if item is None:
            return
        if not closed:
            self._unclosed.append(item.line)
        if self._add(item):
            self._countable = len(self.entries) - 1 if item.count is None else None
        else:
            self.damages.append(Damage(line=item.line, text="An item holds no words; it was left out."))

    def _add(self, item: _Item) -> bool:
        """Whether the item holds any words."""
        description, sources = without_references("\n\n".join(item.description))
        parts = (unescaped(part) for part in (description, "\n\n".join(item.example)))
        content = EXAMPLE.join(part for part in parts if part.strip())
        if not content:
            return False
        draft = Draft(section=item.section, content=content, helpful=_votes(item.count), sources=sources)
        self.entries.append(Entry(draft=draft, line=item.line))
        return True

    def _damage(self, place: int, text: str) -> None:
        self.damages.append(Damage(line=self._line_of(place), text=text))

    def _line_of(self, place: int) -> int:
        return bisect_right(self._line_starts, place)


def _votes(count: int | None) -> int:
    """How often an item helped: the count includes the time when it was made."""
    return max(0, (count or 0) - 1)


def _short(line: str, length: int = 80) -> str:
    line = line.strip()
    return repr(line if len(line) <= length else f"{line[:length]}…")
