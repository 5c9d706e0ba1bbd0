"""Counters and sections that the laws of the compiler are tried on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from cheatsheet.context.section import ChatTurn, Item, Section, Shorten
from cheatsheet.tokens import CharCounter, TiktokenCounter, TokenCounter


@dataclass(frozen=True)
class FunctionCounter:
    """A counter made of a function."""

    name: str
    function: Callable[[str], int]

    def count(self, text: str) -> int:
        return self.function(text)


# The last two break what one might expect of a counter: the sum of the parts, and that more text is more tokens.
COUNTERS: tuple[TokenCounter, ...] = (
    CharCounter(1),
    CharCounter(4),
    TiktokenCounter("cl100k_base"),
    FunctionCounter("words", lambda text: len(text.split())),
    FunctionCounter("three a character", lambda text: 3 * len(text)),
    FunctionCounter("sevenths and spaces", lambda text: -(-len(text) // 7) + text.count(" ")),
    FunctionCounter("square", lambda text: len(text) ** 2 // 50),
    FunctionCounter("remainder", lambda text: len(text) % 13),
)

counters = st.sampled_from(COUNTERS)

_FRAGMENTS = (
    "Route a double charge to the amber team. ",
    "設定を保存する前に必ず確認してください。",
    "👨‍👩‍👧‍👦",
    "🇩🇪🇫🇷",
    "e\u0301",
    "\n",
    "\r\n",
    "   ",
    "```py\nx = 1\n```\n",
    "~~~~\ncode\n",
    "```",
    "\x00",
    "\ud83d\ude00",
    "\udfff",
    "<|endoftext|>",
    "x" * 60,
)
texts = st.lists(st.sampled_from(_FRAGMENTS) | st.text(max_size=8), max_size=6).map("".join)
_shorten: st.SearchStrategy[Shorten] = st.sampled_from(["cut", "drop-first", "drop-last", "never"])


@st.composite
def sections(draw: st.DrawFn, *, turns: bool = True) -> tuple[Section, ...]:
    """Up to six sections of every kind, with names and item ids of their own."""
    return tuple(
        _section(draw, f"s{number}", turns=turns) for number in range(draw(st.integers(0, 6), label="sections"))
    )


def _section(draw: st.DrawFn, name: str, *, turns: bool) -> Section:
    kind = draw(st.sampled_from(["text", "items", "turns"] if turns else ["text", "items"]))
    parts = [] if kind == "text" else draw(st.lists(texts, max_size=5))
    return Section(
        name=name,
        priority=draw(st.integers(0, 3)),
        text=draw(texts),
        items=tuple(Item(text=text, id=f"{name}-{n}") for n, text in enumerate(parts)) if kind == "items" else (),
        turns=tuple(ChatTurn(user=text, assistant=text[::-1], id=f"{name}-{n}") for n, text in enumerate(parts))
        if kind == "turns"
        else (),
        shorten=draw(_shorten),
        stable=draw(st.booleans()),
        data=draw(st.booleans()),
    )
