"""Servers in a process of their own: `python -m tests.interfaces.mcp.servers NAME`.

`plain` is the command as it is installed. `double` is the same with an embedder that prints wherever it can while it is
loaded (as download bars, warnings and banners of libraries do), and with a `get_context` that takes until `log` is
called.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from indexes.embedder import TextKind
    from indexes.vectors import Matrix

HEAVY = ("torch", "sentence_transformers", "litellm", "faiss", "cheatsheet.engine.engine")

# What `get_context` waits for does not come when calls wait for each other; then the test ends all the same.
PATIENCE_S = 600


def noisy_embedder(name: str, **options: Any) -> Any:
    """An embedder that prints when it is first used."""
    from indexes.hashing import HashingEmbedder

    class Noisy(HashingEmbedder):
        def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
            make_noise()
            return super().embed(texts, kind)

    return Noisy()


def make_noise() -> None:
    """Write to standard output in every way that libraries do."""
    print("a banner on standard output")
    sys.stdout.write("\rLoading weights:  42%|####      | 3/7")
    if sys.__stdout__ is not None:
        sys.__stdout__.write("straight to the first stream\n")
        sys.__stdout__.flush()
    os.write(1, b"from C, without Python's streams\n")
    subprocess.run([sys.executable, "-S", "-c", "print('from a child')"], check=True)
    warnings.warn("this will be deprecated", FutureWarning, stacklevel=1)


def plain() -> None:
    """The command itself."""
    from cheatsheet.interfaces.cli.mcp import serve

    app = typer.Typer(add_completion=False)
    app.command()(serve)
    app(args=[], prog_name="cheatsheet mcp")


def double() -> None:
    """The server with doubles, run as the command runs it."""
    from cheatsheet.interfaces.mcp.ending import Ending
    from cheatsheet.interfaces.mcp.wire import claim_stdio

    ending = Ending()
    wire = claim_stdio()
    make_noise()

    from cheatsheet.interfaces.mcp import run
    from cheatsheet.interfaces.mcp.desk import Briefing
    from cheatsheet.interfaces.mcp.opened import OpenedOnce
    from cheatsheet.interfaces.mcp.server import make_server
    from cheatsheet.interfaces.mcp.stdio import serve_stdio
    from cheatsheet.settings import load_settings

    run.log_to_stderr()
    logged = threading.Event()
    settings = load_settings(path=":memory:")

    def open_noisily() -> Any:
        from cheatsheet.interfaces import embedders

        print("loaded before the first call:", sorted(set(HEAVY) & set(sys.modules)))
        embedders.build_embedder = noisy_embedder
        return run.opened(settings).get()

    def wait_for_log(engine: Any, query: str, minimal: bool) -> Briefing:
        return Briefing(text="the log came" if logged.wait(PATIENCE_S) else "the log never came")

    def append(text: str) -> str:
        logged.set()
        return "today.md"

    engine = OpenedOnce(open_noisily)
    server = make_server(engine, append, context_for=wait_for_log)
    ending.leave(run.finish(partial(serve_stdio, server, wire), engine))


if __name__ == "__main__":
    {"plain": plain, "double": double}[sys.argv[1]]()
