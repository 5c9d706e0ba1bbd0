"""`mcp`: the memory as a server for agents."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated, Literal

import typer

from cheatsheet.errors import MissingExtraError
from cheatsheet.interfaces.cli import EXIT_STOPPED
from cheatsheet.interfaces.cli.options import with_settings
from cheatsheet.settings import Settings


@with_settings()
def serve(
    transport: Annotated[
        Literal["stdio", "http"],
        typer.Option(help="How clients reach it: they start it themselves (stdio), or connect to --host and --port."),
    ] = "stdio",
    host: Annotated[str, typer.Option(help="With --transport http: the address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --transport http; 0 takes a free one.")] = 8765,
    *,
    settings: Settings,
) -> None:
    """Serve the memory to agents over MCP."""
    from cheatsheet.interfaces.mcp.ending import Ending
    from cheatsheet.interfaces.mcp.wire import claim_stdio

    # Both before anything is imported that might print, or that wants to be called at the end.
    ending = Ending()
    wire = claim_stdio() if transport == "stdio" else None
    try:
        run = _imported()
        code = run.run_http(settings, host, port) if wire is None else run.run_stdio(settings, wire)
    except KeyboardInterrupt:
        code = EXIT_STOPPED
    ending.leave(code)


def _imported() -> ModuleType:
    """What runs the server.

    Raises:
        MissingExtraError: the SDK is not installed.
    """
    try:
        from cheatsheet.interfaces.mcp import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise MissingExtraError(
            "The MCP server needs the package mcp, which is not installed: install the extra `mcp` (in a clone: "
            "pip install '.[mcp]')."
        ) from error
    return run
