"""The memory's part of an agent's context: what the mode recalls, as data, or why it recalls nothing.

It stands beside the user's own words, which are instructions: nothing that was ever learnt may pose as one of these, or
as another section.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from cheatsheet.context.compiled import CompiledContext
from cheatsheet.context.fence import quoted
from cheatsheet.context.ledger import LedgerEntry
from cheatsheet.context.providers.loading import told
from cheatsheet.context.providers.provider import Note
from cheatsheet.context.section import Section
from cheatsheet.errors import CheatsheetError, SetupError

# The engine takes a second to import; where there is no memory it is not.
if TYPE_CHECKING:
    from cheatsheet.engine.engine import Engine
    from cheatsheet.engine.results import Recall
    from cheatsheet.mode import Recalled

Opener = Callable[[], "Engine | None"]
"""Gives the memory, opened at the first call; None where there is none."""

PART: Final = "memory"
_PRIORITY: Final = 7  # `context.render.MEMORY_PRIORITY`, whose import would bring the models of bullets with it

# The modes that show the same whatever is asked; the others need a question, and some of them a model for it.
_WITHOUT_QUESTION: Final = ("cumulative", "full-history")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPart:
    """What a memory brings to a context.

    Attributes:
        engine: the memory; None where there is none, or where it was not asked.
        seconds: that recalling took.
    """

    query: str
    engine: Engine | None = None
    recalled: Recalled | None = None
    version: int = 0
    seconds: float = 0.0
    left_out: tuple[LedgerEntry, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def sections(self) -> tuple[Section, ...]:
        """What wants to be in the context."""
        return tuple(map(as_data, self.recalled.sections)) if self.recalled else ()

    def recall(self, context: CompiledContext) -> Recall | None:
        """What of it fitted into the context, so that the turn can be learnt; the engine's listeners are told."""
        if self.engine is None or self.recalled is None:
            return None
        from cheatsheet.engine.lived import as_query, recall_of
        from cheatsheet.events import RecallEvent

        mode = self.engine.mode.name
        recall = recall_of(as_query(self.query), self.recalled, context, mode, self.version, self.seconds)
        names = {section.name for section in self.sections}
        self.engine.events.emit(
            RecallEvent(
                namespace=self.engine.namespace,
                mode=mode,
                tokens=sum(entry.got_tokens for entry in context.ledger if entry.section in names),
                shown=len(recall.bullets) + len(recall.experiences),
                seconds=self.seconds,
            )
        )
        return recall


def as_data(section: Section) -> Section:
    """What a mode recalls is data, whatever the mode says of it; a text as a whole is quoted, line by line."""
    is_text = not section.items and not section.turns and bool(section.text.strip())
    return replace(section, data=True, text=quoted(section.text) if is_text else section.text)


def nothing_to_open() -> None:
    """The opener of those who have no memory."""


def recall_part(query: str, mode: str, open_engine: Opener) -> MemoryPart:
    """What the memory recalls for a question.

    Args:
        query: may be empty; then a memory that answers questions only is not even opened.
        mode: by its own name.

    Raises:
        SetupError: the memory cannot be opened with these settings; any other trouble is told, and the part left out.
    """
    if not query.strip() and mode not in _WITHOUT_QUESTION:
        return _none(query, f"Nothing is asked, and the mode {mode!r} recalls by the question.")
    try:
        engine = open_engine()
        return _none(query, "There is no memory yet.") if engine is None else _recalled(query, engine)
    except SetupError:
        raise
    except CheatsheetError as error:
        return _none(query, "The memory cannot be used.", problem=str(error))


def _recalled(query: str, engine: Engine) -> MemoryPart:
    from cheatsheet.engine.lived import as_query

    started, version = time.perf_counter(), engine.memory.version
    recalled = engine.mode.recall(as_query(query.strip()), engine.memory)
    if recalled.operations:
        engine.apply(recalled.operations, cause="recall", seen=version)
    return MemoryPart(
        query=query.strip(),
        engine=engine,
        recalled=recalled,
        version=version,
        seconds=time.perf_counter() - started,
        notes=told("info", PART, *recalled.notes),
    )


def _none(query: str, why: str, *, problem: str = "") -> MemoryPart:
    entry = LedgerEntry(section=PART, priority=_PRIORITY, wanted_tokens=0, got_tokens=0, action="left-out", reason=why)
    notes = told("left-out", PART, f"What is remembered is left out. {problem}") if problem else ()
    return MemoryPart(query=query, left_out=(entry,), notes=notes)
