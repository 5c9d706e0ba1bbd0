"""What the compiler returns."""

from __future__ import annotations

from dataclasses import dataclass

from cheatsheet.context.budget import Budget
from cheatsheet.context.ledger import LedgerEntry
from cheatsheet.context.section import ChatTurn, Section
from cheatsheet.llm.model import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledContext:
    """What fits, in two presentations that are both within the budget: `text`, or `system` and `examples`.

    Attributes:
        text: all sections as one text, chat turns as "Question: … / Answer: …".
        system: the sections without chat turns as one text.
        examples: the chat turns, in the order shown, the most important section's first.
        tokens: what it takes: the count of `text`, or of `messages` with `TOKENS_PER_MESSAGE` for each where there
            are examples and that is more.
        ledger: one entry for every section given, most important first; `got_tokens` add up to `tokens`.
        budget: the room there was, and which cap held.
        shown: the sections as they stand in the context.
    """

    text: str
    system: str
    examples: tuple[ChatTurn, ...]
    tokens: int
    ledger: tuple[LedgerEntry, ...]
    budget: Budget
    shown: tuple[Section, ...]

    @property
    def messages(self) -> list[Message]:
        """A system message, if there is text, then a user and an assistant message for every example."""
        messages = [Message(role="system", content=self.system)] if self.system else []
        for turn in self.examples:
            messages.append(Message(role="user", content=turn.user))
            messages.append(Message(role="assistant", content=turn.assistant))
        return messages

    @property
    def shown_ids(self) -> tuple[str, ...]:
        """Ids of the items and turns that stand in the context, in the order shown."""
        return tuple(id for section in self.shown for id in part_ids(section))


def part_ids(section: Section) -> tuple[str, ...]:
    """Ids of the items or turns of a section, as far as they have one."""
    return tuple(part.id for part in section.items or section.turns if part.id)
