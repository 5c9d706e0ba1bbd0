"""The cheatsheet of Dynamic Cheatsheet (suzgunmirac/dynamic-cheatsheet): memory items in tags, under headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cheatsheet.memory.bullet import DEFAULT_SECTION, Bullet, section_key, section_title
from cheatsheet.memory.formats.dc_reader import Reader
from cheatsheet.memory.formats.dc_text import (
    EXAMPLE,
    VERSION,
    escaped,
    heading,
    is_clean,
    is_source,
)
from cheatsheet.memory.formats.format import Playbook, Written
from cheatsheet.memory.formats.losses import lost
from cheatsheet.memory.formats.text import MAX_COUNT
from cheatsheet.memory.gate.stand_ins import stand_ins

_ITEM = re.compile(r"^<memory_item>[ \t]*\r?\n<description>", re.MULTILINE)


class DynamicCheatsheetFormat:
    """Reads what models made of the format, and writes it as it was meant.

    - An item is one bullet: its description, and its example behind a line `Example:`.
    - A heading of whatever shape is the section of the items under it.
    - `(Reference: Q1, Q2)` names the bullet's sources. It is no advice, and grows from one version to the next.
    - `** Count: N` says how often the item was used to solve a problem, the first time included: `helpful` is N - 1.
    - Words outside the items are entries of their own, and named. Lines that only stand in the place of items are named
      and left out; so are earlier questions with their answers, where a run kept those in place of a cheatsheet.
    """

    name = "dc"
    title = "cheatsheet of Dynamic Cheatsheet (suzgunmirac/dynamic-cheatsheet)"

    def recognises(self, text: str) -> bool:
        first = next((line.strip() for line in text.lstrip("\ufeff").split("\n") if line.strip()), "")
        if first.casefold() in ("<cheatsheet>", "(empty)"):
            return True
        begins = VERSION.fullmatch(first) or first == "<memory_item>" or heading(first) or stand_ins(first)
        return bool(begins) and _ITEM.search(text) is not None

    def read(self, text: str) -> Playbook:
        of_windows = text.count("\r\n") == text.count("\n")
        reader = Reader(text.replace("\r\n", "\n") if of_windows else text)
        reader.read()
        damages = sorted(reader.damages, key=lambda damage: damage.line)
        return Playbook(format=self.name, entries=tuple(reader.entries), damages=tuple(damages))

    def write(self, bullets: Sequence[Bullet]) -> Written:
        blocks: list[str] = []
        section: str | None = None
        for bullet in bullets:
            if bullet.section != section:
                section = bullet.section
                blocks.append(f"## {_title(section) or section_title(DEFAULT_SECTION)}")
            blocks.append(_item(bullet))
        text = "\n\n".join(["<cheatsheet>", *(blocks or ["(empty)"]), "</cheatsheet>"])
        return Written(text=f"{text}\n", lost=(*_lost(bullets), *_lost_in_general(bullets)))


def parts(content: str) -> tuple[str, str]:
    """Description and example of a bullet's content; all of it is description where it has no example."""
    description, mark, example = content.partition(EXAMPLE)
    return (description, example) if mark and is_clean(description) and is_clean(example) else (content, "")


def joined(description: str, example: str) -> str:
    """The content of a bullet from its parts, each of which may be blank."""
    return EXAMPLE.join(part for part in (description, example) if part.strip())


def _item(bullet: Bullet) -> str:
    description, example = parts(bullet.content)
    named = [source for source in bullet.sources if is_source(source)]
    reference = f" (Reference: {', '.join(named)})" if named else ""
    lines = ["<memory_item>", "<description>", f"{escaped(description)}{reference}", "</description>"]
    if example:
        lines += ["<example>", escaped(example), "</example>"]
    return "\n".join([*lines, "</memory_item>", f"** Count: {min(bullet.helpful, MAX_COUNT) + 1}"])


def _title(section: str) -> str | None:
    """The heading from which the section is read back; None when there is none."""
    for title in (section_title(section), section):
        read = heading(f"## {title}")
        if "\n" not in title and read is not None and section_key(read) == section:
            return title
    return None


def _lost(bullets: Sequence[Bullet]) -> Iterator[str]:
    kinds = {
        "white space around a bullet's words": [not is_clean(bullet.content) for bullet in bullets],
        "sections that are not in their usual form": [_title(bullet.section) is None for bullet in bullets],
        "sources with spaces, commas or brackets": [not _all_named(bullet.sources) for bullet in bullets],
        "harmful votes": [bullet.harmful > 0 for bullet in bullets],
        f"more than {MAX_COUNT:,} helpful votes": [bullet.helpful > MAX_COUNT for bullet in bullets],
    }
    for kind, where in kinds.items():
        if any(where):
            yield f"Dynamic Cheatsheet holds no {kind}: {sum(where)} of {len(where)} bullets had some."


def _lost_in_general(bullets: Sequence[Bullet]) -> tuple[str, ...]:
    return lost("Dynamic Cheatsheet", bullets, carried={"sections", "counters", "sources"})


def _all_named(sources: Sequence[str]) -> bool:
    return all(map(is_source, sources)) and len(set(sources)) == len(sources)
