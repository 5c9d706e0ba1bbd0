"""Running the server from settings, and ending it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import partial
from typing import Any

import anyio
from mcp.server import MCPServer

from cheatsheet.context.providers.daily_log import append_log
from cheatsheet.interfaces.adaptive import zone_of
from cheatsheet.interfaces.cli import EXIT_FAILED, EXIT_STOPPED
from cheatsheet.interfaces.cli.output import print_embedding, print_note
from cheatsheet.interfaces.mcp.briefing import AdaptiveBriefing
from cheatsheet.interfaces.mcp.desk import AppendLog, Clock, ContextFor
from cheatsheet.interfaces.mcp.http import LOOPBACK, address, listen, serve_http
from cheatsheet.interfaces.mcp.opened import OpenedOnce
from cheatsheet.interfaces.mcp.server import make_server
from cheatsheet.interfaces.mcp.stdio import serve_stdio
from cheatsheet.interfaces.mcp.wire import Wire
from cheatsheet.settings import Settings


def run_stdio(settings: Settings, wire: Wire, *, context_for: ContextFor | None = None) -> int:
    """Serve the peer on standard input and output until it leaves; returns the exit code.

    Args:
        context_for: the context of `get_context`; by default all that an agent starts from.
    """
    log_to_stderr()
    engine = opened(settings)
    server = server_of(settings, engine, context_for)
    if os.isatty(wire.read_fd):
        print_note("This speaks MCP on standard input and output; an MCP client starts it. Ctrl-C ends it.")
    return finish(partial(serve_stdio, server, wire), engine)


def run_http(settings: Settings, host: str, port: int, *, context_for: ContextFor | None = None) -> int:
    """Serve all that connect until Ctrl-C; returns the exit code.

    Raises:
        SetupError: the address does not exist or is in use.
    """
    log_to_stderr()
    engine = opened(settings)
    server = server_of(settings, engine, context_for)
    with listen(host, port) as listening:
        print_note(f"MCP is served at {address(listening)} (Ctrl-C ends it)")
        if host not in LOOPBACK:
            print_note("note: whoever can reach this address can read and change the memory; there is no password.")
        return finish(partial(serve_http, server, listening, host), engine)


def server_of(settings: Settings, engine: OpenedOnce, context_for: ContextFor | None = None) -> MCPServer[Any]:
    """The server that the settings describe."""
    briefing = AdaptiveBriefing(settings)
    return make_server(engine, log_of(settings), context_for=context_for or briefing, after_turn=briefing.after_turn)


def log_to_stderr() -> None:
    """One line a warning; called before the SDK sets up its own, which draws boxes as wide as a terminal."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)


def opened(settings: Settings) -> OpenedOnce:
    """The engine that the settings describe, made when it is first needed: its imports take seconds."""

    def build() -> Any:
        from cheatsheet.interfaces.wiring import Given, build_engine

        return build_engine(settings, Given(progress=print_embedding))

    return OpenedOnce(build)


def log_of(settings: Settings, clock: Clock | None = None) -> AppendLog:
    """Appends to the log of the day in the home of the settings.

    Args:
        clock: gives the time in the user's zone.
    """
    zone = zone_of(settings, os.environ)
    now = clock or (lambda: datetime.now(zone))
    return lambda text: append_log(settings.home_folder, now(), text).name


def finish(serve: Callable[[], Coroutine[Any, Any, str]], engine: OpenedOnce) -> int:
    """Serve to the end, whatever ends it, and close the engine; returns the exit code.

    Args:
        serve: returns why the connection was closed on our side, or an empty string.
    """
    try:
        why_closed = anyio.run(_awake, serve)
    except KeyboardInterrupt:
        # Whoever presses it again does not want to wait for what is being stored.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return EXIT_STOPPED
    finally:
        engine.close()
    if not why_closed:
        return 0
    print_note(f"Error: {why_closed}")
    return EXIT_FAILED


async def _awake(serve: Callable[[], Coroutine[Any, Any, str]]) -> str:
    """Serve in a loop that every signal wakes.

    The system may hand Ctrl-C to any thread. Python notes it there, and its handler runs in the main thread once that
    wakes, which a loop that waits for a long call does not do by itself.
    """
    if sys.platform == "win32":  # its loop does this already
        return await serve()
    loop = asyncio.get_running_loop()
    heard, told = socket.socketpair()
    with heard, told:
        heard.setblocking(False)
        told.setblocking(False)
        loop.add_reader(heard, heard.recv, 1024)
        before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        try:
            return await serve()
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(heard)
