"""ReasoningBank's memory items: a title, a description and a content each (google-research/reasoning-bank)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.formats.format import Damage, Entry, Playbook, Written
from cheatsheet.memory.formats.losses import lost
from cheatsheet.memory.formats.signs import sign_of
from cheatsheet.memory.formats.text import lines_of, quote, unquote, without_text
from cheatsheet.memory.operations import Draft

# What begins a part, and the tags by which the cheatsheets of Dynamic Cheatsheet are known.
_LABEL = r"(?:#{1,6}[ \t]*(?:memory[ \t]+item|title|description|content)\b|<(?:memory_item|cheatsheet)>)"
_ITEM = re.compile(r" {0,3}#{1,6}[ \t]*memory[ \t]+item\b[ \t]*(.*)", re.IGNORECASE)
_PART = re.compile(r" {0,3}#{1,6}[ \t]*(title|description|content)\b\s*:?\s*(.*)", re.IGNORECASE)
_PLAIN = re.compile(rf"( {{0,3}})(\\*{_LABEL})", re.IGNORECASE)
_ESCAPED = re.compile(rf"( {{0,3}})\\(\\*{_LABEL})", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_TITLE_CHARS = 60


class ReasoningBankFormat:
    """ReasoningBank's Markdown. The content is the bullet; title and description are kept beside it.

    A line of a content that looks like one of the labels begins with a backslash, as Markdown has it.
    """

    name = "reasoning-bank"
    title = "memory items of ReasoningBank (google-research/reasoning-bank)"

    def recognises(self, text: str) -> bool:
        """Whether the first telling line is the heading of a memory item."""
        return sign_of(text) == self.name

    def read(self, text: str) -> Playbook:
        """Read items; an item without a content has its description, or its title, for one."""
        reading = _Reading()
        for number, line in enumerate(lines_of(text), start=1):
            reading.line(number, line)
        reading.close()
        return Playbook(format=self.name, entries=tuple(reading.entries), damages=tuple(reading.damages))

    def write(self, bullets: Sequence[Bullet]) -> Written:
        """Write items; a title and a description that nobody wrote are made of the content's first words."""
        items = (_item(number, bullet) for number, bullet in enumerate(bullets, start=1))
        further = {"metadata": lambda bullet: bullet.metadata != _carried(bullet)}
        told = lost("ReasoningBank's Markdown", bullets, carried={"metadata"}, further=further)
        return Written(text="\n".join(items), lost=told)


@dataclass(slots=True)
class _Reading:
    """The state of reading items line by line.

    Attributes:
        at: the line in which the open item begins; 0 where none is open.
        parts: the lines under each label of the open item.
        fenced: whether the items stand in a fence, as in replies of models, whose end is no content.
    """

    entries: list[Entry] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)
    at: int = 0
    parts: dict[str, list[str]] = field(default_factory=dict)
    label: str = ""
    fenced: bool = False
    told: bool = False

    def line(self, number: int, line: str) -> None:
        if item := _ITEM.match(line):
            self.close()
            self.at = number
            del item
        elif self.at and (part := _PART.match(line)):
            self.label = part[1].lower()
            self.parts.setdefault(self.label, []).append(part[2])
        elif self.at and self.label:
            self.parts[self.label].append(_ESCAPED.sub(r"\1\2", line, count=1) if _ESCAPED.match(line) else line)
        elif line.strip():
            self.outside(number, line)

    def outside(self, number: int, line: str) -> None:
        """Take a line before the first label: the thoughts of a model, or a fence around the items."""
        if _FENCE.match(line):
            self.fenced = not self.fenced
        elif not self.told:
            self.told = True
            told = "The text before the first label belongs to no memory item; it was left out."
            self.damages.append(Damage(line=number, text=told))

    def close(self) -> None:
        """Make an entry of the open item."""
        texts = {label: self.text(lines) for label, lines in self.parts.items()}
        at, self.at, self.parts, self.label = self.at, 0, {}, ""
        if not at:
            return
        content = unquote(texts.get("content", ""), multiline=True)
        if not content.strip():
            content = texts.get("description") or texts.get("title") or ""
            told = "has no content; its description or title was read instead." if content else ""
            missing = Damage(line=at, text=f"The memory item {told}") if told else without_text("the memory item", at)
            self.damages.append(missing)
        if not content.strip():
            return
        said = {label: " ".join(texts.get(label, "").split()) for label in ("title", "description")}
        made = _made_of(content)
        known = {label: text for label, text in said.items() if text and text != made[label]}
        metadata = {ReasoningBankFormat.name: known} if known else {}
        self.entries.append(Entry(draft=Draft(content=content, metadata=metadata), line=at))

    def text(self, lines: list[str]) -> str:
        text = "\n".join(lines).strip()
        if self.fenced and re.search(r"(?:^|\n)[ \t]*(?:```|~~~)$", text):
            return text[:-3].rstrip()
        return text


def _item(number: int, bullet: Bullet) -> str:
    said = _made_of(bullet.content) | _carried(bullet).get(ReasoningBankFormat.name, {})
    first, *further = quote(bullet.content, multiline=True).split("\n")
    lines = (
        f"# Memory Item {number}",
        f"## Title {said['title']}",
        f"## Description {said['description']}",
        f"## Content {first}",
        *map(_escaped, further),
    )
    return "\n".join(lines) + "\n"


def _escaped(line: str) -> str:
    return _PLAIN.sub(r"\1\\\2", line, count=1) if _PLAIN.match(line) else line


def _made_of(content: str) -> dict[str, str]:
    """A title and a description out of the first words of a content."""
    words = " ".join(content.split()).lstrip(":# ") or "-"
    sentence = re.match(r".*?[.!?。](?=\s|$)", words)
    title = (
        words if len(words) <= _TITLE_CHARS else f"{words[:_TITLE_CHARS].rpartition(' ')[0] or words[:_TITLE_CHARS]}…"
    )
    return {"title": title, "description": sentence[0] if sentence else words[: 3 * _TITLE_CHARS]}


def _carried(bullet: Bullet) -> dict[str, dict[str, str]]:
    """What of a bullet's metadata is written, and read back as it is."""
    known = bullet.metadata.get(ReasoningBankFormat.name)
    made = _made_of(bullet.content)
    said = dict(_said(known, made)) if isinstance(known, dict) else {}
    return {ReasoningBankFormat.name: said} if said else {}


def _said(known: dict[str, object], made: dict[str, str]) -> Iterator[tuple[str, str]]:
    for label, text in made.items():
        said = known.get(label)
        if isinstance(said, str) and said and said == " ".join(said.split()) and said[0] != ":" and said != text:
            yield label, said
