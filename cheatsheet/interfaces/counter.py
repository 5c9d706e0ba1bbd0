"""The token counter that settings name, made without the other parts of an engine, whose imports take a second."""

from __future__ import annotations

from cheatsheet.settings import Settings
from cheatsheet.tokens import TokenCounter, make_counter


def counts_by_model_file(settings: Settings) -> bool:
    """Whether the token counter reads the file of a local model."""
    return settings.counter == "auto" and (settings.model or "").startswith("local/")


def build_counter(settings: Settings) -> TokenCounter:
    """The token counter that the settings name; `auto` is that of the model."""
    name = settings.model or ""
    if counts_by_model_file(settings):
        from cheatsheet.llm.gguf_files import resolve_gguf

        return make_counter("auto", model=name, gguf=resolve_gguf(name))
    return make_counter(settings.counter, model=name)
