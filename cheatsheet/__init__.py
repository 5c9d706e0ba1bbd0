"""Cheatsheet: a memory for LLM agents that makes them better at test time without touching the weights.

`open` a memory, ask it `recall(query)` before answering, tell it `learn(...)` after. Every public name is loaded when
it is first used, so that importing this package costs milliseconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cheatsheet.context.compiler import CompiledContext, compile_context
    from cheatsheet.context.section import ChatTurn, Item, Section
    from cheatsheet.engine.engine import Engine
    from cheatsheet.engine.lived import Answered
    from cheatsheet.engine.outside import Outside
    from cheatsheet.engine.results import Lesson, Recall, Turn
    from cheatsheet.errors import CheatsheetError
    from cheatsheet.interfaces.agents import BackgroundLearner, CheatsheetLogger, remembers
    from cheatsheet.interfaces.wiring import open_memory as open  # noqa: A004 - a door like sqlite3.connect
    from cheatsheet.llm.recorded import RecordedModel
    from cheatsheet.llm.scripted import ScriptedModel
    from cheatsheet.memory.bullet import Bullet
    from cheatsheet.memory.experience import Experience, Feedback, Query
    from cheatsheet.memory.incoming.compress import compress
    from cheatsheet.memory.incoming.hooks import Refusal, expires, mentions, note_on, refuse
    from cheatsheet.memory.incoming.kinds import draft_of, register_kind, update_of
    from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Tag, Update
    from cheatsheet.mode import MemoryMode
    from cheatsheet.settings import Settings, load_settings

__version__ = "0.1.0"

_HOMES = {
    "cheatsheet.context.compiler": ("CompiledContext", "compile_context"),
    "cheatsheet.context.section": ("ChatTurn", "Item", "Section"),
    "cheatsheet.engine.engine": ("Engine",),
    "cheatsheet.engine.lived": ("Answered",),
    "cheatsheet.engine.outside": ("Outside",),
    "cheatsheet.engine.results": ("Lesson", "Recall", "Turn"),
    "cheatsheet.errors": ("CheatsheetError",),
    "cheatsheet.interfaces.agents": ("BackgroundLearner", "CheatsheetLogger", "remembers"),
    "cheatsheet.llm.recorded": ("RecordedModel",),
    "cheatsheet.llm.scripted": ("ScriptedModel",),
    "cheatsheet.memory.bullet": ("Bullet",),
    "cheatsheet.memory.incoming.compress": ("compress",),
    "cheatsheet.memory.experience": ("Experience", "Feedback", "Query"),
    "cheatsheet.memory.incoming.hooks": ("Refusal", "expires", "mentions", "note_on", "refuse"),
    "cheatsheet.memory.incoming.kinds": ("draft_of", "register_kind", "update_of"),
    "cheatsheet.memory.operations": ("Add", "Draft", "Merge", "Operation", "Remove", "Restore", "Tag", "Update"),
    "cheatsheet.mode": ("MemoryMode",),
    "cheatsheet.settings": ("Settings", "load_settings"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Add",
    "Answered",
    "BackgroundLearner",
    "Bullet",
    "ChatTurn",
    "CheatsheetError",
    "CheatsheetLogger",
    "CompiledContext",
    "Draft",
    "Engine",
    "Experience",
    "Feedback",
    "Item",
    "Lesson",
    "MemoryMode",
    "Merge",
    "Operation",
    "Outside",
    "Query",
    "Recall",
    "RecordedModel",
    "Refusal",
    "Remove",
    "Restore",
    "ScriptedModel",
    "Section",
    "Settings",
    "Tag",
    "Turn",
    "Update",
    "compile_context",
    "compress",
    "draft_of",
    "expires",
    "load_settings",
    "mentions",
    "note_on",
    "open",
    "refuse",
    "register_kind",
    "remembers",
    "update_of",
]


def __getattr__(name: str) -> Any:
    if name == "open":
        value = import_module("cheatsheet.interfaces.wiring").open_memory
    elif name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
    else:
        raise AttributeError(f"module 'cheatsheet' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
