"""Sections: what wants to be in the context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Shorten = Literal["cut", "drop-first", "drop-last", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line or paragraph of a section that is shown whole or not at all, such as one bullet."""

    text: str
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One example, shown to a chat model as a user message and an assistant message."""

    user: str
    assistant: str
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Something that wants to be in the context.

    Attributes:
        name: unique within one compilation; stands in the ledger.
        priority: higher is placed and kept first.
        text: the body, or the heading that stands before `items` or `turns` (and is left out with them). In chat
            messages the heading of `turns` is not shown.
        items: parts that are kept or dropped whole, one below the other in the order given; blank ones are ignored.
        ids: of bullets that stand in the text itself, each as `[id]`.
        turns: examples as chat turns, in the order in which they are shown; a section has items or turns, not both.
        shorten: what may be done when the section does not fit. `cut` shortens the text at its end, or drops items
            or turns like `drop-last`; `drop-first` and `drop-last` leave out items or turns from that end on, so that
            the most important stand at the other end; `never` keeps the section whole or leaves it out. A section of
            `drop-first` or `drop-last` without items and turns is empty: its heading is not shown alone.
        stable: true when it seldom changes from turn to turn, so that it can stand where a provider's prompt
            cache reaches (`order="cache"` of the compiler).
        data: true for what was learnt: it is shown as notes and not as instructions, to a chat model in the user part.
    """

    name: str
    priority: int
    text: str = ""
    items: tuple[Item, ...] = ()
    ids: tuple[str, ...] = ()
    turns: tuple[ChatTurn, ...] = ()
    shorten: Shorten = "cut"
    stable: bool = False
    data: bool = False

    def __post_init__(self) -> None:
        if self.items and self.turns:
            raise ValueError(f"Section {self.name!r} has items and turns; put one of them into a section of its own.")
