"""Which counter to use, by a model's name or by the counter's own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cheatsheet.errors import UnknownNameError
from cheatsheet.tokens.chars import CharCounter
from cheatsheet.tokens.counter import TokenCounter
from cheatsheet.tokens.gguf_counter import GGUFCounter
from cheatsheet.tokens.tiktoken_counter import ENCODING_NAMES, TiktokenCounter

COUNTER_NAMES: Final = ("auto", "chars", *ENCODING_NAMES)


def counter_for(model: str, *, gguf: Path | None = None) -> TokenCounter:
    """The counter that comes nearest to what the model counts.

    Args:
        model: as LiteLLM names it: `openai/gpt-4o-mini`, `anthropic/…`, `local/smollm2-135m`.
        gguf: the file of a local model.

    Returns:
        The model's own tokenizer for a local model whose file is given and for OpenAI's models; otherwise
        `cl100k_base`, which is an estimate for models of other families.
    """
    if gguf is not None and model.startswith("local/"):
        return GGUFCounter(gguf)
    return TiktokenCounter("o200k_base" if _has_o200k(model) else "cl100k_base")


def make_counter(name: str = "auto", *, model: str = "", gguf: Path | None = None) -> TokenCounter:
    """The counter of that name, one of `COUNTER_NAMES`; `auto` chooses by the model.

    Raises:
        UnknownNameError: no counter has that name.
    """
    if name == "auto":
        return counter_for(model, gguf=gguf)
    if name == "chars":
        return CharCounter()
    if name in ENCODING_NAMES:
        return TiktokenCounter(name)
    raise UnknownNameError("token counter", name, COUNTER_NAMES)


def _has_o200k(model: str) -> bool:
    """Whether tiktoken's own table, asked without the provider's prefix, gives the model an o200k encoding."""
    import tiktoken.model

    try:
        return tiktoken.model.encoding_name_for_model(model.rpartition("/")[2]).startswith("o200k")
    except KeyError:
        return False
