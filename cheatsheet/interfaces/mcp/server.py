"""The MCP server: tools, resources and prompts over an engine that is opened when it is first needed."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

from mcp.server import MCPServer

from cheatsheet import __version__
from cheatsheet.interfaces.mcp.desk import AfterTurn, AppendLog, ContextFor, Desk, brief_from_memory, nothing_after
from cheatsheet.interfaces.mcp.opened import OpenedOnce
from cheatsheet.interfaces.mcp.prompts import INSTRUCTIONS, add_prompts
from cheatsheet.interfaces.mcp.resources import add_resources
from cheatsheet.interfaces.mcp.tools import make_tools
from cheatsheet.interfaces.mcp.turns import NewId, TurnBook

# How many turns wait for their answer or their verdict; each holds the context that was recalled for it.
TURNS_KEPT: Final = 256


def make_server(
    engine: OpenedOnce,
    append_log: AppendLog,
    *,
    context_for: ContextFor = brief_from_memory,
    after_turn: AfterTurn = nothing_after,
    new_id: NewId | None = None,
    turns_kept: int = TURNS_KEPT,
) -> MCPServer[Any]:
    """A server for any number of peers, over any transport. The caller closes the engine.

    Args:
        append_log: adds an entry to today's log and returns the log's name.
        context_for: makes the context that `get_context` returns.
        after_turn: told of every turn that is learnt.
        new_id: gives ids for turns; by default they are random, since a client may keep one over a restart.
        turns_kept: so many turns can still be learnt from by their id; the least recently used is forgotten first.
    """
    turns = TurnBook(turns_kept, new_id or _random_id)
    desk = Desk(engine=engine, context_for=context_for, append_log=append_log, turns=turns, after_turn=after_turn)
    server: MCPServer[Any] = MCPServer(
        "cheatsheet",
        title="Cheatsheet",
        description="A memory for agents: recall before answering, learn after.",
        instructions=INSTRUCTIONS,
        version=__version__,
        tools=list(make_tools(desk)),
        log_level="WARNING",
    )
    add_resources(server, desk)
    add_prompts(server)
    return server


def _random_id() -> str:
    return f"t-{uuid4().hex[:12]}"
