"""A server in this process, over a memory in RAM."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp.types import CallToolResult, TextContent

from cheatsheet.engine.engine import Engine
from cheatsheet.interfaces.mcp.desk import Briefing
from cheatsheet.interfaces.mcp.opened import OpenedOnce
from cheatsheet.interfaces.mcp.server import make_server
from cheatsheet.interfaces.wiring import open_memory


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class House:
    """A server with what stands behind it.

    Attributes:
        logged: entries that were written into the log.
        gate: while it is closed, `get_context` waits.
        waiting: set when `get_context` waits.
    """

    def __init__(self, **settings: Any) -> None:
        self.logged: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.waiting = threading.Event()
        self.engine = OpenedOnce(lambda: open_memory(":memory:", embedder="hashing", **settings))
        numbers = itertools.count(1)
        self.server: MCPServer[Any] = make_server(
            self.engine,
            self._log,
            context_for=self._context,
            new_id=lambda: f"t-{next(numbers)}",
            turns_kept=8,
        )

    @property
    def memory(self) -> Engine:
        """The engine itself."""
        return self.engine.get()

    def client(self, mode: str = "auto") -> Client:
        """A client in this process."""
        return Client(self.server, mode=mode)

    def _log(self, text: str) -> str:
        self.logged.append(text)
        return "2026-01-05.md"

    def _context(self, engine: Engine, query: str, minimal: bool) -> Briefing:
        self.waiting.set()
        assert self.gate.wait(60)
        recall = engine.recall(query)
        return Briefing(text=f"{'minimal' if minimal else 'full'}: {recall.text}", recall=recall, notes=("a note",))


@pytest.fixture
def house() -> Iterator[House]:
    built = House()
    yield built
    built.engine.close()


@pytest.fixture
def make_house() -> Iterator[Callable[..., House]]:
    built: list[House] = []

    def make(**settings: Any) -> House:
        built.append(House(**settings))
        return built[-1]

    yield make
    for each in built:
        each.engine.close()


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    (part,) = result.content
    assert isinstance(part, TextContent)
    return part.text


async def ok(client: Client, name: str, /, **arguments: Any) -> Any:
    """The structured result of a call that succeeds, or its text."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result) if result.structured_content is None else result.structured_content


async def refused(client: Client, name: str, /, **arguments: Any) -> str:
    """What a call that fails says."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, text_of(result)
    return text_of(result)
