"""llama.cpp in this process, through xllamacpp."""

from __future__ import annotations

import atexit
import os
import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cheatsheet.errors import SetupError
from cheatsheet.llm.model import Capabilities
from cheatsheet.tokens.gguf_file import read_header

LARGEST_DEFAULT_WINDOW: Final = 8192  # tokens; the key-value cache is allocated for all of them at once
_MICRO_BATCH: Final = 32  # tokens; see LlamaServer
# Below this many weights a model continues a text better than it chats; measured on SmolLM2-135M-Instruct, routing
# 72 tickets by 8 examples: 0.56 right as chat turns, 0.69 as a continuation.
_SMALL_MODEL: Final = 1_000_000_000


class LlamaServer:
    """One loaded model; calls wait for each other.

    The same request gives the same text, whatever was asked before. These settings are there for it:

    - One slot, greedy unless a request asks otherwise, seed 0.
    - Small micro-batches. With llama.cpp's default of 512, a prompt that is read whole is rounded in another way than
      the rest of one whose beginning is cached. Measured on SmolLM2-135M: log-probabilities moved by up to 0.14 and
      10 of 28 greedy answers changed with what was cached; with 32: equal to the last digit.

    Flash attention is off: on two cores, 69 new tokens behind 3,900 cached ones took 1.6 s without and 2.7 s with it.

    llama.cpp opens a port on 127.0.0.1 in any case; a random key keeps it shut.
    """

    def __init__(self, path: Path, *, n_ctx: int, threads: int) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = n_ctx
        params.n_parallel = 1
        params.n_ubatch = _MICRO_BATCH
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.sampling.seed = 0
        params.cache_ram_mib = 0  # the default keeps up to 8 GiB of other prompts
        params.verbosity = 0  # the log would go to stderr
        params.api_keys = [secrets.token_urlsafe(32)]
        params.ui = params.endpoint_slots = False
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise SetupError(f"llama.cpp cannot load {path}: {error}") from error
        self._lock = threading.Lock()

    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A chat completion; `body` and the result as in OpenAI's API, errors as `{"error": {code, message, type}}`."""
        with self._lock:
            result: dict[str, Any] = self._server.handle_chat_completions(dict(body))
        return result

    def complete(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A text completion; `body` and the result as in `chat`."""
        with self._lock:
            result: dict[str, Any] = self._server.handle_completions(dict(body))
        return result


_servers: dict[tuple[Path, int, int], LlamaServer] = {}
_servers_lock = threading.Lock()
atexit.register(_servers.clear)  # llama.cpp's threads end before the interpreter's own parts are taken down


def default_window(path: Path) -> int:
    """The model's own context length, or 8192 tokens if that is less."""
    return min(read_header(path).context_length or LARGEST_DEFAULT_WINDOW, LARGEST_DEFAULT_WINDOW)


def local_capabilities(path: Path, context_window: int | None = None) -> Capabilities:
    """From the file's header; nothing is loaded."""
    return Capabilities(
        context_window=context_window or default_window(path),
        continuation=True,
        prefers_continuation=read_header(path).parameters < _SMALL_MODEL,
        choices=True,
        json_schema=True,
    )


def _threads() -> int:
    """What OMP_NUM_THREADS allows, as for other libraries that compute; else the cores that this process may use."""
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    if allowed.isdecimal() and int(allowed) > 0:
        return int(allowed)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def server_for(path: Path, *, n_ctx: int | None = None, threads: int | None = None) -> LlamaServer:
    """The server of a model file, loaded on the first call and kept for the life of the process.

    Args:
        path: the GGUF file.
        n_ctx: context window in tokens; `default_window` when None.
        threads: by `OMP_NUM_THREADS`, or all cores that this process may use, when None; fewer are faster where others
            keep the cores busy.
    """
    key = (path, n_ctx or default_window(path), threads or _threads())
    with _servers_lock:
        if key not in _servers:
            _servers[key] = LlamaServer(path, n_ctx=key[1], threads=key[2])
        return _servers[key]
