"""What a format of playbooks is: reading, writing, and telling what was lost or damaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.operations import Draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One piece of advice as a file has it.

    Attributes:
        draft: all of it that a bullet can hold; counters as the file states them.
        id: its id in the file; empty where it has none. It is never the id of a bullet of ours.
        line: where it begins, from 1; 0 where the format has no lines.
    """

    draft: Draft
    id: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A place in a file that could not be read as it was meant; the rest was read.

    Attributes:
        line: from 1; 0 for the whole file.
        text: one sentence: what was wrong, and what was done about it.
    """

    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """What a file holds, and what of it is damaged."""

    format: str
    entries: tuple[Entry, ...] = ()
    damages: tuple[Damage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file's text, and one sentence for each kind of thing that the format cannot carry."""

    text: str
    lost: tuple[str, ...] = ()


class Format(Protocol):
    """One format.

    F1  `read` never raises on any text: what is damaged is named, the rest is read.
    F2  `read(write(bullets).text)` gives the bullets back, but for what `lost` names; in the same order.
    F3  No content can forge a header, an id, a counter or a second entry.
    F4  `recognises` is true for what `write` makes of at least one bullet, and for no other format's.
    """

    @property
    def name(self) -> str:
        """Its name on the command line, such as `ace`."""
        ...

    @property
    def title(self) -> str:
        """What it is, in a few words, with the project that it comes from."""
        ...

    def recognises(self, text: str) -> bool:
        """Whether the text is of this format, judged by its content alone."""
        ...

    def read(self, text: str) -> Playbook: ...

    def write(self, bullets: Sequence[Bullet]) -> Written: ...
