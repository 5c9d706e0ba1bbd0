"""Where every item of a replayed run is now: counted from the authors' text and from our journal alone.

This is the other side of `benchmarks.collapse`: it uses neither the reader, nor the matching, nor the guard whose work
it judges, so that a lost item shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.gate.stand_ins import own_words, stand_ins
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.likeness.sameness import fold
from cheatsheet.memory.operations import Add, Merge, Operation, Update

Fate = Literal["active", "archived", "merged", "lost"]

MIN_HELD = 0.5
"""Share of an item's words that its survivor must hold; below it, the item is lost whatever the journal says."""

_PART = r"<{0}>(.*?)(?:</{0}>|<example>|</memory_item>|$)"
_DESCRIPTION, _EXAMPLE = (re.compile(_PART.format(name), re.DOTALL) for name in ("description", "example"))
_REFERENCE = re.compile(r"\(references?:[^()]*\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the authors' cheatsheets.

    Attributes:
        key: its description and example without differences of case and white space, without references and count.
        lines: the same of each of its lines; of an item in which words stand in the place of others, without those.
        whole: false for such an item.
    """

    key: str
    lines: frozenset[str]
    whole: bool


@dataclass(slots=True)
class Wording:
    """Words that our memory once had, and what it did with them.

    Attributes:
        bullet: id of the bullet that had them, or into which they were merged.
        lines: folded lines.
        steps: `step: operation bullet` for the operation that brought them and for each later one on that bullet.
    """

    bullet: str
    lines: frozenset[str]
    steps: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Found:
    """Where an item is now.

    Attributes:
        bullet: where it stands, or what it lives on in; empty when it is lost.
        held: share of its words that the bullet holds.
        steps: how it came there, where it does not stand there in its own words.
    """

    item: Item
    fate: Fate
    bullet: str = ""
    held: float = 1.0
    steps: tuple[str, ...] = ()


def items_of(text: str) -> Iterator[Item]:
    """The items of a cheatsheet, cut at their tags; those that only stand in the place of others are none."""
    for piece in text.split("<memory_item>")[1:]:
        description, example = (found[1] if (found := part.search(piece)) else "" for part in (_DESCRIPTION, _EXAMPLE))
        words = "\n".join([_REFERENCE.sub("", description), *(["Example:", example] if example.strip() else [])])
        rest = own_words(words)
        if rest is None and words.strip():
            yield Item(key=fold(words), lines=_lines(words), whole=True)
        elif rest:
            yield Item(key=fold(rest), lines=_lines(rest), whole=False)


def account(items: Iterable[Item], bullets: Sequence[Bullet], journal: Sequence[JournalEntry]) -> list[Found]:
    """Where each item is: in its own words in a bullet, or in the bullet that it was merged or reworded into."""
    by_id = {bullet.id: bullet for bullet in bullets}
    present = {fold(bullet.content): bullet for bullet in bullets if bullet.status == "archived"}
    present |= {fold(bullet.content): bullet for bullet in bullets if bullet.status == "active"}
    known = _wordings(journal)
    return [_find(item, present, known, by_id) for item in items]


def _find(
    item: Item, present: Mapping[str, Bullet], known: Mapping[str, Wording], by_id: Mapping[str, Bullet]
) -> Found:
    bullet = present.get(item.key) or (None if item.whole else _holding(item, present))
    if bullet is not None:
        return Found(item, "active" if bullet.status == "active" else "archived", bullet.id)
    wording = known.get(item.key) or (None if item.whole else _once_holding(item, known))
    survivor = _survivor(wording.bullet, by_id) if wording else None
    if wording is None or survivor is None:
        return Found(item, "lost", held=0.0)
    held = _share(item.key, survivor.content)
    return Found(item, "merged" if held >= MIN_HELD else "lost", survivor.id, held, tuple(wording.steps))


def _share(words: str, of: str) -> float:
    """The share of the first text's words, counted with repetitions, that the second one has."""
    wanted, there = (Counter(re.findall(r"\w+", text.casefold())) for text in (words, of))
    return (wanted & there).total() / max(1, wanted.total())


def _holding(item: Item, present: Mapping[str, Bullet]) -> Bullet | None:
    return next((bullet for bullet in present.values() if item.lines <= _lines(bullet.content)), None)


def _once_holding(item: Item, known: Mapping[str, Wording]) -> Wording | None:
    return next((wording for wording in known.values() if item.lines <= wording.lines), None)


def _survivor(id: str, by_id: Mapping[str, Bullet]) -> Bullet | None:
    """The bullet in which the one with this id lives on; None where the trail ends."""
    seen: set[str] = set()
    while id in by_id and id not in seen:
        seen.add(id)
        bullet = by_id[id]
        if bullet.status != "merged":
            return bullet
        id = str(bullet.metadata.get("merged_into", ""))
    return None


def _wordings(journal: Iterable[JournalEntry]) -> dict[str, Wording]:
    """Every wording that the journal names, by its folded words."""
    known: dict[str, Wording] = {}
    of_bullet: dict[str, list[Wording]] = {}
    for entry in journal:
        for operation in entry.operations:
            step = f"{entry.turn_id}: {operation.type}"
            for id in _touched(operation):
                for wording in of_bullet.get(id, []):
                    wording.steps.append(f"{step} {id}")
            for id, words in _brought(operation):
                wording = Wording(bullet=id, lines=_lines(words), steps=[f"{step} {id}"])
                known[fold(words)] = wording
                of_bullet.setdefault(id, []).append(wording)
    return known


def _touched(operation: Operation) -> tuple[str, ...]:
    """Bullets whose earlier words the operation replaces or moves."""
    if isinstance(operation, Update) and operation.content is not None:
        return (operation.id,)
    if isinstance(operation, Merge):
        return (*operation.absorbed, *([operation.into] if operation.content is not None else []))
    return ()


def _brought(operation: Operation) -> Iterator[tuple[str, str]]:
    """Words that the operation brings, with the bullet that has them or takes them in."""
    if isinstance(operation, Add):
        yield operation.id, operation.draft.content
    elif isinstance(operation, Update) and operation.content is not None:
        yield operation.id, operation.content
    elif isinstance(operation, Merge):
        if operation.draft is not None:
            yield operation.into, operation.draft.content
        if operation.content is not None:
            yield operation.into, operation.content


def _lines(text: str) -> frozenset[str]:
    lines = (fold(line) for line in text.split("\n") if not stand_ins(line))
    return frozenset(line for line in lines if line)
