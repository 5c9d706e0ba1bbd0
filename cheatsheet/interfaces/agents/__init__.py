"""The doors for agents that run in Python: a decorator, LiteLLM's callbacks, and learning in the background."""

from __future__ import annotations

from cheatsheet.interfaces.agents.background import BackgroundLearner
from cheatsheet.interfaces.agents.decorator import remembers
from cheatsheet.interfaces.agents.litellm_logger import CheatsheetLogger

__all__ = ["BackgroundLearner", "CheatsheetLogger", "remembers"]
