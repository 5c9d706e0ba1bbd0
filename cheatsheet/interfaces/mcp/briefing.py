"""The context of `get_context`: all that an agent starts from, with what the memory recalls for its question."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from cheatsheet.interfaces.adaptive import AdaptiveContext, current_folder
from cheatsheet.interfaces.mcp.desk import Briefing
from cheatsheet.settings import Settings

if TYPE_CHECKING:
    from cheatsheet.engine.engine import Engine


class AdaptiveBriefing:
    """Briefs an agent from the home, the workspace, the part of the day and the memory (`ContextFor`).

    Everything is made when it is first asked, and its caches last as long as the server.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._context: AdaptiveContext | None = None
        self._lock = threading.Lock()

    def __call__(self, engine: Engine, query: str, minimal: bool) -> Briefing:
        told = self._made(engine).context_for(query, minimal=minimal)
        return Briefing(text=told.context.text, recall=told.recall, notes=told.warnings)

    def after_turn(self, engine: Engine, question: str, answer: str, outcome: str) -> tuple[str, ...]:
        """Write the turn into today's log, where there is a home; returns what went wrong (`AfterTurn`)."""
        if not self._settings.home_folder.is_dir():
            return ()
        notes = self._made(engine).after_turn(question, answer=answer, outcome=outcome, by="mcp")
        return tuple(note.text for note in notes)

    def _made(self, engine: Engine) -> AdaptiveContext:
        with self._lock:
            if self._context is None:
                self._context = AdaptiveContext(self._settings, lambda: engine, workspace=current_folder())
            return self._context
