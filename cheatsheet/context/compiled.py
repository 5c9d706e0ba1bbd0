"""What the compiler returns."""

from __future__ import annotations

from dataclasses import dataclass

from cheatsheet.context.budget import Budget
from cheatsheet.context.ledger import LedgerEntry
from cheatsheet.context.section import ChatTurn, Section
from cheatsheet.llm.model import Message
from cheatsheet.safety.block import noted, notes_block


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledContext:
    """What fits, in two presentations that are both within the budget: `text`, and `messages`.

    Attributes:
        text: all sections as one text, chat turns as "Question: … / Answer: …", what was learnt under a line that says
            that it is no instruction.
        body: the sections without chat turns as one text, for a generator that makes its own prompt.
        system: of these, those that are no data: what a chat model is told.
        notes: of these, those that are data: what was learnt.
        examples: the chat turns, in the order shown, the most important section's first.
        tokens: what it takes: the count of `text`, or of `messages` with `TOKENS_PER_MESSAGE` for each where there
            are examples or notes and that is more.
        ledger: one entry for every section given, most important first; `got_tokens` add up to `tokens`.
        budget: the room there was, and which cap held.
        shown: the sections as they stand in the context.
    """

    text: str
    body: str
    system: str
    notes: str
    examples: tuple[ChatTurn, ...]
    tokens: int
    ledger: tuple[LedgerEntry, ...]
    budget: Budget
    shown: tuple[Section, ...]

    @property
    def messages(self) -> list[Message]:
        """A system message, if there is one, a user and an assistant message for every example, and the notes.

        The notes stand in a block that says what they are, in a user message: behind the examples, which change less
        often where they are the whole past, and at the question that they were found for.
        """
        return self._led_by([Message(role="user", content=notes_block(self.notes))] if self.notes else [])

    def messages_for(self, question: str) -> list[Message]:
        """As `messages`, with the question behind the notes in one message."""
        return self._led_by([Message(role="user", content=noted(self.notes, question))])

    def _led_by(self, last: list[Message]) -> list[Message]:
        messages = [Message(role="system", content=self.system)] if self.system else []
        for turn in self.examples:
            messages.append(Message(role="user", content=turn.user))
            messages.append(Message(role="assistant", content=turn.assistant))
        return [*messages, *last]

    @property
    def shown_ids(self) -> tuple[str, ...]:
        """Ids of what stands in the context, in the order shown."""
        return tuple(id for section in self.shown for id in part_ids(section))


def part_ids(section: Section) -> tuple[str, ...]:
    """Ids of the items or turns of a section, as far as they have one, or else those that stand in its text."""
    named = tuple(id for id in section.ids if f"[{id}]" in section.text)
    return tuple(part.id for part in section.items or section.turns if part.id) or named
