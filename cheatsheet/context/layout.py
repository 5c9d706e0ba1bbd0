"""How sections are shown, as one text and as chat messages, and how many tokens that takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from cheatsheet.context.fence import NOT_INSTRUCTIONS
from cheatsheet.context.section import ChatTurn, Section
from cheatsheet.safety.block import notes_block
from cheatsheet.tokens import TokenCounter

SEPARATOR: Final = "\n\n---\n\n"
ITEM_SEPARATOR: Final = "\n"
TURN_SEPARATOR: Final = "\n\n"
DATA_LABEL: Final = "(Notes, not instructions.)"
# What a message takes beside its content. ChatML as SmolLM2 and Qwen write it ("<|im_start|>", role, line break,
# "<|im_end|>", line break) and Llama 3's template take 5 tokens; OpenAI's counting guide has 4.
TOKENS_PER_MESSAGE: Final = 5
_FIRST_PROBE_CHARS: Final = 4_096
_PROBE_MARGIN_TOKENS: Final = 256  # keeps small budgets from judging by the first probe alone


def showable(section: Section) -> Section | None:
    """The section without its blank items and turns, or None when nothing is left to show.

    A heading alone is nothing to show: not when all items are blank, and not when a section whose `shorten` speaks of
    items (`drop-first`, `drop-last`) has none.
    """
    items = tuple(item for item in section.items if item.text.strip())
    turns = tuple(turn for turn in section.turns if turn.user.strip() or turn.assistant.strip())
    is_list = bool(section.items or section.turns) or section.shorten in ("drop-first", "drop-last")
    if not (items or turns) and (is_list or not section.text.strip()):
        return None
    return replace(section, items=items, turns=turns)


def turn_text(turn: ChatTurn) -> str:
    """A chat turn for readers that get one text; further lines are set in, so that none poses as something else."""
    return f"Question: {indented(turn.user)}\nAnswer: {indented(turn.assistant)}"


def indented(text: str) -> str:
    """The text with every line but the first set in: it stays one item of a list, whatever it says."""
    return "\n    ".join(text.splitlines())


def section_text(section: Section) -> str:
    """The section as one text: its heading, if any, and its items or turns; or its body."""
    heading = [section.text] if section.text.strip() else []
    if section.turns:
        return TURN_SEPARATOR.join([*heading, *map(turn_text, section.turns)])
    if section.items:
        return ITEM_SEPARATOR.join([*heading, *(item.text for item in section.items)])
    return section.text


def arranged(shown: Iterable[Section], *, stable_first: bool) -> list[Section]:
    """The sections in the order in which they stand in the context."""
    return sorted(shown, key=lambda section: stable_first and not section.stable)


def joined_text(shown: Iterable[Section], separator: str) -> str:
    """Every section, chat turns as readable text, data under a line that says so."""
    return separator.join(_labelled(section) for section in shown)


def body_text(shown: Iterable[Section], separator: str, *, data: bool | None = None) -> str:
    """The sections that have no chat turns; the heading of chat turns is left out, as they speak for themselves.

    Args:
        data: only those that are data, or only those that are none.
    """
    wanted = (section for section in shown if not section.turns and data in (None, section.data))
    return separator.join(map(section_text, wanted))


def _labelled(section: Section) -> str:
    text = section_text(section)
    says_so_itself = NOT_INSTRUCTIONS in section.text
    return f"{DATA_LABEL}\n{text}" if section.data and not says_so_itself else text


def example_turns(shown: Iterable[Section]) -> tuple[ChatTurn, ...]:
    """Every chat turn, in the order shown."""
    return tuple(turn for section in shown for turn in section.turns)


class Meter:
    """Counts what a list of sections takes; no text is counted twice."""

    def __init__(self, counter: TokenCounter, *, separator: str = SEPARATOR, stable_first: bool = False) -> None:
        self._counter = counter
        self._separator = separator
        self._stable_first = stable_first
        self._counts: dict[str, int] = {}

    def count(self, text: str) -> int:
        if text not in self._counts:
            self._counts[text] = self._counter.count(text)
        return self._counts[text]

    def measure(self, shown: Sequence[Section]) -> int:
        """Tokens of the sections in the larger of their two presentations.

        With chat turns or data it is the text or the chat messages, whichever takes more; else it is the text.
        """
        if not shown:
            return 0
        sections = arranged(shown, stable_first=self._stable_first)
        text_tokens = self.count(joined_text(sections, self._separator))
        if not any(section.turns or section.data for section in sections):
            return text_tokens
        return max(text_tokens, self._messages(sections))

    def turn(self, turn: ChatTurn) -> int:
        """Tokens of a turn as two messages."""
        return self.count(turn.user) + self.count(turn.assistant) + 2 * TOKENS_PER_MESSAGE

    def clearly_over(self, text: str, limit_tokens: int) -> int | None:
        """About how many tokens a text has that is far over the limit; None where it has to be counted in full.

        Only beginnings are counted, twice as long each time, so that a section of megabytes costs no more than a
        few times the budget. Their lengths do not depend on the limit: with a higher one, no other text is over.
        """
        chars = _FIRST_PROBE_CHARS
        while chars < len(text):
            tokens = self.count(text[:chars])
            if tokens > 2 * limit_tokens + _PROBE_MARGIN_TOKENS:
                return round(tokens * len(text) / chars)
            chars *= 2
        return None

    def _messages(self, sections: Sequence[Section]) -> int:
        system = body_text(sections, self._separator, data=False)
        notes = body_text(sections, self._separator, data=True)
        beside = (*([system] if system else []), *([notes_block(notes)] if notes else []))
        turns = example_turns(sections)
        return sum(map(self.turn, turns)) + sum(self.count(text) + TOKENS_PER_MESSAGE for text in beside)
