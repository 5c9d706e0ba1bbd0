"""The playbook of ACE: one bullet a line, with its id and counters (ace-agent/ace, playbook_utils.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cheatsheet.memory.bullet import DEFAULT_SECTION, Bullet, section_key
from cheatsheet.memory.formats.format import Damage, Entry, Playbook, Written
from cheatsheet.memory.formats.losses import lost
from cheatsheet.memory.formats.signs import sign_of
from cheatsheet.memory.formats.text import (
    as_count,
    heading,
    heading_of,
    line_by_line,
    lines_of,
    not_a_count,
    quote,
    unique_ids,
    unquote,
    without_text,
)
from cheatsheet.memory.operations import Draft

# The sections that a playbook of ACE has from the start, in their order and spelling; its curator adds to no others.
TITLES = (
    "STRATEGIES & INSIGHTS",
    "FORMULAS & CALCULATIONS",
    "CODE SNIPPETS & TEMPLATES",
    "COMMON MISTAKES TO AVOID",
    "PROBLEM-SOLVING HEURISTICS",
    "CONTEXT CLUES & INDICATORS",
    "OTHERS",
)
SECTIONS = {section_key(title): title for title in TITLES}

_BULLET = re.compile(
    r"\s*(?:[-*+•]\s+)?\[(?P<id>[^\]\n]{1,200})\]\s*(?P<counters>(?:\w{1,20}=[^\s:=]*+(?:\s+|(?=::)))*+)::(?P<content>.*)"
)
_COUNTER = re.compile(r"(\w+)=(\S*)")
_LIST_ITEM = re.compile(r"\s*[-*+•]\s+(.*)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_CARRIED = frozenset({"ids", "sections", "counters"})


class AceFormat:
    """ACE's playbook. What a line cannot carry is written as a JSON string; see `text.quote`."""

    name = "ace"
    title = "the playbook of ACE (ace-agent/ace)"

    def recognises(self, text: str) -> bool:
        """Whether the first telling line is a bullet with both counters."""
        return sign_of(text) == self.name

    def read(self, text: str) -> Playbook:
        """Read bullets under their headings; lines without an id belong to the bullet above them."""
        reading = _Reading()
        for number, line in enumerate(lines_of(text), start=1):
            reading.line(number, line)
        reading.close()
        damages = line_by_line(reading.damages, reading.entries)
        return Playbook(format=self.name, entries=tuple(reading.entries), damages=damages)

    def write(self, bullets: Sequence[Bullet]) -> Written:
        """Write a heading wherever the section changes, and the headings that ACE's curator counts on."""
        text = "\n".join(_lines(bullets)).strip("\n") + "\n"
        further = {"metadata": lambda bullet: len(bullet.metadata) > bool(_counters_of(bullet))}
        return Written(
            text=text, lost=lost("ACE's playbook", bullets, carried=_CARRIED | {"metadata"}, further=further)
        )


@dataclass(slots=True)
class _Open:
    """The bullet that is being read."""

    id: str
    line: int
    section: str
    counters: dict[str, str]
    lines: list[str]
    told: bool = False


@dataclass(slots=True)
class _Reading:
    """The state of reading a playbook line by line."""

    entries: list[Entry] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)
    section: str = DEFAULT_SECTION
    open: _Open | None = None
    fenced: bool = False

    def line(self, number: int, line: str) -> None:
        if bullet := _BULLET.match(line):
            counters = dict(_COUNTER.findall(bullet["counters"]))
            self.begin(_Open(bullet["id"].strip(), number, self.section, counters, [bullet["content"].strip()]))
        elif (title := heading_of(line)) is not None and not self.fenced:
            self.close()
            self.section = title or DEFAULT_SECTION
        elif self.open is not None:
            self.go_on(number, line)
        elif item := _LIST_ITEM.match(line):
            self.begin(_Open("", number, self.section, {}, [item[1].strip()]))
        elif line.strip():
            self.damages.append(
                Damage(line=number, text="The line is neither a heading nor a bullet; it was left out.")
            )

    def begin(self, bullet: _Open) -> None:
        self.close()
        self.open = bullet

    def go_on(self, number: int, line: str) -> None:
        """Take a line that has no id, as those have that a model wrote into one bullet."""
        assert self.open is not None
        if _FENCE.match(line):
            self.fenced = not self.fenced
        self.open.lines.append(line.rstrip())
        if line.strip() and not self.open.told:
            self.open.told = True
            told = f"The line has no id of its own; it was read as part of {_owner(self.open)} above."
            self.damages.append(Damage(line=number, text=told))

    def close(self) -> None:
        bullet, self.open, self.fenced = self.open, None, False
        if bullet is None:
            return
        content = "\n".join(bullet.lines).strip()
        content = content if bullet.told else unquote(content)
        if not content.strip():
            self.damages.append(without_text(_owner(bullet), bullet.line))
            return
        counts = {name: self.count(bullet, name) for name in bullet.counters}
        helpful, harmful = counts.pop("helpful", 0), counts.pop("harmful", 0)
        draft = Draft(
            section=bullet.section,
            content=content,
            helpful=helpful,
            harmful=harmful,
            metadata={AceFormat.name: counts} if counts else {},
        )
        self.entries.append(Entry(draft=draft, id=bullet.id, line=bullet.line))

    def count(self, bullet: _Open, name: str) -> int:
        count = as_count(bullet.counters[name])
        if count is None:
            self.damages.append(not_a_count(name, bullet.counters[name], _owner(bullet), bullet.line))
        return count or 0


def _owner(bullet: _Open) -> str:
    return f"the bullet {bullet.id!r}" if bullet.id else "the bullet"


def _lines(bullets: Sequence[Bullet]) -> Iterator[str]:
    written: set[str] = set()
    section = None
    for id, bullet in unique_ids(bullets):
        key = section_key(bullet.section)
        if key != section:
            yield from ("", f"## {SECTIONS.get(key) or heading(key)}")
            section = key
            written.add(key)
        further = "".join(f" {name}={count}" for name, count in _counters_of(bullet).items())
        counters = f"helpful={bullet.helpful} harmful={bullet.harmful}{further}"
        yield f"[{id}] {counters} :: {quote(bullet.content)}"
    for key, title in SECTIONS.items():
        if key not in written:
            yield from ("", f"## {title}")


def _counters_of(bullet: Bullet) -> dict[str, int]:
    """Further counters that a bullet brought along from a playbook, such as `neutral`."""
    known = bullet.metadata.get(AceFormat.name)
    return known if isinstance(known, dict) and all(map(_is_counter, known.items())) else {}


def _is_counter(pair: tuple[object, object]) -> bool:
    name, count = pair
    named = isinstance(name, str) and re.fullmatch(r"(?!helpful$|harmful$)\w{1,20}", name)
    return bool(named) and type(count) is int and as_count(count) == count
